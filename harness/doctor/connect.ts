/** Resolves the endpoint's name and connects to each of its addresses. */

import { lookup } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as after } from 'node:timers/promises';
import { scopeOf } from '../transport/index.ts';
import type { FactsOf } from './doctor-document.ts';

/** The limits of every probe of the endpoint. */
export interface Limits {
  /** Milliseconds for one connection and everything done on it. */
  readonly timeoutMs: number;
  /** Aborts all probes. */
  readonly signal: AbortSignal;
}

type Address = FactsOf<'dns'>['addresses'][number];

/**
 * Resolves every address of a name with the system's resolver, as a sender does, including /etc/hosts. Never rejects.
 *
 * @param host a name or an address, without brackets
 */
export async function resolveHost(host: string, { timeoutMs, signal }: Limits): Promise<FactsOf<'dns'>> {
  const start = performance.now();
  const literal = isIP(host) !== 0;
  const settled = new AbortController();
  const ended = AbortSignal.any([settled.signal, signal]);
  const facts = (rest: Pick<FactsOf<'dns'>, 'addresses' | 'error'>) => ({
    host,
    literal,
    ms: performance.now() - start,
    ...rest,
  });
  try {
    // The system's resolver cannot be cancelled, so its answer is ignored after the time limit.
    const found = await Promise.race([
      lookup(host, { all: true, order: 'verbatim' }),
      after(timeoutMs, null, { signal: ended }),
    ]);
    if (found === null) {
      return facts({ addresses: [], error: { code: 'TIMEOUT', message: 'no answer within the time limit' } });
    }
    const addresses = found.map(({ address, family }) => ({
      address,
      family: family === 6 ? (6 as const) : (4 as const),
      scope: addressScope(address),
    }));
    return facts({ addresses, error: null });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN';
    return facts({ addresses: [], error: { code, message: 'the name does not resolve' } });
  } finally {
    settled.abort();
  }
}

/**
 * Returns the scope in which an address is reachable. Addresses of cloud metadata services are link-local or special.
 */
export function addressScope(address: string): Address['scope'] {
  const scope = scopeOf(address);
  if (scope !== 'metadata') return scope;
  return address.includes('169.254.') ? 'link-local' : 'special';
}

type Attempted = FactsOf<'connection'>['addresses'][number];

/** Maximum number of addresses to try; a name can have any number. */
const MAX_ADDRESSES = 16;

const UNREACHABLE: ReadonlySet<string> = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EINVAL',
]);

/** Connects to every address at the same time, and sends nothing. */
export async function connectAddresses(
  port: number,
  addresses: readonly Address[],
  limits: Limits,
): Promise<FactsOf<'connection'>> {
  const attempted = addresses.slice(0, MAX_ADDRESSES);
  return {
    port,
    addresses: await Promise.all(attempted.map((address) => connectAddress(address, port, limits))),
    notTried: addresses.length - attempted.length,
  };
}

function connectAddress({ address, family }: Address, port: number, { timeoutMs, signal }: Limits): Promise<Attempted> {
  const start = performance.now();
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, family });
    const end = (outcome: Attempted['outcome'], code: string | null) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve({ address, family, outcome, ms: performance.now() - start, code });
    };
    const onAbort = () => end('failed', 'ABORTED');
    const timer = setTimeout(() => end('timeout', 'TIMEOUT'), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.on('connect', () => end('connected', null));
    socket.on('error', (error: NodeJS.ErrnoException) => end(connectOutcomeOf(error.code), error.code ?? 'UNKNOWN'));
    if (signal.aborted) onAbort();
  });
}

function connectOutcomeOf(code: string | undefined): Attempted['outcome'] {
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'ETIMEDOUT') return 'timeout';
  return UNREACHABLE.has(code ?? '') ? 'unreachable' : 'failed';
}
