/**
 * node:http with as much of the work as BENCH_WORK says: only the reply, the credentials too, or all that our receiver
 * does without a store.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { readNotification } from '../../../../contract/index.ts';
import { checkApiKey, verifySignature } from '../../../../receiver/index.ts';
import { remember } from './known-ids.ts';
import { API_KEY, SECRET, serveVariant } from './serve-variant.ts';

const keys = [API_KEY];
const secrets = [SECRET];
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

interface Answer {
  readonly status: number;
  readonly text: string;
}
const ACCEPTED: Answer = { status: 200, text: '{"status":"accepted"}' };
const DUPLICATE: Answer = { status: 200, text: '{"status":"duplicate"}' };
const UNAUTHORISED: Answer = { status: 401, text: '{"error":"unauthorized"}' };
const MALFORMED: Answer = { status: 400, text: '{"error":"malformed"}' };

/** The checks are the pure functions of the reference receiver, called as anyone can call them. */
type Judge = (request: IncomingMessage, body: Buffer) => Answer;

const reply: Judge = () => ACCEPTED;

const credentials: Judge = ({ headers }, body) => {
  const known =
    checkApiKey({ header: headers['x-api-key'], keys }).ok &&
    verifySignature({ rawBody: body, header: headers['x-service-signature'], secrets }).ok;
  return known ? ACCEPTED : UNAUTHORISED;
};

const everything: Judge = (request, body) => {
  const first = credentials(request, body);
  if (first !== ACCEPTED) return first;
  try {
    const reading = readNotification(JSON.parse(utf8.decode(body)));
    if (!reading.ok) return MALFORMED;
    return remember(reading.notification.id) === 'stored' ? ACCEPTED : DUPLICATE;
  } catch {
    return MALFORMED;
  }
};

const WORK: Readonly<Record<string, Judge>> = { reply, credentials, everything };
const judge = WORK[process.env.BENCH_WORK ?? ''];
if (judge === undefined) throw new Error('BENCH_WORK is none of reply, credentials, everything');

serveVariant(
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { status, text } = judge(request, Buffer.concat(chunks));
      response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length });
      response.end(text);
    });
  }),
);
