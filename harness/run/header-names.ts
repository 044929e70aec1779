/** The names of the credential headers of a partner, defaults filled in. */
import { DEFAULT_API_KEY_HEADER, DEFAULT_SIGNATURE_HEADER } from '../../contract/index.ts';
import type { Partner } from '../sender/index.ts';

export function headerNamesOf(partner: Partner): { readonly signature: string; readonly apiKey: string } {
  return {
    signature: partner.signing?.header ?? DEFAULT_SIGNATURE_HEADER,
    apiKey: partner.apiKey?.header ?? DEFAULT_API_KEY_HEADER,
  };
}
