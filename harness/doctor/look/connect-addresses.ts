/** Connects to every address of the endpoint, side by side, and says nothing on the connections. */
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { FactsOf } from '../doctor-document.ts';
import type { Limits } from './limits.ts';

type Tried = FactsOf<'connection'>['addresses'][number];

/** A name can have any number of addresses. */
const MOST_ADDRESSES = 16;

const UNREACHABLE: ReadonlySet<string> = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EINVAL',
]);

export async function connectAddresses(
  port: number,
  { addresses }: FactsOf<'dns'>,
  limits: Limits,
): Promise<FactsOf<'connection'>> {
  const tried = addresses.slice(0, MOST_ADDRESSES);
  return {
    port,
    addresses: await Promise.all(tried.map(({ address, family }) => tryAddress({ address, family }, port, limits))),
    notTried: addresses.length - tried.length,
  };
}

function tryAddress(
  { address, family }: Pick<Tried, 'address' | 'family'>,
  port: number,
  { timeoutMs, signal }: Limits,
): Promise<Tried> {
  const start = performance.now();
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, family });
    const end = (outcome: Tried['outcome'], code: string | null) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve({ address, family, outcome, ms: performance.now() - start, code });
    };
    const onAbort = () => end('failed', 'ABORTED');
    const timer = setTimeout(() => end('timeout', 'TIMEOUT'), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.on('connect', () => end('connected', null));
    socket.on('error', (error: NodeJS.ErrnoException) => end(outcomeOf(error.code), error.code ?? 'UNKNOWN'));
    if (signal.aborted) onAbort();
  });
}

function outcomeOf(code: string | undefined): Tried['outcome'] {
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'ETIMEDOUT') return 'timeout';
  return UNREACHABLE.has(code ?? '') ? 'unreachable' : 'failed';
}
