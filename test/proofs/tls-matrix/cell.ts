/** One cell of the matrix: a server, and what a run against it has to say. */
import { type Partner, type ResultDocument, type RunLimits, run } from '../../../harness/index.ts';
import type { RunOptions } from '../../../harness/run/index.ts';
import { type Difference, differences, EVERYTHING, EVERYTHING_MUTUAL, type Expected } from './expected.ts';
import { API_KEY, SECRET, type Spoken } from './material.ts';

/** What a run needs to know of an endpoint that is up. */
export interface Open {
  readonly url: string;
  readonly tls: NonNullable<Partner['tls']>;
  readonly clientFixtures?: RunOptions['clientFixtures'];
  close(): Promise<void>;
}

export interface Cell {
  /** What is put to the test, on which server, and over which versions of TLS: they name the cell. */
  readonly row: string;
  readonly server: string;
  readonly spoken: Spoken;
  /** A program that the cell cannot do without. */
  readonly program?: 'nginx' | 'openssl';
  /** Left to the document, because it takes long or shows little that another cell does not. */
  readonly documentOnly?: boolean;
  readonly suites: readonly ('tls' | 'mtls')[];
  /** Only these scenarios, where each takes long. */
  readonly scenarios?: readonly string[];
  readonly limits?: Partial<RunLimits>;
  readonly expected: Expected | { readonly cannotServe: string };
  open(): Promise<Open>;
}

interface Measured {
  readonly cell: Cell;
  /** Null when the server cannot serve it, and says so as it should. */
  readonly document: ResultDocument | null;
  readonly differences: readonly Difference[];
}

/** Patient, because the cells share two cores. Where silence is waited for, a cell has limits of its own. */
const LIMITS: Partial<RunLimits> = { timeoutMs: 10_000, recoveryMs: 500, concurrency: 4 };

const IN_SUITE = { tls: EVERYTHING, mtls: EVERYTHING_MUTUAL } as const;

export function nameOf({ row, server, spoken }: Cell): string {
  return `${row} / ${server}${spoken === 'both' ? '' : `, ${spoken}`}`;
}

export function isCannotServe(expected: Cell['expected']): expected is { readonly cannotServe: string } {
  return 'cannotServe' in expected;
}

/** Opens the server, runs the suites against it, closes it, and compares. */
export async function measure(cell: Cell): Promise<Measured> {
  const { expected } = cell;
  let open: Open;
  try {
    open = await cell.open();
  } catch (error) {
    if (!isCannotServe(expected)) throw error;
    const said = reasonsOf(error).join(' ');
    if (said.includes(expected.cannotServe)) return { cell, document: null, differences: [] };
    throw new Error(`the server does not say "${expected.cannotServe}" but "${said}"`, { cause: error });
  }
  try {
    if (isCannotServe(expected)) throw new Error(`the server serves it, and "${expected.cannotServe}" was due`);
    const document = await run({
      partner: { url: open.url, signing: { secret: SECRET }, apiKey: { value: API_KEY }, tls: open.tls },
      clientFixtures: open.clientFixtures ?? {},
      selection: { suites: cell.suites, scenarios: cell.scenarios ?? [] },
      limits: { ...LIMITS, ...cell.limits },
    });
    const asked = cell.scenarios ?? cell.suites.flatMap((suite) => IN_SUITE[suite]);
    return { cell, document, differences: differences(expected, document, asked) };
  } finally {
    await open.close();
  }
}

/** The messages of an error and of its causes. */
function reasonsOf(error: unknown): string[] {
  return error instanceof Error ? [error.message, ...reasonsOf(error.cause)] : [];
}

/** The share of a table that the tests play: as few cells as stand for all the others. */

/** What is due of a server, which server it is, and what it speaks. */
export function kindsIn({ expected, server, spoken, program }: Cell): string[] {
  const due = isCannotServe(expected)
    ? ['cannot serve']
    : Object.entries(expected).map(([id, word]) => `${word} ${id}`);
  return [...due, `server ${server}`, `spoken ${spoken}`, `program ${program ?? 'none'}`];
}

/**
 * Every verdict of every scenario, every server and every choice of versions is due in one of these. `npm run proofs --
 * tls-matrix` plays the rest. What takes long is never among them.
 */
export function shareOf(cells: readonly Cell[]): readonly Cell[] {
  const quick = cells.filter(({ documentOnly }) => documentOnly !== true);
  const times = new Map<string, number>();
  for (const kind of quick.flatMap(kindsIn)) times.set(kind, (times.get(kind) ?? 0) + 1);
  // One that brings nothing that another one of those that are left does not bring is not needed.
  return quick.filter((cell) => {
    const kinds = kindsIn(cell);
    if (kinds.some((kind) => times.get(kind) === 1)) return true;
    for (const kind of kinds) times.set(kind, (times.get(kind) ?? 0) - 1);
    return false;
  });
}
