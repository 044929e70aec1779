/** What came of a delivery in words: for a refusal, what was expected to be different. Nothing here holds a credential. */
import { CONTENT_TYPE, headerValues, readNotification } from '../../contract/index.ts';
import { jsonFault } from './mismatch/json-text.ts';
import type { RecordedDelivery } from './recorded-delivery.ts';

export interface Explanation {
  /** One sentence. */
  readonly title: string;
  /** What should have been there. */
  readonly expected?: string;
  /** What was there. */
  readonly received?: string;
  readonly fix?: string;
  /** What is wrong, one by one. */
  readonly points?: readonly string[];
}

/** Names of headers, as they are configured. */
export interface HeaderNames {
  readonly signature: string;
  readonly apiKey: string;
}

type Explain = (delivery: RecordedDelivery, names: HeaderNames) => Explanation;

const counted = (count: number): string => (count === 1 ? 'once' : `${count} times`);
const SIGNATURE_SHAPE = 'the HMAC-SHA256 of the raw body in standard base64: 44 characters that end in "="';
/** Beyond this many bytes a broken body is not searched for the place. */
const SEARCH_UP_TO = 256 * 1024;

const BY_REASON: Readonly<Record<string, Explain>> = {
  'signature-missing': ({ headers }, { signature }) => ({
    title: 'The delivery carries no signature.',
    expected: `A header ${signature} with ${SIGNATURE_SHAPE}.`,
    received:
      headerValues(headers, signature).length > 0 ? `The header ${signature} is empty.` : similarHeader(headers),
    fix: 'Turn signing on for this endpoint at the sender, and compare the name of the header on both sides.',
  }),
  'signature-malformed': ({ headers }, { signature }) => ({
    title: 'The signature header cannot hold a signature as it stands.',
    expected: `One header ${signature} with ${SIGNATURE_SHAPE}.`,
    received: signatureShape(headerValues(headers, signature)),
  }),
  'signature-mismatch': (_delivery, { signature }) => ({
    title: 'The signature does not belong to these bytes and this secret.',
    expected: `In ${signature}, ${SIGNATURE_SHAPE}, with the secret of this receiver as the key.`,
    received: 'A signature of the right shape, made from other bytes, with another secret, or in another way.',
  }),
  'api-key-missing': ({ headers }, { apiKey }) => ({
    title: 'The delivery carries no API key.',
    expected: `A header ${apiKey} with the API key.`,
    received: headerValues(headers, apiKey).length > 0 ? `The header ${apiKey} is empty.` : 'No such header.',
    fix: 'Turn the API key on for this endpoint at the sender, and compare the name of the header on both sides.',
  }),
  'api-key-malformed': ({ headers }, { apiKey }) => ({
    title: 'The API key came more than once.',
    expected: `One header ${apiKey}.`,
    received: `The header ${apiKey} came ${counted(headerValues(headers, apiKey).length)}.`,
    fix: 'Is it set by the sender and by a proxy as well?',
  }),
  'api-key-mismatch': (_delivery, { apiKey }) => ({
    title: 'The API key is not the one that this receiver has.',
    expected: `In ${apiKey}, the configured key, exactly: nothing before or after it, in the same letter case.`,
    received: 'Another value. It is not shown.',
    fix: 'Compare the two settings where they are kept. Was the key replaced on one side only?',
  }),
  'client-certificate-missing': () => ({
    title: 'The sender presented no client certificate.',
    expected: 'A certificate from an authority that this receiver trusts.',
    fix: 'Give the sender its client certificate and key, and see that no proxy in between ends TLS.',
  }),
  'client-certificate-untrusted': () => ({
    title: 'The client certificate is not one that this receiver trusts.',
    expected: 'A certificate that is in date, for client authentication, from an authority in --client-ca.',
  }),
  'client-certificate-not-allowed': () => ({
    title: 'The client certificate is right, but its name is not on the list.',
    expected: 'One of the names that are allowed with --allow-client.',
  }),
  'client-certificate-not-from-proxy': () => ({
    title: 'The delivery did not come through the proxy that verifies client certificates.',
    expected: 'A connection from an address that is named with --proxy.',
  }),
  'not-found': ({ target }) => ({
    title: 'The path is not the registered one.',
    expected: 'The path that this receiver was given with --path, exactly.',
    received: target.split('?')[0] ?? '',
  }),
  'method-not-allowed': ({ method }) => ({
    title: 'Deliveries are POST requests.',
    expected: 'POST',
    received: method,
  }),
  'body-too-large': ({ headers }) => ({
    title: 'The body is larger than this receiver takes.',
    expected: 'A body within the limit (--body-limit).',
    received: `Content-Length ${headerValues(headers, 'content-length')[0] ?? 'was not given'}.`,
  }),
  'content-type-not-json': ({ headers }) => ({
    title: 'The content type is not JSON.',
    expected: `Content-Type: ${CONTENT_TYPE}`,
    received: headerValues(headers, 'content-type')[0] ?? 'No Content-Type.',
  }),
  'content-encoding-not-supported': ({ headers }) => ({
    title: 'The body is compressed.',
    expected: 'No Content-Encoding: the signature is over the bytes as they are.',
    received: `Content-Encoding: ${headerValues(headers, 'content-encoding')[0] ?? ''}`,
  }),
  'body-not-utf8': ({ rawBody }) => {
    const at = rawBody === undefined ? undefined : firstInvalidByte(rawBody);
    return {
      title: 'The body is not UTF-8.',
      expected: 'UTF-8, as for all JSON.',
      received:
        at === undefined
          ? 'Other bytes.'
          : `Byte 0x${rawBody?.[at]?.toString(16).padStart(2, '0')} at ${at} (0x${at.toString(16)}) cannot stand there.`,
    };
  },
  'body-not-json': ({ rawBody }) => ({
    title: 'The body is not JSON.',
    ...(rawBody === undefined ? {} : brokenJson(rawBody)),
  }),
  'not-a-notification': ({ rawBody }) => ({
    title: 'The body is JSON, but no notification.',
    expected: 'The envelope (id, type, at, data), and in data what identifies the thing and its state.',
    points: issuesOf(rawBody),
  }),
  busy: () => ({
    title: 'This receiver had too much to handle, and asked the sender to come again.',
    fix: 'Handlers are slower than deliveries come in.',
  }),
  'inbox failed': ({ reason }) => ({
    title: 'The notification could not be stored, so it was not accepted.',
    received: reason ?? '',
    fix: 'The delivery itself is right. Mend the store; the sender will deliver again.',
  }),
  'internal-error': () => ({
    title: 'This receiver failed. The delivery may be right.',
    fix: 'Its log has the error, beside "internal-error".',
  }),
  'connection closed': () => ({
    title: 'The sender closed the connection before it had its answer.',
    fix: 'Does it wait too briefly, or did a proxy in between cut the connection?',
  }),
};

export function explainOutcome(delivery: RecordedDelivery, names: HeaderNames): Explanation {
  if (delivery.outcome === 'accepted') {
    return delivery.duplicate
      ? { title: 'Accepted as a duplicate: a notification with this id was here before, and is not handled again.' }
      : { title: 'Accepted: every check passed, and the notification was stored.' };
  }
  const reason = wordOf(delivery.reason ?? '');
  const explain = Object.hasOwn(BY_REASON, reason) ? BY_REASON[reason] : undefined;
  if (explain !== undefined) return withDetail(explain(delivery, names), delivery.reason ?? '');
  return { title: `Not accepted: ${delivery.reason ?? 'no reason was given'}.` };
}

/** The fixed word of a reason, without what stands in brackets or behind a colon. */
export function wordOf(reason: string): string {
  return reason.replace(/(?: \(.*\)|: .*)$/s, '');
}

function withDetail(explanation: Explanation, reason: string): Explanation {
  const detail = / \((.*)\)$/s.exec(reason)?.[1];
  return detail === undefined || explanation.received !== undefined
    ? explanation
    : { ...explanation, received: detail };
}

function similarHeader(headers: RecordedDelivery['headers']): string {
  const similar = headers.find(([name]) => /sign|hmac/i.test(name));
  return similar === undefined ? 'No such header.' : `No such header. There is one called ${similar[0].slice(0, 100)}.`;
}

function signatureShape(values: readonly string[]): string {
  if (values.length > 1) return `The header came ${counted(values.length)}.`;
  const value = values[0] ?? '';
  if (value === '') return 'Nothing: the header is empty.';
  const length = value.length === 1 ? '1 character' : `${value.length} characters`;
  if (/^(?:[0-9a-f]{2}){16,}$/i.test(value)) return `${length} that look like hexadecimal.`;
  if (value.includes(',')) return `${length} with a comma: a label, or several values in one header.`;
  if (/^[\w-]+=[A-Za-z0-9+/_-]{20,}/.test(value)) return `${length} with a label in front.`;
  if (/^[A-Za-z0-9_-]+=?$/.test(value) && /[_-]/.test(value)) return `${length} that look like URL-safe base64.`;
  if (/^[A-Za-z0-9+/]{43}$/.test(value)) return `${length}: base64 without its padding.`;
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return `${length} of base64; 32 bytes of digest make 44.`;
  return `${length}, some of which cannot stand in base64.`;
}

function brokenJson(body: Buffer): Partial<Explanation> {
  if (body.length === 0) return { expected: 'A JSON object.', received: 'An empty body.' };
  if (body.length > SEARCH_UP_TO) return { expected: 'A JSON object.' };
  const text = body.toString('utf8');
  const fault = jsonFault(text);
  if (fault === undefined) return { expected: 'A JSON object.' };
  const at = Buffer.byteLength(text.slice(0, fault.at));
  const place = `at byte ${at} (0x${at.toString(16)})`;
  const wanted = fault.expected === ':' ? 'a colon' : fault.expected.replace(/^,/, 'a comma');
  const received = at >= body.length ? `The body ends ${place}.` : `Something else ${place}.`;
  return { expected: `${wanted.charAt(0).toUpperCase()}${wanted.slice(1)}.`, received };
}

/** Where a genuine U+FFFD stands in the text, the decoder has replaced nothing. */
function firstInvalidByte(body: Buffer): number | undefined {
  const text = body.toString('utf8');
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', at + 1)) {
    const offset = Buffer.byteLength(text.slice(0, at));
    if (body.readUIntBE(Math.min(offset, body.length - 1), 1) !== 0xef || body[offset + 1] !== 0xbf) return offset;
    if (body[offset + 2] !== 0xbd) return offset;
  }
  return undefined;
}

function issuesOf(body: Buffer | undefined): string[] {
  try {
    const reading = readNotification(JSON.parse(body?.toString('utf8') ?? ''));
    return reading.ok ? [] : reading.issues.slice(0, 20);
  } catch {
    return [];
  }
}
