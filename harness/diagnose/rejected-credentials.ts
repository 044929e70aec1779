/**
 * When the plain valid delivery is rejected, sends it with each signing mistake and with other header names, and
 * reports which one the endpoint accepts. Every trial is a delivery with one thing changed, like any probe.
 */
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type HeaderLine,
  sameHeaderName,
} from '../../contract/index.ts';
import type { AddressChange, Change } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import type { Attempt } from '../transport/index.ts';
import type { Finding } from './preflight-findings.ts';
import { signingTrials } from './signing-trials.ts';

/** Sends the plain valid delivery with a change. */
type SendChanged = (change: Change) => Promise<Attempt>;

interface Trial extends Finding {
  readonly change: Change;
}

/** Some encodings of a digest differ only in this character. */
const showsEncoding = (signature: string) => signature.includes('+');

/** How long the rare mistakes are tried, after the likely ones. */
const RARE_MISTAKES_MS = 15_000;

const SIGNATURE_HEADERS = [
  'X-Signature',
  'X-Webhook-Signature',
  'X-Hub-Signature-256',
  'X-Hub-Signature',
  'Signature',
  'X-Hmac-Sha256',
];
const KEY_HEADERS = ['Api-Key', 'ApiKey', 'X-Api-Token', 'X-Auth-Token', 'X-Access-Token', 'Authorization'];

function also(header: string, copies: readonly { readonly name: string; readonly prefix?: string }[]): AddressChange {
  return {
    label: `also sent as ${copies.map(({ name }) => name).join(', ')}`,
    make: (head) => {
      const value = head.headers.find(([name]) => sameHeaderName(name, header))?.[1] ?? '';
      const lines = copies.filter(({ name }) => !head.headers.some(([taken]) => sameHeaderName(taken, name)));
      return {
        ...head,
        headers: [...head.headers, ...lines.map(({ name, prefix = '' }): HeaderLine => [name, prefix + value])],
      };
    },
  };
}

function otherHeader(kind: 'signature' | 'API key', configured: string, name: string, prefix?: string): Trial {
  return {
    fault: kind === 'signature' ? 'reads-another-signature-header' : 'reads-another-key-header',
    title: `The endpoint reads the ${kind} from ${name}, not from ${configured}`,
    why:
      `The delivery is accepted when ${name} also contains the ${kind}: the two sides are configured with different ` +
      'header names.',
    fix: `Read ${configured} at the endpoint, or have the operator configure ${name}.`,
    change: { address: also(configured, [{ name, ...(prefix === undefined ? {} : { prefix }) }]) },
  };
}

/** The usual mistakes and other header names, and the mistakes that are tried last. */
function trialsFor(partner: Partner): { trials: Trial[]; rare: Trial[] } {
  const { signing, apiKey } = partner;
  const trials: Trial[] = [];
  const rare: Trial[] = [];
  if (signing !== undefined) {
    const header = signing.header ?? DEFAULT_SIGNATURE_HEADER;
    const more = { url: partner.url, ...(apiKey === undefined ? {} : { apiKey: apiKey.value }) };
    for (const trial of signingTrials({ secret: signing.secret, ...more })) {
      const { fault, title, why, fix, serialise, sign } = trial;
      const change = { serialise, sign: { label: title, make: sign, suits: showsEncoding } };
      (trial.likely ? trials : rare).push({ fault, title: title.replace(/\.$/, ''), why, fix, change });
    }
    const names = [DEFAULT_SIGNATURE_HEADER, ...SIGNATURE_HEADERS].filter((name) => !sameHeaderName(name, header));
    trials.push(...names.map((name) => otherHeader('signature', header, name)));
  }
  if (apiKey !== undefined) {
    const header = apiKey.header ?? DEFAULT_API_KEY_HEADER;
    const names = [DEFAULT_API_KEY_HEADER, ...KEY_HEADERS].filter((name) => !sameHeaderName(name, header));
    trials.push(
      ...names.map((name) => otherHeader('API key', header, name, name === 'Authorization' ? 'Bearer ' : undefined)),
    );
  }
  return { trials, rare };
}

/**
 * Tries the known mistakes until one is accepted. Null when none is: the secret or the key differs, or the rejection
 * has another reason. `stop` ends it early.
 */
export async function explainRejection(
  partner: Partner,
  send: SendChanged,
  stop: () => boolean,
): Promise<Finding | null> {
  const { trials, rare } = trialsFor(partner);
  let tried = 0;
  let rareUntil = Number.POSITIVE_INFINITY;
  for (const { change, ...finding } of [...trials, ...rare]) {
    if (tried === trials.length) rareUntil = performance.now() + RARE_MISTAKES_MS;
    if (stop() || performance.now() > rareUntil) return null;
    tried++;
    const attempt = await send(change);
    if (attempt.answer?.status === 200) return finding;
  }
  return null;
}
