/** node:http with as much of the work as BENCH_WORK says: only the reply, with the credentials, or the whole check. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readNotification } from '../../../contract/index.ts';
import { checkApiKey, verifySignature } from '../../../receiver/index.ts';
import { API_KEY, SECRET, serveVariant } from './serve-variant.ts';

const keys = [API_KEY];
const secrets = [SECRET];
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The status of a delivery. The checks are the pure functions of the reference receiver, called as anyone can call them. */
type Judge = (request: IncomingMessage, body: Buffer) => number;

const reply: Judge = () => 200;

const credentials: Judge = ({ headers }, body) => {
  if (!checkApiKey({ header: headers['x-api-key'], keys }).ok) return 401;
  return verifySignature({ rawBody: body, header: headers['x-service-signature'], secrets }).ok ? 200 : 401;
};

const everything: Judge = (request, body) => {
  const status = credentials(request, body);
  if (status !== 200) return status;
  try {
    return readNotification(JSON.parse(utf8.decode(body))).ok ? 200 : 400;
  } catch {
    return 400;
  }
};

const WORK: Readonly<Record<string, Judge>> = { reply, credentials, everything };
const judge = WORK[process.env.BENCH_WORK ?? ''];
if (judge === undefined) throw new Error('BENCH_WORK is none of reply, credentials, everything');

function respond(response: ServerResponse, status: number): void {
  const text = status === 200 ? '{"status":"accepted"}' : '{"error":"refused"}';
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length });
  response.end(text);
}

serveVariant(
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => respond(response, judge(request, Buffer.concat(chunks))));
  }),
);
