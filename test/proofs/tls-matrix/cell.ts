/** A cell of the matrix: a server, and the expected outcome of a run against it. */
import { type Partner, type ResultDocument, type RunLimits, run } from '../../../harness/index.ts';
import type { RunOptions } from '../../../harness/run/index.ts';
import { ALL_MTLS, ALL_TLS, type Difference, differences, type Expected } from './expected.ts';
import { API_KEY, SECRET, type TlsVersions } from './material.ts';

/** A running server, and what a run needs to reach it. */
export interface OpenServer {
  readonly url: string;
  readonly tls: NonNullable<Partner['tls']>;
  readonly clientFixtures?: RunOptions['clientFixtures'];
  close(): Promise<void>;
}

export interface Cell {
  /** What is tested, on which server, and over which TLS versions. Together, they identify the cell. */
  readonly row: string;
  readonly server: string;
  readonly tlsVersions: TlsVersions;
  /** The program that the cell needs. */
  readonly program?: 'nginx' | 'openssl';
  readonly suites: readonly ('tls' | 'mtls')[];
  /** Only these scenarios are run. Default: the whole suites. */
  readonly scenarios?: readonly string[];
  readonly limits?: Partial<RunLimits>;
  readonly expected: Expected | { readonly cannotServe: string };
  open(): Promise<OpenServer>;
}

interface Measured {
  readonly cell: Cell;
  /** The result document. Null if the server rejects the configuration with the expected error. */
  readonly document: ResultDocument | null;
  readonly differences: readonly Difference[];
}

/**
 * The limits of a run. They are generous, because the cells share two cores. A cell that waits for silence has its own
 * limits.
 */
const LIMITS: Partial<RunLimits> = { timeoutMs: 10_000, recoveryMs: 500, concurrency: 4 };

const IN_SUITE = { tls: ALL_TLS, mtls: ALL_MTLS } as const;

export function nameOf({ row, server, tlsVersions }: Cell): string {
  return `${row} / ${server}${tlsVersions === 'both' ? '' : `, ${tlsVersions}`}`;
}

export function isCannotServe(expected: Cell['expected']): expected is { readonly cannotServe: string } {
  return 'cannotServe' in expected;
}

/** Opens the server, runs the suites against it, closes it, and compares the outcomes. */
export async function measure(cell: Cell): Promise<Measured> {
  const { expected } = cell;
  let open: OpenServer;
  try {
    open = await cell.open();
  } catch (error) {
    if (!isCannotServe(expected)) throw error;
    const reported = reasonsOf(error).join(' ');
    if (reported.includes(expected.cannotServe)) return { cell, document: null, differences: [] };
    throw new Error(`the server answered "${reported}", expected "${expected.cannotServe}"`, { cause: error });
  }
  try {
    if (isCannotServe(expected)) throw new Error(`the server started, expected "${expected.cannotServe}"`);
    const document = await run({
      partner: { url: open.url, signing: { secret: SECRET }, apiKey: { value: API_KEY }, tls: open.tls },
      clientFixtures: open.clientFixtures ?? {},
      selection: {
        ...(cell.suites.length > 0 && { suites: cell.suites }),
        ...(cell.scenarios !== undefined && { scenarios: cell.scenarios }),
      },
      limits: { ...LIMITS, ...cell.limits },
    });
    const planned = cell.scenarios ?? cell.suites.flatMap((suite) => IN_SUITE[suite]);
    return { cell, document, differences: differences(expected, document, planned) };
  } finally {
    await open.close();
  }
}

/** Returns the messages of an error and of its causes. */
function reasonsOf(error: unknown): string[] {
  return error instanceof Error ? [error.message, ...reasonsOf(error.cause)] : [];
}
