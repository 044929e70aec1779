/** What a probe's body has otherwise than that of the plain delivery beside it. Pure. */

/** A stretch of the probe's body that is not the control's; `start` equals `end` where something is only missing. */
export interface ChangedBytes {
  readonly start: number;
  readonly end: number;
  /** What the control has in its place. */
  readonly removed: Uint8Array;
}

/** Words, white space, and every other byte for itself. A character of several bytes is never split. */
const TOKEN = /[A-Za-z0-9_\x80-\xff]+|[ \t\r\n]+|[\s\S]/g;

/** Beyond this many comparisons the middle is taken as changed as a whole. */
const MOST_CELLS = 250_000;

/** With more than this part of the body changed, it is another notification, and marks would only be noise. */
const ANOTHER = 0.7;

/** Seconds by which the clock of two deliveries may differ. */
const SAME_TIME = 3600;

const tokensOf = (bytes: Uint8Array): string[] => Buffer.from(bytes).toString('latin1').match(TOKEN) ?? [];

const isWord = (token: string): boolean => /^[A-Za-z0-9_]/.test(token);

/** Ids and addresses are fresh in every delivery: the words in which two plain deliveries differ say nothing about the probe. */
function freshIn(control: readonly string[], other: readonly string[]): ReadonlySet<number> {
  if (control.length !== other.length) return new Set();
  return new Set(control.flatMap((token, at) => (token !== other[at] && isWord(token) ? [at] : [])));
}

function isClock(one: string, other: string): boolean {
  return /^\d{10}$/.test(one) && /^\d{10}$/.test(other) && Math.abs(Number(one) - Number(other)) <= SAME_TIME;
}

type Same = (inControl: number, inProbe: number) => boolean;

/** Whether each token of the probe, from `head` on, is one of the control's: the longest common subsequence. */
function matched(same: Same, head: number, controlEnd: number, probeEnd: number): [control: number, probe: number][] {
  const rows = controlEnd - head;
  const columns = probeEnd - head;
  const width = columns + 1;
  if (rows * columns > MOST_CELLS) return [];
  const lengths = new Uint16Array((rows + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      lengths[row * width + column] = same(head + row, head + column)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (same(head + row, head + column)) pairs.push([head + row++, head + column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
  return pairs;
}

/** Pairs of tokens that are the same in both, in order, with the ends as the last pair. */
function pairsOf(control: readonly string[], probe: readonly string[], fresh: ReadonlySet<number>) {
  const same: Same = (inControl, inProbe) => {
    const one = control[inControl] ?? '';
    const other = probe[inProbe] ?? '';
    return (
      one === other || isClock(one, other) || (fresh.has(inControl) && one.length === other.length && isWord(other))
    );
  };
  let head = 0;
  while (head < control.length && head < probe.length && same(head, head)) head++;
  let tail = 0;
  const shorter = Math.min(control.length, probe.length) - head;
  while (tail < shorter && same(control.length - 1 - tail, probe.length - 1 - tail)) tail++;
  const middle = matched(same, head, control.length - tail, probe.length - tail);
  const ends = (count: number, controlAt: number, probeAt: number): [number, number][] =>
    Array.from({ length: count }, (_, index) => [controlAt + index, probeAt + index]);
  return [
    ...ends(head, 0, 0),
    ...middle,
    ...ends(tail, control.length - tail, probe.length - tail),
    [control.length, probe.length] as [number, number],
  ];
}

/**
 * The stretches of `probe` that differ from `control`, in order. `other` is a second plain delivery, which shows what is fresh in each
 * (ids, addresses); null when there is none. Gives null when so much differs that it is another notification.
 */
export function changedBytes(probe: Uint8Array, control: Uint8Array, other: Uint8Array | null): ChangedBytes[] | null {
  const inControl = tokensOf(control);
  const inProbe = tokensOf(probe);
  const fresh = freshIn(inControl, other === null ? inControl : tokensOf(other));
  const changes: ChangedBytes[] = [];
  let [controlAt, probeAt, offset] = [0, 0, 0];
  for (const [nextControl, nextProbe] of pairsOf(inControl, inProbe, fresh)) {
    const removed = inControl.slice(controlAt, nextControl).join('');
    const start = offset;
    for (; probeAt < nextProbe; probeAt++) offset += inProbe[probeAt]?.length ?? 0;
    if (removed !== '' || offset > start) changes.push({ start, end: offset, removed: Buffer.from(removed, 'latin1') });
    offset += inProbe[probeAt]?.length ?? 0;
    probeAt = nextProbe + 1;
    controlAt = nextControl + 1;
  }
  const touched = changes.reduce((sum, { start, end, removed }) => sum + Math.max(end - start, removed.length), 0);
  const longer = Math.max(probe.length, control.length);
  return longer > 64 && touched > longer * ANOTHER && probe.length > 0 ? null : changes;
}
