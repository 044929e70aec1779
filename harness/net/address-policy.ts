/** Which addresses an endpoint may have. The operator runs hookproof against URLs that other people supply. */
import { isIP } from 'node:net';
import { type AddressScope, scopeOf } from './address-scope.ts';

/**
 * `local-too`: laptops and staging, so loopback and private addresses are fine. `public-only`: an endpoint of somebody else, so they are
 * refused, but for hosts that are allowed by name. Link-local, metadata and special addresses are refused always.
 */
export interface AddressPolicy {
  readonly reach: 'local-too' | 'public-only';
  /** Hosts as they stand in the URL, which may be private or loopback all the same. */
  readonly allowPrivate?: readonly string[];
}

export const LOCAL_TOO: AddressPolicy = { reach: 'local-too' };

const WORDS: Readonly<Record<AddressScope, string>> = {
  public: 'a public address',
  private: 'a private address',
  loopback: 'an address of this machine',
  'link-local': 'a link-local address',
  metadata: 'an address where machines of a cloud find their own credentials',
  special: 'an address that no endpoint can have',
};

/** Whether an address of this host may be connected to. */
export function isAllowed(address: string, host: string, { reach, allowPrivate = [] }: AddressPolicy): boolean {
  const scope = scopeOf(address);
  if (scope === 'public') return true;
  if (scope !== 'private' && scope !== 'loopback') return false;
  return reach === 'local-too' || allowPrivate.some((name) => hostOf(name) === hostOf(host));
}

/** "10.0.0.1, a private address". */
export function addressInWords(address: string): string {
  return `${address}, ${WORDS[scopeOf(address)]}`;
}

/** What can be done about a refusal. */
export function adviceFor(addresses: readonly string[]): string {
  const local = addresses.some((address) => ['private', 'loopback'].includes(scopeOf(address)));
  if (local)
    return 'If this endpoint is meant, allow its host by name: --allow-private HOST, or allow-private in the configuration.';
  return addresses.some((address) => /^(?:0\.0\.0\.0|::)$/.test(address))
    ? 'A server that listens on every address of this machine is reached at 127.0.0.1.'
    : 'Deliveries are never sent there. Give the URL of the endpoint itself.';
}

/** A host in the spelling of the URL parser, without brackets. */
function hostOf(name: string): string {
  const bare = name.replace(/^\[|\]$/g, '');
  const url = `http://${isIP(bare) === 6 ? `[${bare}]` : bare}/`;
  return (URL.canParse(url) ? new URL(url).hostname : bare).replace(/\.$/, '').toLowerCase();
}
