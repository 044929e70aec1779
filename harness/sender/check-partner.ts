/** Checks the configuration of a partner. Specification: Authentication; Limits. */

import { isLoopback } from '../../contract/hosts.ts';
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  HookproofError,
  LIMITS,
  RESERVED_HEADERS,
  TOKEN,
} from '../../contract/index.ts';
import type { Partner } from '../partner.ts';
import { checkTlsMaterial } from '../transport/index.ts';

/** Not allowed in a header value: control characters except the tab, and characters above one byte. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

export interface CheckedPartner {
  readonly partner: Partner;
  /** One sentence for each unwise setting. */
  readonly advice: readonly string[];
}

/** A header of the configuration. */
export interface HeaderPlace {
  readonly role: 'signature' | 'api-key' | 'custom';
  /** The position in `headers`, from 0; null for the signature and the API key. */
  readonly index: number | null;
}

export type HeaderProblem =
  | 'invalid-name'
  | 'reserved-name'
  | 'duplicate-name'
  | 'invalid-character'
  | 'outer-white-space';

/** A header that cannot be sent. The message names the header and never its value. */
export class PartnerHeaderError extends HookproofError {
  readonly header: HeaderPlace;
  readonly reason: HeaderProblem;
  readonly #describe: (title: string) => string;

  /** `describe` returns the sentence about a header with this title, without a full stop. */
  constructor(header: HeaderPlace, reason: HeaderProblem, describe: (title: string) => string, hint: string) {
    super('PARTNER_HEADER', `Headers: ${describe(titleOf(header))}.`, { hint });
    this.header = header;
    this.reason = reason;
    this.#describe = describe;
  }

  /** Returns the message for a caller that names the setting itself. */
  messageFor(title = titleOf(this.header)): string {
    return `${this.#describe(title)}.`;
  }
}

function titleOf({ role, index }: HeaderPlace): string {
  if (role === 'custom') return `custom header ${(index ?? 0) + 1}`;
  return role === 'signature' ? 'the signature header' : 'the API key header';
}

/**
 * Checks a partner before anything is sent: throws if the configuration cannot work, and returns advice on unwise
 * settings. No message contains a secret, a key or a header value.
 *
 * @throws HookproofError PARTNER_URL, PARTNER_SECRET, PARTNER_API_KEY, PARTNER_HEADER or PARTNER_TLS
 */
export function checkPartner(partner: Partner): CheckedPartner {
  const url = checkUrl(partner.url);
  if (partner.signing?.secret === '') {
    throw new HookproofError('PARTNER_SECRET', 'The HMAC secret is empty.', {
      hint: 'Set the secret agreed with the partner, or remove `signing`.',
    });
  }
  if (partner.apiKey?.value === '') {
    throw new HookproofError('PARTNER_API_KEY', 'The API key is empty.', {
      hint: 'Set the key that the partner expects, or remove `apiKey`.',
    });
  }
  checkHeaders(partner);
  const tlsAdvice = partner.tls === undefined ? [] : checkTlsMaterial(partner.tls);
  return {
    partner,
    advice: [
      ...adviceOnUrl(url, partner),
      ...adviceOnFeatures(partner),
      ...(partner.signing === undefined ? [] : adviceOnSecret(partner.signing.secret)),
      ...tlsAdvice,
    ],
  };
}

function checkUrl(text: string): URL {
  const fail = (what: string, hint: string): never => {
    throw new HookproofError('PARTNER_URL', `The endpoint URL ${what}.`, { hint });
  };
  const url = URL.canParse(text) ? new URL(text) : fail('is not a URL', 'Give a complete URL: https://host/path.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return fail(`starts with ${url.protocol}; expected https: or http:`, 'Give an https URL.');
  }
  if (url.username !== '' || url.password !== '') {
    const fix = 'Remove them: deliveries are authenticated by signature, API key or client certificate.';
    return fail('contains credentials', fix);
  }
  // The parsed URL does not show an empty fragment.
  if (text.includes('#')) return fail('has a fragment (#), which is never sent', 'Remove it.');
  return url;
}

function adviceOnUrl(url: URL, { tls }: Partner): string[] {
  if (url.protocol === 'https:') return [];
  const advice: string[] = [];
  if (!isLoopback(url.hostname)) {
    advice.push(
      'The endpoint uses plain HTTP on another machine: anyone on the network path can read and change ' +
        'deliveries. Use https.',
    );
  }
  if (tls !== undefined) advice.push('TLS material is configured but not used, because the URL is plain http.');
  return advice;
}

function adviceOnFeatures({ signing, apiKey, tls }: Partner): string[] {
  if (signing !== undefined || tls?.clientCert !== undefined) return [];
  return apiKey === undefined
    ? ['No signature, API key or client certificate is configured: the receiver cannot tell who sends a delivery.']
    : ['An API key alone is basic security: it does not protect the body. Add a signature.'];
}

export function adviceOnSecret(secret: string, noun = 'HMAC secret'): string[] {
  const advice: string[] = [];
  const length = [...secret].length;
  const minimum = LIMITS.recommendedSecretLength;
  if (length < minimum) {
    advice.push(`The ${noun} has ${length} character${length === 1 ? '' : 's'}; at least ${minimum} are recommended.`);
  }
  if (secret !== secret.trim()) {
    const what = /[\r\n]$/.test(secret) ? 'ends with a newline' : 'starts or ends with whitespace';
    advice.push(`The ${noun} ${what}, which is part of the secret; a file or variable often adds it by mistake.`);
  }
  return advice;
}

interface ConfiguredHeader {
  readonly place: HeaderPlace;
  readonly name: string;
  /** Empty for the signature, which is computed for each delivery. */
  readonly value: string;
}

/** @throws PartnerHeaderError */
function checkHeaders(partner: Partner): void {
  const seen = new Map<string, ConfiguredHeader>();
  for (const header of configuredHeaders(partner)) {
    checkHeader(header);
    const other = seen.get(header.name.toLowerCase());
    if (other !== undefined) {
      throw new PartnerHeaderError(
        header.place,
        'duplicate-name',
        (title) => `${title} and ${titleOf(other.place)} both have the name ${header.name}`,
        'Give each header a different name.',
      );
    }
    seen.set(header.name.toLowerCase(), header);
  }
}

function configuredHeaders({ signing, apiKey, headers }: Partner): ConfiguredHeader[] {
  const list: ConfiguredHeader[] = [];
  if (signing !== undefined) {
    const place = { role: 'signature', index: null } as const;
    list.push({ place, name: signing.header ?? DEFAULT_SIGNATURE_HEADER, value: '' });
  }
  if (apiKey !== undefined) {
    const place = { role: 'api-key', index: null } as const;
    list.push({ place, name: apiKey.header ?? DEFAULT_API_KEY_HEADER, value: apiKey.value });
  }
  headers?.forEach(([name, value], index) => {
    list.push({ place: { role: 'custom', index }, name, value });
  });
  return list;
}

function checkHeader({ place, name, value }: ConfiguredHeader): void {
  const fail = (reason: HeaderProblem, describe: (title: string) => string, hint: string): never => {
    throw new PartnerHeaderError(place, reason, describe, hint);
  };
  if (!TOKEN.test(name)) {
    // The message does not repeat the name: it may be a secret value in the wrong place.
    const fix = 'Use letters, digits and hyphens, without a colon or spaces.';
    fail('invalid-name', (title) => `the name of ${title} is not a header name`, fix);
  }
  if (RESERVED_HEADERS.has(name.toLowerCase())) {
    const fix = 'The sender sets this header itself. Choose another name.';
    fail('reserved-name', (title) => `${title} has the reserved name ${name}`, fix);
  }
  const invalid = UNSENDABLE.exec(value)?.[0];
  if (invalid !== undefined) {
    const fix = /[\r\n]/.test(invalid)
      ? 'Remove it; the usual cause is a newline at the end of a file.'
      : 'Use printable ASCII characters.';
    fail('invalid-character', (title) => `the value of ${name} (${title}) contains ${describe(invalid)}`, fix);
  }
  if (/^[ \t]|[ \t]$/.test(value)) {
    const fix = 'Remove it: HTTP drops whitespace around a header value.';
    fail('outer-white-space', (title) => `the value of ${name} (${title}) starts or ends with whitespace`, fix);
  }
}

function describe(character: string): string {
  if (character === '\r' || character === '\n') return 'a line break';
  if (character === '\0') return 'a NUL character';
  return /\p{Cc}/u.test(character) ? 'a control character' : 'a character above U+00FF';
}
