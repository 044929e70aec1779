/**
 * Measures how an endpoint answers, using only sockets and HMAC. It shares no code with hookproof, whose runs are
 * compared with it. Each fact is one or more requests, with the worst of their outcomes.
 */
import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { type Endpoint, factsOf, JSON_TYPE, notification, type Sending } from './probe-requests.ts';

/** `accepted` is a 2xx, `rejected` a 3xx or 4xx, `crashed` a 5xx, no answer, a closed connection or a dead process. */
type Result = 'accepted' | 'rejected' | 'crashed';

export interface Outcome {
  readonly result: Result;
  /** The status, or `closed`, `silence` or `died`. */
  readonly how: string;
}

const SILENCE_MS = 4000;
const SEEN_BYTES = 65_536;

/** Measures every fact. The map is in the order of measurement. */
export async function probe(endpoint: Endpoint): Promise<Map<string, Outcome>> {
  const answers: string[] = [];
  const facts = new Map<string, Outcome>();
  for (const [id, sendings] of factsOf(endpoint)) {
    const all = Array.isArray(sendings) ? sendings : [sendings];
    const outcomes: Outcome[] = [];
    for (const sending of all) {
      const outcome = await send(endpoint, sending, answers);
      if (outcome.result === 'crashed' || sending.cutAt !== undefined || sending.raw !== undefined) await pause(200);
      outcomes.push((await endpoint.revive()) ? { result: 'crashed', how: 'died' } : outcome);
    }
    facts.set(id, worst(outcomes, isForgery(id) ? ['accepted', 'crashed', 'rejected'] : WORST_OF_VALID));
  }
  facts.set('valid/ten-at-once', worst(await atOnce(endpoint, answers), WORST_OF_VALID));
  const hasDied = [...facts.values()].some(({ how }) => how === 'died');
  facts.set('http/stays-up', hasDied ? { result: 'crashed', how: 'died' } : { result: 'accepted', how: 'runs' });
  for (const [id, found] of leaksIn(answers, endpoint)) {
    facts.set(id, { result: found ? 'crashed' : 'accepted', how: found ? 'leaks' : 'nothing' });
  }
  return facts;
}

const WORST_OF_VALID: readonly Result[] = ['crashed', 'rejected', 'accepted'];
export const isForgery = (id: string) => /^(unsigned|forged|keyless|wrong-key)\//.test(id);

function worst(outcomes: readonly Outcome[], order: readonly Result[]): Outcome {
  const [first] = outcomes.toSorted((a, b) => order.indexOf(a.result) - order.indexOf(b.result));
  if (first === undefined) throw new Error('A fact without a request.');
  return first;
}

function atOnce(endpoint: Endpoint, answers: string[]): Promise<Outcome[]> {
  return Promise.all(Array.from({ length: 10 }, () => send(endpoint, {}, answers)));
}

function requestOf(endpoint: Endpoint, sending: Sending): [head: Buffer, body: Buffer] {
  const { method = 'POST', version = '1.1', type = JSON_TYPE, framing = 'length', headers = {} } = sending;
  const body = Buffer.from(sending.body ?? notification());
  const path = sending.path?.startsWith('?') ? endpoint.path + sending.path : (sending.path ?? endpoint.path);
  const spelled = sending.headerCase ?? ((name: string) => name);
  const signed = createHmac('sha256', endpoint.secret).update(body).digest('base64');
  const signatures = sending.signature === undefined ? [signed] : [sending.signature ?? []].flat();
  const key = sending.key === undefined ? endpoint.apiKey : sending.key;
  const { host = `127.0.0.1:${endpoint.port}` } = sending;
  const lines: [string, string][] = [
    ...(host === null ? [] : ([['Host', host]] as [string, string][])),
    ...(headers.Connection === undefined ? ([['Connection', 'close']] as [string, string][]) : []),
    ...(type === null ? [] : ([['Content-Type', type]] as [string, string][])),
    ...signatures.map((value): [string, string] => [endpoint.signatureHeader, value]),
    ...(key === null ? [] : ([['X-API-Key', key]] as [string, string][])),
    ...Object.entries({ ...endpoint.headers, ...headers }),
  ];
  if (framing === 'length') lines.push(['Content-Length', String(body.length)]);
  if (framing === 'chunked') lines.push(['Transfer-Encoding', 'chunked']);
  const { signatureInTrailer } = sending;
  if (signatureInTrailer !== undefined) lines.push(['Trailer', endpoint.signatureHeader]);
  const trailer = signatureInTrailer === undefined ? '' : `${endpoint.signatureHeader}: ${signatureInTrailer}\r\n`;
  const head = [`${method} ${path} HTTP/${version}`, ...lines.map(([name, value]) => `${spelled(name)}: ${value}`)];
  const half = Math.ceil(body.length / 2);
  const chunk = (piece: Buffer) => Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, CRLF]);
  const chunks = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0).map(chunk);
  const framed = framing === 'chunked' ? Buffer.concat([...chunks, Buffer.from(`0\r\n${trailer}\r\n`)]) : body;
  return [Buffer.from(`${head.join('\r\n')}\r\n\r\n`), framed];
}

const CRLF = Buffer.from('\r\n');

function send(endpoint: Endpoint, sending: Sending, answers: string[]): Promise<Outcome> {
  const [head, body] = sending.raw === undefined ? requestOf(endpoint, sending) : [Buffer.from(sending.raw), ''];
  const signed = createHmac('sha256', endpoint.secret).update(body).digest('base64');
  const isEcho =
    sending.signature === undefined || [sending.signature ?? []].flat().some((one) => one.includes(signed));
  return new Promise((resolve) => {
    const socket = connect(endpoint.port, '127.0.0.1');
    let seen = '';
    const finish = (how: string) => {
      clearTimeout(timer);
      socket.destroy();
      if (seen !== '') answers.push(seen.includes(signed) && !isEcho ? `${seen}${SIGNATURE_LEAK}` : seen);
      // A request that is cut off or is not HTTP may get no answer.
      const isOwed = sending.cutAt === undefined && sending.raw === undefined;
      resolve({ result: !isOwed && how === 'closed' ? 'rejected' : resultOf(how), how });
    };
    const timer = setTimeout(() => finish(finalStatus(seen) ?? 'silence'), SILENCE_MS);
    socket.on('connect', () => {
      socket.write(head);
      if (sending.cutAt !== undefined) {
        socket.end(body.slice(0, body.length * sending.cutAt));
        setTimeout(() => finish('cut'), 100);
        return;
      }
      // A sender that expects a 100 waits for it. curl waits for one second.
      if (sending.headers?.Expect !== undefined) setTimeout(() => socket.write(body), 50);
      else socket.write(body);
    });
    socket.on('data', (piece) => {
      if (seen.length < SEEN_BYTES) seen += piece.toString('latin1');
    });
    // A server may close the connection while the body is still being written. The bytes that were read before count.
    socket.on('error', () => {});
    socket.on('close', () => finish(finalStatus(seen) ?? 'closed'));
    socket.on('end', () => finish(finalStatus(seen) ?? 'closed'));
  });
}

/** Returns the status of the first answer that is not interim. Null if there is none. */
function finalStatus(text: string): string | null {
  return [...text.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => status ?? '').find((s) => s >= '200') ?? null;
}

function resultOf(how: string): Result {
  if (how === 'cut') return 'rejected';
  if (!/^\d+$/.test(how) || how >= '500') return 'crashed';
  return how >= '300' ? 'rejected' : 'accepted';
}

const STACK_TRACE = /\bat [^<\n]*\.m?js:\d+|\(node:internal|Traceback \(most recent|\.(php|rb|go):\d+/;
const ERROR_MESSAGE = /Unexpected (token|end)|in JSON at|is not valid JSON|Expecting value|ERR_|TypeError/;
const SIGNATURE_LEAK = '\n(the valid signature)';

function leaksIn(answers: readonly string[], { secret, apiKey }: Endpoint): [id: string, found: boolean][] {
  const all = answers.join('\n');
  return [
    ['leak/secret', all.includes(secret)],
    ['leak/signature', all.includes(SIGNATURE_LEAK)],
    ['leak/key', apiKey !== null && all.includes(apiKey)],
    ['leak/stack-trace', STACK_TRACE.test(all)],
    ['leak/message', ERROR_MESSAGE.test(all)],
  ];
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
