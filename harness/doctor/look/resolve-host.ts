/** Every address of a name, by the way that a sender takes: the system's resolver, which knows /etc/hosts too. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as after } from 'node:timers/promises';
import type { FactsOf } from '../doctor-document.ts';
import { scopeOf } from './address-scope.ts';
import type { Limits } from './limits.ts';

/** @param host a name or an address, without brackets; @returns always something */
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
    // The system's resolver cannot be told to stop; nobody waits for it any more then.
    const found = await Promise.race([
      lookup(host, { all: true, order: 'verbatim' }),
      after(timeoutMs, null, { signal: ended }),
    ]);
    if (found === null) {
      const message = 'no answer within the time limit';
      return facts({ addresses: [], error: { code: 'TIMEOUT', message } });
    }
    const addresses = found.map(({ address, family }) => ({
      address,
      family: family === 6 ? (6 as const) : (4 as const),
      scope: scopeOf(address),
    }));
    return facts({ addresses, error: null });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN';
    return facts({ addresses: [], error: { code, message: 'the name does not resolve' } });
  } finally {
    settled.abort();
  }
}
