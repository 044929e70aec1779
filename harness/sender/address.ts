import {
  CONTENT_TYPE,
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type HeaderLine,
} from '../../contract/index.ts';
import { endpointOf } from './endpoint.ts';
import type { Partner } from './partner.ts';

/** The request line and the headers of a delivery. */
export interface Addressed {
  readonly method: 'POST';
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly HeaderLine[];
}

/**
 * The address stage: where the bytes go and what stands before them. The lines come in a fixed order: Host, Content-Type,
 * Content-Length, signature, API key, custom headers. There is no User-Agent: a partner who wants one configures it. Specification: Delivery endpoint; Authentication.
 */
export function address({
  partner,
  body,
  signature,
}: {
  partner: Partner;
  body: Uint8Array;
  signature?: string;
}): Addressed {
  const { host, target } = endpointOf(partner.url);
  const headers: HeaderLine[] = [
    ['Host', host],
    ['Content-Type', CONTENT_TYPE],
    ['Content-Length', String(body.length)],
  ];
  if (signature !== undefined) headers.push([partner.signing?.header ?? DEFAULT_SIGNATURE_HEADER, signature]);
  if (partner.apiKey !== undefined)
    headers.push([partner.apiKey.header ?? DEFAULT_API_KEY_HEADER, partner.apiKey.value]);
  if (partner.headers !== undefined) headers.push(...partner.headers);
  return { method: 'POST', target, headers };
}
