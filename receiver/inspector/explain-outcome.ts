/**
 * Explains the outcome of a delivery: what was expected and what was received. The texts never contain a credential.
 */
import { DELIVERY_REASONS, type DeliveryReason, isDeliveryReason } from '../../contract/delivery-reasons.ts';
import { CONTENT_TYPE, headerValues, readNotification } from '../../contract/index.ts';
import { headerShape } from '../../contract/signing/index.ts';
import { acceptedInWords } from './forwarded.ts';
import type { HeaderNames } from './masking.ts';
import type { RecordedDelivery } from './recorder.ts';
import type { SchemeWords } from './scheme-findings.ts';

export interface OutcomeExplanation {
  /** The outcome in one sentence. */
  readonly title: string;
  /** What was expected. */
  readonly expected?: string;
  /** What was received. */
  readonly received?: string;
  readonly fix?: string;
  /** The individual faults. */
  readonly points?: readonly string[];
}

type Details = Omit<OutcomeExplanation, 'title'>;
type Explain = (delivery: RecordedDelivery, names: HeaderNames) => Details;

const SIGNATURE_SHAPE = 'the HMAC-SHA256 of the raw body in standard base64: 44 characters that end in "="';
/** Maximum size, in bytes, of bodies that are searched for the position of a JSON error. */
const SEARCH_UP_TO = 256 * 1024;

const BY_REASON: Readonly<Record<DeliveryReason, Explain>> = {
  'signature-missing': ({ headers }, { signature }) => ({
    expected: `A header ${signature} with ${SIGNATURE_SHAPE}.`,
    received:
      headerValues(headers, signature).length > 0 ? `The header ${signature} is empty.` : similarHeader(headers),
    fix: 'Turn signing on for this endpoint in the sender, and compare the name of the header on both sides.',
  }),
  'signature-malformed': ({ headers }, { signature }) => ({
    expected: `One header ${signature} with ${SIGNATURE_SHAPE}.`,
    received: signatureShape(headerValues(headers, signature)),
  }),
  'signature-mismatch': (_delivery, { signature }) => ({
    expected: `In ${signature}, ${SIGNATURE_SHAPE}, with the configured secret as the key.`,
    received: 'A signature of the correct form, computed over other bytes, with another secret, or in another way.',
  }),
  'signature-out-of-tolerance': () => ({
    expected: 'A time within the tolerance of the scheme, in both directions.',
    fix: 'Compare the clocks on both sides.',
  }),
  'api-key-missing': ({ headers }, { apiKey }) => ({
    expected: `A header ${apiKey} with the API key.`,
    received: headerValues(headers, apiKey).length > 0 ? `The header ${apiKey} is empty.` : 'No such header.',
    fix: 'Turn the API key on for this endpoint in the sender, and compare the name of the header on both sides.',
  }),
  'api-key-malformed': ({ headers }, { apiKey }) => ({
    expected: `One header ${apiKey}.`,
    received: `The header ${apiKey} ${headerValues(headers, apiKey).length} times.`,
    fix: 'Check whether both the sender and a proxy set it.',
  }),
  'api-key-mismatch': (_delivery, { apiKey }) => ({
    expected: `In ${apiKey}, the configured key, exactly: nothing before or after it, in the same letter case.`,
    received: 'A different value, which is not shown.',
    fix: 'Compare the settings on both sides. Was the key replaced on one side only?',
  }),
  'client-certificate-missing': () => ({
    expected: 'A certificate from a CA that this receiver trusts.',
    fix: 'Configure the client certificate and key in the sender, and check that no proxy in between terminates TLS.',
  }),
  'client-certificate-untrusted': () => ({
    expected:
      'A certificate that is within its validity period, for client authentication, from a CA in `--client-ca`.',
  }),
  'client-certificate-not-allowed': () => ({
    expected: 'One of the names given with `--allow-client`.',
  }),
  'client-certificate-not-from-proxy': () => ({
    expected: 'A connection from an address given with `--proxy`.',
  }),
  'not-found': ({ target }) => ({
    expected: 'Exactly the path given with `--path`.',
    received: target.split('?')[0] ?? '',
  }),
  'method-not-allowed': ({ method }) => ({ expected: 'POST', received: method }),
  'body-too-large': ({ headers }) => ({
    expected: 'A body within the limit (`--body-limit`).',
    received: `Content-Length: ${headerValues(headers, 'content-length')[0] ?? 'none'}.`,
  }),
  'content-type-not-json': ({ headers }) => ({
    expected: `Content-Type: ${CONTENT_TYPE}`,
    received: headerValues(headers, 'content-type')[0] ?? 'No Content-Type.',
  }),
  'content-encoding-not-supported': ({ headers }) => ({
    expected: 'No Content-Encoding: the signature covers the bytes as they are.',
    received: `Content-Encoding: ${headerValues(headers, 'content-encoding')[0] ?? ''}`,
  }),
  'body-not-utf8': ({ rawBody }) => {
    const at = rawBody === undefined ? undefined : firstInvalidByte(rawBody);
    const byte = at === undefined ? undefined : rawBody?.[at]?.toString(16).padStart(2, '0');
    return {
      expected: 'UTF-8, as for all JSON.',
      received:
        at === undefined
          ? 'Bytes that are not UTF-8.'
          : `Byte 0x${byte} at offset ${at} (hex ${at.toString(16)}) is not valid there.`,
    };
  },
  'body-not-json': ({ rawBody }) => ({
    ...(rawBody === undefined ? {} : brokenJson(rawBody)),
  }),
  'not-a-notification': ({ rawBody }) => ({
    expected: 'The envelope (id, type, at, data), and in data the fields that identify the object and its state.',
    points: issuesOf(rawBody),
  }),
  'inbox-failed': explainNotStored,
  'sink-failed': explainNotStored,
  'internal-error': () => ({
    fix: 'Look for "internal-error" in the log of the receiver: that entry contains the error.',
  }),
  'connection-closed': () => ({
    fix: 'Check whether the timeout of the sender is too short, and whether a proxy in between closed the connection.',
  }),
  'not-http': () => ({
    fix: 'Is the sender configured with https:// for this address? The proxy forwards plain HTTP.',
  }),
  'body-not-kept': () => ({}),
};

function explainNotStored({ reason }: RecordedDelivery): Details {
  return {
    received: reason ?? '',
    fix: 'The delivery itself is valid. Fix the store; the sender will deliver again.',
  };
}

function explainReason(
  code: string,
  delivery: RecordedDelivery,
  names: HeaderNames,
  inScheme: SchemeWords | undefined,
): OutcomeExplanation | undefined {
  if (!isDeliveryReason(code)) return undefined;
  if (inScheme === undefined || !code.startsWith('signature-')) {
    return { title: DELIVERY_REASONS[code], ...BY_REASON[code](delivery, names) };
  }
  const title = code === 'signature-missing' ? 'A header of the scheme is missing.' : DELIVERY_REASONS[code];
  return { title, expected: inScheme.expected, points: inScheme.points };
}

/** Explains the outcome of a delivery; in the scheme of another service, with what was found out about it. */
export function explainOutcome(
  delivery: RecordedDelivery,
  names: HeaderNames,
  inScheme?: SchemeWords,
): OutcomeExplanation {
  if (delivery.forwarded !== undefined) return explainForwarded(delivery, names, inScheme);
  if (delivery.outcome === 'accepted' && inScheme !== undefined) return { title: 'Accepted: every check passed.' };
  if (delivery.outcome === 'accepted') {
    return delivery.duplicate
      ? { title: 'Accepted as a duplicate: a notification with this id was received before, and is not handled again.' }
      : { title: 'Accepted: every check passed, and the notification was stored.' };
  }
  const { reasonCode = '', reasonDetail: received } = delivery;
  const finding = explainReason(reasonCode, delivery, names, inScheme);
  if (finding !== undefined) return { ...(received !== undefined && { received }), ...finding };
  return { title: `Not accepted: ${delivery.reason ?? 'no reason was given'}.` };
}

/** Explains the answer of the other receiver, and then the faults of the delivery. */
function explainForwarded(
  delivery: RecordedDelivery,
  names: HeaderNames,
  inScheme: SchemeWords | undefined,
): OutcomeExplanation {
  const { status, reasonCode = '', outcome, forwarded } = delivery;
  const finding = explainReason(reasonCode, delivery, names, inScheme);
  const { accepts = '200', rejects = 'a 4xx' } = inScheme ?? {};
  if (outcome === 'aborted') {
    if (finding !== undefined && reasonCode === 'connection-closed') {
      return { title: 'The connection was closed before the request was complete, and there was no answer.' };
    }
    const title = 'The connection was closed before the receiver answered.';
    return finding === undefined
      ? { title, fix: 'Is the receiver running, and did the sender wait long enough? See the log of the receiver.' }
      : { ...finding, title: `${title} ${finding.title}` };
  }
  if (finding !== undefined && forwarded?.answered === 'unsafe') {
    return { ...finding, title: `The receiver ${acceptedInWords(reasonCode, inScheme !== undefined)} (${status}).` };
  }
  const answered = `The receiver answered ${status === 0 ? 'with bytes that are not HTTP' : status}`;
  if (finding !== undefined) {
    const expected = forwarded?.answered === 'incorrect' ? `, where ${rejects} is expected` : '';
    return { ...finding, title: `${answered}${expected}. ${finding.title}` };
  }
  if (forwarded?.checked !== true) {
    return {
      title: `${answered}. Neither a secret nor an API key is configured here, so no credentials were checked.`,
      fix: 'Set HOOKPROOF_SECRET or HOOKPROOF_API_KEY for the proxy, to see why a signature or key does not match.',
    };
  }
  if (forwarded.answered === undefined) {
    return {
      title: `${answered}. The request has a credential that is not configured here, so it is not known to be valid.`,
      fix: 'Set both HOOKPROOF_SECRET and HOOKPROOF_API_KEY for the proxy.',
    };
  }
  if (outcome === 'accepted') return { title: `${answered}, as expected: the delivery is valid.` };
  return {
    title: `${answered} to a valid delivery.`,
    expected: `${accepts}: the credentials are correct for these bytes and the secret or key configured here.`,
    received: `${status}. The answer is shown below.`,
    fix:
      status === 401 || inScheme !== undefined
        ? 'Compare the secret and the key of the receiver with those configured here, and check that it verifies the ' +
          'body as received, before any parser.'
        : 'See the log of the receiver. The path of the URL is forwarded as it is.',
  };
}

function similarHeader(headers: RecordedDelivery['headers']): string {
  const similar = headers.find(([name]) => /sign|hmac/i.test(name));
  return similar === undefined
    ? 'No such header.'
    : `No such header, but there is one named ${similar[0].slice(0, 100)}.`;
}

function signatureShape(values: readonly string[]): string {
  if (values.length > 1) return `The header ${values.length} times.`;
  const value = values[0] ?? '';
  if (value === '') return 'An empty header.';
  const length = value.length === 1 ? '1 character' : `${value.length} characters`;
  return [`${length}.`, ...headerShape(value).findings.map(({ title }) => title)].join(' ');
}

function brokenJson(body: Buffer): Partial<OutcomeExplanation> {
  if (body.length === 0) return { expected: 'A JSON object.', received: 'An empty body.' };
  if (body.length > SEARCH_UP_TO) return { expected: 'A JSON object.' };
  const text = body.toString('utf8');
  const fault = jsonFault(text);
  if (fault === undefined) return { expected: 'A JSON object.' };
  const at = Buffer.byteLength(text.slice(0, fault.at));
  const place = `at offset ${at} (hex ${at.toString(16)})`;
  const received = at >= body.length ? `The body ends ${place}.` : `Something else ${place}.`;
  return { expected: WORDS[fault.expected], received };
}

/** Returns the position of the first byte that is not valid UTF-8. A U+FFFD that the sender encoded is valid. */
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

const STRING = String.raw`"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"`;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const TOKEN = new RegExp(`${STRING}|${NUMBER}|true|false|null|[{}[\\],:]`, 'y');
const SPACE = /[ \t\r\n]*/y;

/** What JSON allows at a position in the text. */
type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

const WORDS: Readonly<Record<Expected, string>> = {
  value: 'A value.',
  'value-or-end': 'A value or ].',
  key: 'A key in quotes.',
  'key-or-end': 'A key in quotes or }.',
  colon: 'A colon.',
  'comma-or-end': 'A comma or the end.',
  nothing: 'Nothing more.',
};

/**
 * Finds where a text stops being JSON, and what was expected there. `at` counts UTF-16 code units. Returns undefined
 * for valid JSON.
 */
export function jsonFault(text: string): { readonly at: number; readonly expected: Expected } | undefined {
  const stack: ('[' | '{')[] = [];
  let expected: Expected = 'value';
  let at = 0;
  const afterValue = (): Expected => (stack.length === 0 ? 'nothing' : 'comma-or-end');

  function step(token: string): Expected | undefined {
    const opener = stack.at(-1);
    if (expected === 'colon') return token === ':' ? 'value' : undefined;
    if (expected === 'comma-or-end' && token === ',') return opener === '{' ? 'key' : 'value';
    const mayClose = expected.endsWith('-or-end');
    if (mayClose && token === (opener === '{' ? '}' : ']')) {
      stack.pop();
      return afterValue();
    }
    if (expected === 'key' || expected === 'key-or-end') return token.startsWith('"') ? 'colon' : undefined;
    if ((expected !== 'value' && expected !== 'value-or-end') || /^[}\],:]?$/.test(token)) return undefined;
    if (token !== '[' && token !== '{') return afterValue();
    stack.push(token);
    return token === '[' ? 'value-or-end' : 'key-or-end';
  }

  for (;;) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)?.[0].length ?? 0;
    if (at >= text.length) return expected === 'nothing' ? undefined : { at, expected };
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0] ?? '';
    const next = step(token);
    if (next === undefined) return { at, expected };
    expected = next;
    at += token.length;
  }
}
