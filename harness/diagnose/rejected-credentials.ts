/**
 * When the plain valid delivery is refused, signs it the ways in which real receivers get it wrong, and says which one the endpoint wants.
 * Every try is a delivery with one thing changed, like any probe.
 */
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type HeaderLine,
  type JsonValue,
  sameHeaderName,
} from '../../contract/index.ts';
import type { AddressChange, Change } from '../../scenarios/index.ts';
import type { Attempt, Partner } from '../sender/index.ts';
import type { Finding } from './preflight-findings.ts';
import { wrongEncodings } from './wrong-encodings.ts';

/** Sends the plain valid delivery with a change, and gives the answer. */
type SendChanged = (change: Change) => Promise<Attempt>;

interface Trial extends Finding {
  readonly change: Change;
}

/**
 * A body that no serialiser writes again as it is, so that it shows which bytes are signed: spaces behind commas and colons, a slash and a
 * letter outside ASCII in a text, a line feed at the end. The notification is as valid as before.
 */
function telling(value: JsonValue): Uint8Array {
  const text = JSON.stringify(value, null, 1).replace(/\n */g, ' ');
  return Buffer.from(`${text.replace('test memo', 'test/m\u00e9mo')}\n`, 'utf8');
}

/** Base64 and its URL-safe spelling only differ where one of these stands. */
const tellsSpelling = (right: string) => /[+/]/.test(right);

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
    why: `The delivery was accepted as soon as the ${kind} was also sent in ${name}: the two sides are configured with different header names.`,
    fix: `Read ${configured} at the endpoint, or have the operator configure ${name}.`,
    change: { address: also(configured, [{ name, ...(prefix === undefined ? {} : { prefix }) }]) },
  };
}

function trialsFor(partner: Partner): Trial[] {
  const { signing, apiKey } = partner;
  const trials: Trial[] = [];
  if (signing !== undefined) {
    const header = signing.header ?? DEFAULT_SIGNATURE_HEADER;
    // Some ways do not apply to this secret; without a value the header would be left out, which is another fault. Several samples, because
    // some spellings of some digests are alike.
    const samples = Array.from({ length: 16 }, (_, at) => telling({ id: 'test memo', type: 'CAAS', at, data: {} }));
    const more = { url: partner.url, ...(apiKey === undefined ? {} : { apiKey: apiKey.value }) };
    for (const { fault, title, why, fix, sign } of wrongEncodings(signing.secret, more)) {
      if (samples.every((sample) => sign(sample) === undefined)) continue;
      trials.push({
        fault,
        title: title.replace(/\.$/, ''),
        why,
        fix,
        change: {
          serialise: telling,
          sign: { label: title, make: (body) => sign(body), suits: tellsSpelling },
        },
      });
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
  return trials;
}

/**
 * Tries the known mistakes until one is accepted. Null when none is: then secret or key differ, or something else refuses.
 * `stop` ends it early.
 */
export async function explainRefusal(
  partner: Partner,
  send: SendChanged,
  stop: () => boolean,
): Promise<(Finding & { tried: number }) | null> {
  let tried = 0;
  for (const { change, ...finding } of trialsFor(partner)) {
    if (stop()) return null;
    tried++;
    const attempt = await send(change);
    if (attempt.answer?.status === 200) return { ...finding, tried };
  }
  return null;
}
