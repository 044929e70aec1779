/** Whether a partner's configuration can work, and what is unwise about it. Specification: Authentication; Limits. */
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  HookproofError,
  LIMITS,
  RESERVED_HEADERS,
} from '../../contract/index.ts';
import type { Partner } from '../partner.ts';
import { checkTlsMaterial } from '../transport/index.ts';

export interface CheckedPartner {
  readonly partner: Partner;
  /** What is unwise, a sentence each; empty when there is nothing to say. */
  readonly advice: readonly string[];
}

/**
 * Checks a partner before anything is sent. What cannot work is thrown, what is unwise is returned. No secret, key or header value stands
 * in either.
 *
 * @throws HookproofError PARTNER_URL, PARTNER_SECRET, PARTNER_API_KEY, PARTNER_HEADER or PARTNER_TLS
 */
export function checkPartner(partner: Partner): CheckedPartner {
  const url = checkUrl(partner.url);
  if (partner.signing?.secret === '') {
    throw new HookproofError('PARTNER_SECRET', 'The signature secret is empty.', {
      hint: 'Give the secret that was agreed with the partner, or leave signing out.',
    });
  }
  if (partner.apiKey?.value === '') {
    throw new HookproofError('PARTNER_API_KEY', 'The API key is empty.', {
      hint: 'Give the key that the partner expects, or leave it out.',
    });
  }
  checkHeaders(partner);
  const tlsAdvice = partner.tls === undefined ? [] : checkTlsMaterial(partner.tls);
  return {
    partner,
    advice: [...adviceOnUrl(url, partner), ...adviceOnFeatures(partner), ...adviceOnSecret(partner), ...tlsAdvice],
  };
}

function checkUrl(text: string): URL {
  const refuse = (what: string, hint: string): never => {
    throw new HookproofError('PARTNER_URL', `The endpoint URL ${what}.`, { hint });
  };
  const url = URL.canParse(text) ? new URL(text) : refuse('is no URL', 'Give it whole: https://host/path');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refuse(`begins with ${url.protocol}, which is neither http: nor https:`, 'Give an https URL.');
  }
  if (url.username !== '' || url.password !== '') {
    return refuse(
      'holds credentials',
      'Take them out: a delivery is authenticated by signature, API key or client certificate.',
    );
  }
  // An empty fragment leaves no trace in the parsed URL, and is as pointless.
  if (text.includes('#')) return refuse('has a fragment (#), which is never sent', 'Take it out.');
  return url;
}

/** Whether the host of a URL is this machine: localhost and names below it, 127.0.0.0/8, [::1]. */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function adviceOnUrl(url: URL, { tls }: Partner): string[] {
  if (url.protocol === 'https:') return [];
  const advice: string[] = [];
  if (!isLoopback(url.hostname)) {
    advice.push(
      'The endpoint is plain HTTP on another machine: whoever is in between reads and changes deliveries. Use https.',
    );
  }
  if (tls !== undefined) advice.push('TLS material is given and the URL is plain http, so it is not used.');
  return advice;
}

function adviceOnFeatures({ signing, apiKey, tls }: Partner): string[] {
  if (signing !== undefined || tls?.clientCert !== undefined) return [];
  return apiKey === undefined
    ? ['No signature, API key or client certificate is configured: the receiver cannot tell who delivers.']
    : ['The API key alone is basic security: it says nothing about the body. Add a signature.'];
}

function adviceOnSecret({ signing }: Partner): string[] {
  if (signing === undefined) return [];
  const { secret } = signing;
  const advice: string[] = [];
  const length = [...secret].length;
  const least = LIMITS.recommendedSecretLength;
  if (length < least) {
    advice.push(
      `The signature secret has ${length} character${length === 1 ? '' : 's'}; at least ${least} are recommended.`,
    );
  }
  if (secret !== secret.trim()) {
    const what = /[\r\n]$/.test(secret) ? 'ends with a newline' : 'begins or ends with white space';
    advice.push(
      `The signature secret ${what}, which counts as part of it; a file or a variable often adds that by mistake.`,
    );
  }
  return advice;
}

/** Whether the configured headers can be sent. Specification: Authentication. */

/** A name as HTTP allows it: a token (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** What cannot stand in a value: control characters other than the tab, and what does not fit into one byte. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

interface ConfiguredHeader {
  readonly role: string;
  readonly name: string;
  /** Empty for the signature, whose value is made for each delivery. */
  readonly value: string;
}

/** @throws HookproofError PARTNER_HEADER, which names the header and never its value */
function checkHeaders(partner: Partner): void {
  const seen = new Map<string, ConfiguredHeader>();
  for (const header of configuredHeaders(partner)) {
    checkHeader(header);
    const other = seen.get(header.name.toLowerCase());
    if (other !== undefined) {
      throw refusal(
        `${header.role} and ${other.role} both have the name ${header.name}`,
        'Give each header a name of its own.',
      );
    }
    seen.set(header.name.toLowerCase(), header);
  }
}

function configuredHeaders({ signing, apiKey, headers = [] }: Partner): ConfiguredHeader[] {
  const list: ConfiguredHeader[] = [];
  if (signing !== undefined) {
    list.push({ role: 'the signature header', name: signing.header ?? DEFAULT_SIGNATURE_HEADER, value: '' });
  }
  if (apiKey !== undefined) {
    list.push({ role: 'the API key header', name: apiKey.header ?? DEFAULT_API_KEY_HEADER, value: apiKey.value });
  }
  headers.forEach(([name, value], index) => {
    list.push({ role: `custom header ${index + 1}`, name, value });
  });
  return list;
}

function checkHeader({ role, name, value }: ConfiguredHeader): void {
  if (!TOKEN.test(name)) {
    // The name is not repeated: something that is no name may be a value in the wrong place.
    throw refusal(
      `the name of ${role} is not a header name`,
      'Use letters, digits and hyphens, without a colon or spaces.',
    );
  }
  if (RESERVED_HEADERS.has(name.toLowerCase())) {
    throw refusal(`${role} has the reserved name ${name}`, 'The sender sets this header itself. Choose another name.');
  }
  const bad = UNSENDABLE.exec(value)?.[0];
  if (bad !== undefined) {
    throw refusal(`the value of ${name} (${role}) holds ${describe(bad)}`, hintFor(bad));
  }
  if (/^[ \t]|[ \t]$/.test(value)) {
    throw refusal(
      `the value of ${name} (${role}) begins or ends with white space`,
      'HTTP drops white space around a value, so it would never arrive. Take it out.',
    );
  }
}

function describe(character: string): string {
  if (character === '\r' || character === '\n') return 'a line break';
  if (character === '\0') return 'a NUL character';
  return character < ' ' || character === '\x7f' ? 'a control character' : 'a character above U+00FF';
}

function hintFor(character: string): string {
  if (character === '\r' || character === '\n')
    return 'Take it out; a newline at the end of a file is the usual cause.';
  return 'Use printable ASCII characters.';
}

function refusal(what: string, hint: string): HookproofError {
  const message = `Headers: ${what}.`;
  return new HookproofError('PARTNER_HEADER', message, { hint });
}
