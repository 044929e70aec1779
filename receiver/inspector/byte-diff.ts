/**
 * Compares two bodies byte by byte in linear time. No library is used, because this runs in the process that answers
 * deliveries, and computing the shortest difference takes seconds when thousands of bytes differ.
 */

/**
 * A run of bytes that occurs in both bodies, only in the received one, or only in the signed one, with its length in
 * bytes.
 */
export type DiffRun = readonly [side: 'both' | 'received' | 'signed', length: number];

/**
 * Matches whitespace, words (with every non-ASCII byte, so that no character is split) and single characters. Each
 * character of the text stands for one byte.
 */
const PIECES = /[ \t\r\n]+|[\w.\x80-\xff-]+|[\s\S]/g;
/** Maximum number of pieces to look ahead for a position at which both bodies agree again. */
const REACH = 24;
/** Number of consecutive pieces that must agree at such a position, ignoring whitespace. */
const AGREEMENT = 3;
/** Maximum number of differences. After these, the rest of the bodies is one difference. */
const MAX_DIFFERENCES = 4000;

/**
 * Returns the runs that describe the difference between two bodies. The result is close to the shortest difference:
 * each difference ends at the nearest position at which both bodies agree again.
 */
export function diffBytes(received: Buffer, signed: Buffer): DiffRun[] {
  const a = received.toString('latin1').match(PIECES) ?? [];
  const b = signed.toString('latin1').match(PIECES) ?? [];
  const runs: [DiffRun[0], number][] = [];
  const add = (side: DiffRun[0], length: number) => {
    const last = runs.at(-1);
    if (length === 0) return;
    if (last?.[0] === side) last[1] += length;
    else runs.push([side, length]);
  };
  let x = 0;
  let y = 0;
  let differences = 0;
  while (x < a.length || y < b.length) {
    if (a[x] === b[y]) {
      add('both', a[x]?.length ?? 0);
      x += 1;
      y += 1;
      continue;
    }
    differences += 1;
    const [skipA, skipB] = differences > MAX_DIFFERENCES ? [a.length - x, b.length - y] : nearest(a, x, b, y);
    addDifference(a.slice(x, x + skipA).join(''), b.slice(y, y + skipB).join(''), add);
    x += skipA;
    y += skipB;
  }
  return runs;
}

function nearest(a: readonly string[], x: number, b: readonly string[], y: number): [number, number] {
  for (let sum = 1; sum <= 2 * REACH; sum++) {
    for (let skipA = Math.max(0, sum - REACH); skipA <= Math.min(sum, REACH); skipA++) {
      if (agree(a, x + skipA, b, y + sum - skipA)) return [skipA, sum - skipA];
    }
  }
  return [Math.min(1, a.length - x), Math.min(1, b.length - y)];
}

function agree(a: readonly string[], x: number, b: readonly string[], y: number): boolean {
  if (x > a.length || y > b.length) return false;
  if (a[x] !== b[y] || isBlank(a[x])) return a[x] === undefined && b[y] === undefined;
  let [i, j] = [x, y];
  for (let count = 1; count < AGREEMENT; count++) {
    i = nextWord(a, i);
    j = nextWord(b, j);
    // At the ends of both bodies, both pieces are undefined, which counts as agreement.
    if (a[i] !== b[j]) return false;
    if (a[i] === undefined) return true;
  }
  return true;
}

/** Returns true for whitespace, which often differs. */
function isBlank(piece: string | undefined): boolean {
  return piece !== undefined && /^[ \t\r\n]/.test(piece);
}

function nextWord(pieces: readonly string[], at: number): number {
  return isBlank(pieces[at + 1]) ? at + 2 : at + 1;
}

/**
 * Adds a difference without its common beginning and end. These consist of ASCII only, so that no other character is
 * split.
 */
function addDifference(a: string, b: string, add: (side: DiffRun[0], length: number) => void): void {
  const same = (i: number, j: number) => a[i] === b[j] && a.charCodeAt(i) < 0x80;
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && same(start, start)) start += 1;
  let end = 0;
  while (end < most - start && same(a.length - 1 - end, b.length - 1 - end)) end += 1;
  add('both', start);
  add('received', a.length - start - end);
  add('signed', b.length - start - end);
  add('both', end);
}
