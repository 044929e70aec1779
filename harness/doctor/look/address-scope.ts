/** From where an address can be reached. */
import { scopeOf as scopeInFull } from '../../transport/index.ts';
import type { FactsOf } from '../doctor-document.ts';

export type AddressScope = FactsOf<'dns'>['addresses'][number]['scope'];

/** The scope of an address that is one. The addresses of metadata are link-local ones, or special. */
export function scopeOf(address: string): AddressScope {
  const scope = scopeInFull(address);
  if (scope !== 'metadata') return scope;
  return address.includes('169.254.') ? 'link-local' : 'special';
}
