/** Resolves the host of an endpoint once, checks the address, and pins it: later DNS changes have no effect. */
import { lookup } from 'node:dns/promises';
import { connect, isIP, type LookupFunction } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { type AddressPolicy, addressInWords, adviceFor, isAllowed, LOCAL_TOO } from './address-policy.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Returns every address of a name; rejects like `dns.lookup`. */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

export interface PinOptions {
  /** Which addresses are allowed. Default: {@link LOCAL_TOO}. */
  readonly policy?: AddressPolicy;
  /** Replaces the system's resolver. */
  readonly resolve?: Resolve | undefined;
  /** Time limit for the resolver, and again for the choice between several addresses, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether to try connections to several addresses. Default: true; false pins the first one. */
  readonly chooses?: boolean;
}

export interface Pin {
  /** The host of the URL, without brackets. */
  readonly host: string;
  /** The pinned address; null if the name does not resolve. */
  readonly address: string | null;
  /** All allowed addresses of the name. */
  readonly allowed: readonly string[];
  /** The refused addresses of the name; no connection is made to them. */
  readonly refused: readonly string[];
  /** The resolver's error if there is no address. */
  readonly error: Error | null;
  /**
   * For `net.connect`, `tls.connect` and agents: returns the pinned address without a query, and fails for other hosts.
   */
  readonly lookup: LookupFunction;
}

/**
 * Time limit for connecting to each of several addresses except the last, in milliseconds. The sender uses the same.
 */
const ADDRESS_TIMEOUT_MS = 1_000;

const systemResolver: Resolve = (host) => lookup(host, { all: true, verbatim: true });

/**
 * Resolves the host of a URL and pins one allowed address: of several, the first that accepts a connection (nothing is
 * sent on it). Connections made with the pin's `lookup` go there, with the name in the URL for SNI, certificate and
 * `Host`. A name that does not resolve is pinned to its failure.
 *
 * @throws HookproofError ENDPOINT_ADDRESS_REFUSED, of kind `usage`, if no address of the host is allowed
 */
export async function pinEndpoint(url: string, options: PinOptions): Promise<Pin> {
  const { policy = LOCAL_TOO, signal, chooses = true } = options;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const { found, error } = await addressesOf(host, options);
  const allowed = found.filter(({ address }) => isAllowed(address, host, policy));
  const refused = found.filter((one) => !allowed.includes(one)).map(({ address }) => address);
  if (refused.length > 0 && allowed.length === 0) throw refusal(host, refused, policy);
  const [first, ...more] = allowed;
  const chosen =
    more.length === 0 || !chooses || signal?.aborted === true
      ? first
      : await firstThatAnswers(url, host, allowed, options);
  return {
    host,
    address: chosen?.address ?? null,
    allowed: allowed.map(({ address }) => address),
    refused,
    error,
    lookup: pinned(host, chosen, error),
  };
}

async function addressesOf(
  host: string,
  { resolve = systemResolver, timeoutMs, signal }: PinOptions,
): Promise<{ readonly found: readonly ResolvedAddress[]; readonly error: Error | null }> {
  const family = isIP(host);
  if (family !== 0) return { found: [{ address: host, family }], error: null };
  const settled = new AbortController();
  try {
    // The system's resolver cannot be cancelled, only ignored.
    const late = after(timeoutMs, null, {
      signal: signal ? AbortSignal.any([settled.signal, signal]) : settled.signal,
    });
    const found = await Promise.race([resolve(host), late]);
    if (found === null) return { found: [], error: failure('ETIMEDOUT', host) };
    return found.length === 0 ? { found, error: failure('ENOTFOUND', host) } : { found, error: null };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return { found: [], error: failure(typeof code === 'string' ? code : 'ENOTFOUND', host) };
  } finally {
    settled.abort();
  }
}

/** Creates an error with the fields from which the sender classifies it. */
function failure(code: string, hostname: string): Error {
  return Object.assign(new Error(`${hostname} does not resolve (${code})`), { code, hostname });
}

function refusal(host: string, refused: readonly string[], policy: AddressPolicy): HookproofError {
  const shown = refused.slice(0, 3).map(addressInWords).join('; ');
  const message =
    isIP(host) === 0 ? `will not connect to ${host}: it resolves to ${shown}` : `will not connect to ${shown}`;
  return new HookproofError('ENDPOINT_ADDRESS_REFUSED', message, { hint: adviceFor(refused, policy) });
}

/**
 * Returns the first address that accepts a connection. Node tries them in turn; the socket reports which one it
 * reached.
 */
function firstThatAnswers(
  url: string,
  host: string,
  allowed: readonly ResolvedAddress[],
  { timeoutMs, signal }: PinOptions,
): Promise<ResolvedAddress | undefined> {
  const { protocol, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
      lookup: (_host, _options, callback) => process.nextTick(callback, null, [...allowed]),
    });
    const settle = (address?: string) => {
      clearTimeout(limit);
      signal?.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(allowed.find((one) => one.address === address) ?? allowed[0]);
    };
    const onAbort = () => settle();
    const limit = setTimeout(settle, timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.on('connect', () => settle(socket.remoteAddress));
    socket.on('error', () => settle());
  });
}

/** Creates a lookup that always returns this address, which must have been resolved and checked before. */
export function pinTo(host: string, { address, family }: ResolvedAddress): LookupFunction {
  return pinned(host, { address, family }, null);
}

function pinned(host: string, chosen: ResolvedAddress | undefined, error: Error | null): LookupFunction {
  return (asked, options, callback) => {
    const refused = asked === host ? error : failure('ENOTFOUND', asked);
    if (refused !== null || chosen === undefined) {
      process.nextTick(callback, refused ?? failure('ENOTFOUND', host), [], undefined);
    } else if (options.all === true) process.nextTick(callback, null, [chosen], undefined);
    else process.nextTick(callback, null, chosen.address, chosen.family);
  };
}
