/** The headers of a delivery for the page: in their order, with the values of credentials taken away. */
import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';

export interface ShownHeader {
  readonly name: string;
  /** Null when it is masked: neither length nor characters are told. */
  readonly value: string | null;
  /** Why it is masked. */
  readonly note?: string;
}

const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);

/** Names that others give to such headers. */
const CREDENTIAL_NAME = /(?:^|[-_])(?:token|secret|password|passwd|api[-_]?key|access[-_]?key|auth)$/i;

export function maskedHeaders(
  lines: readonly HeaderLine[],
  names: { readonly apiKey: string; readonly signature: string },
  /** Why the value of the signature header is not shown; undefined when it is. */
  signatureWithheld: string | undefined,
): ShownHeader[] {
  return lines.map(([name, value]) => {
    if (sameHeaderName(name, names.apiKey)) return { name, value: null, note: 'the API key is never shown' };
    if (sameHeaderName(name, names.signature)) {
      return signatureWithheld === undefined ? { name, value } : { name, value: null, note: signatureWithheld };
    }
    if (CREDENTIALS.has(name.toLowerCase()) || CREDENTIAL_NAME.test(name)) {
      return { name, value: null, note: 'credentials are never shown' };
    }
    return { name, value };
  });
}

/** Path and query, with the values of the query masked: some senders put credentials there. */
export function maskedTarget(target: string): string {
  const at = target.indexOf('?');
  if (at === -1) return target;
  const names = target
    .slice(at + 1)
    .split('&')
    .map((part) => (part.includes('=') ? `${part.slice(0, part.indexOf('='))}=[***]` : '[***]'));
  return `${target.slice(0, at)}?${names.join('&')}`;
}
