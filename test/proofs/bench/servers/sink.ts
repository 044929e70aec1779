/**
 * The server that senders are measured against. It answers 200 to every request as cheaply as possible, over HTTP or
 * (with BENCH_KEY and BENCH_CERT) HTTPS.
 */
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { announce, stayAwake } from './server-process.ts';

const ANSWER = [
  'HTTP/1.1 200 OK',
  'Content-Type: application/json',
  'Content-Length: 21',
  'Connection: keep-alive',
  '',
  '{"status":"accepted"}',
].join('\r\n');

/** Serves one connection. A sender waits for the answer before it sends the next request. */
function serve(socket: Socket): void {
  let request = '';
  socket.on('data', (chunk) => {
    request += chunk.toString('latin1');
    const head = request.indexOf('\r\n\r\n');
    if (head === -1) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(request.slice(0, head))?.[1];
    if (request.length < head + 4 + Number(length)) return;
    request = '';
    socket.write(ANSWER, 'latin1');
  });
  socket.on('error', () => socket.destroy());
}

const { BENCH_KEY: key, BENCH_CERT: cert } = process.env;
const server = key === undefined || cert === undefined ? createServer(serve) : createTlsServer({ key, cert }, serve);
server.listen(0, '127.0.0.1', () => announce((server.address() as AddressInfo).port));
if (process.env.BENCH_AWAKE !== undefined) stayAwake();
