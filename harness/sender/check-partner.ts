/** Whether a partner's configuration can work, and what is unwise about it. Specification: Authentication; Limits. */
import { HookproofError, LIMITS } from '../../contract/index.ts';
import { checkHeaders } from './check-headers.ts';
import { usableTls } from './check-tls.ts';
import type { Partner } from './partner.ts';

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
  const tlsAdvice = partner.tls === undefined ? [] : usableTls(partner.tls).advice;
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
