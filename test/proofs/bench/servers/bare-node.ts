/**
 * node:http alone, with the credential checks, or with everything that our receiver does without a store: BENCH_WORK.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { readNotification } from '../../../../contract/index.ts';
import { checkApiKey, verifySignature } from '../../../../receiver/index.ts';
import { API_KEY, remember, SECRET, serveVariant } from './server-process.ts';

const keys = [API_KEY];
const secrets = [SECRET];
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

interface Answer {
  readonly status: number;
  readonly text: string;
}
const ACCEPTED: Answer = { status: 200, text: '{"status":"accepted"}' };
const DUPLICATE: Answer = { status: 200, text: '{"status":"duplicate"}' };
const UNAUTHORIZED: Answer = { status: 401, text: '{"error":"unauthorized"}' };
const MALFORMED: Answer = { status: 400, text: '{"error":"malformed"}' };

/** The checks are the pure functions that the reference receiver exports. */
type Handle = (request: IncomingMessage, body: Buffer) => Answer;

const reply: Handle = () => ACCEPTED;

const credentials: Handle = ({ headers }, body) => {
  const known =
    checkApiKey({ header: headers['x-api-key'], keys }).ok &&
    verifySignature({ rawBody: body, header: headers['x-service-signature'], secrets }).ok;
  return known ? ACCEPTED : UNAUTHORIZED;
};

const everything: Handle = (request, body) => {
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

const WORK: Readonly<Record<string, Handle>> = { reply, credentials, everything };
const handle = WORK[process.env.BENCH_WORK ?? ''];
if (handle === undefined) throw new Error('BENCH_WORK must be reply, credentials or everything');

serveVariant(
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { status, text } = handle(request, Buffer.concat(chunks));
      response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length });
      response.end(text);
    });
  }),
);
