/**
 * Two checkouts send the same requests: `npm run proofs -- same-requests OTHER`, where OTHER is another checkout that
 * is built. Both run the catalogue with one seed against one receiver, through a proxy that records every byte.
 * Requests are compared but for ids, times, signatures, lengths and `Connection`; exits with 1 when a request of one
 * has no equal in the other. How often the plain valid delivery is sent depends on time: its counts are printed only.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { CLI, CREDENTIALS, startReceiver } from './bench/processes.ts';

/** What the runs of a checkout send on each of their connections. */
async function record(root: string, targetPort: number): Promise<string[]> {
  const connections: Buffer[][] = [];
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const pieces: Buffer[] = [];
    connections.push(pieces);
    client.on('data', (piece) => pieces.push(piece));
    const target = connect({ host: '127.0.0.1', port: targetPort, allowHalfOpen: true });
    forward(client, target);
    forward(target, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const args = ['run', `http://127.0.0.1:${port}/hooks`, '--seed', 'the-same'];
  const child = spawn(process.execPath, [resolve(root, CLI), ...args], { env: CREDENTIALS, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  server.close();
  if (code !== 0) throw new Error(`the run of ${root} exited with ${code}`);
  return connections.map((pieces) => Buffer.concat(pieces).toString('latin1'));
}

function forward(from: Socket, to: Socket): void {
  from.setNoDelay(true);
  from.on('data', (piece) => to.write(piece));
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}

const METHODS = 'GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|PROPFIND|FROBNICATE';
const REQUEST_LINE = new RegExp(`(?:${METHODS}) /[^ \\r\\n"{}]* HTTP/1\\.[01]\\r\\n`, 'gi');

/** How often each request was sent, without what differs between two runs. */
function requestsIn(connections: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of connections) {
    const starts = new Set([0, ...[...text.matchAll(REQUEST_LINE)].map(({ index }) => index)]);
    const at = [...starts];
    for (const [number, start] of at.entries()) {
      const shape = shapeOf(text.slice(start, at[number + 1]));
      counts.set(shape, (counts.get(shape) ?? 0) + 1);
    }
  }
  return counts;
}

const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [/\r\nConnection: [^\r]*/gi, ''],
  [/\r\nContent-Length: \d+/gi, '\r\nContent-Length: N'],
  [/127\.0\.0\.1:\d+/g, 'HOST'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, 'UUID'],
  [/(signature[^:=\r\n]{0,20}: )[^\r\n]+/gi, '$1SIGNATURE'],
  [/(signature[^:=\r\n]{0,20}=)[^\r\n& ]+/gi, '$1SIGNATURE'],
  [/(Content-MD5: ).+/gi, '$1MD5'],
  [/-[a-z0-9]{12}(?![a-z0-9])/g, '-RANDOM'],
  [/0x[0-9a-f]{16,}/gi, 'HASH'],
  [/[0-9a-f]{32,}/gi, 'HEX'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, 'TIME'],
  [/(?<!\d)1[67]\d{8}(?!\d)/g, 'EPOCH'],
  [/(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{43,44}={0,2}(?![A-Za-z0-9+/_-])/g, 'BASE64'],
];

/** A body that is compressed, or in two bytes a character, hides its ids: only its head is compared. */
function shapeOf(request: string): string {
  const end = request.indexOf('\r\n\r\n');
  const head = end === -1 ? request : request.slice(0, end);
  const body = end === -1 ? '' : request.slice(end);
  const isOpaque = /content-encoding: |charset=/i.test(head) || body.includes('\0');
  const text = isOpaque ? `${head}\r\n\r\nOPAQUE` : head + body;
  return VARIABLE.reduce((shape, [pattern, name]) => shape.replace(pattern, name), text);
}

const [other] = process.argv.slice(2);
if (other === undefined) {
  console.error('same-requests takes the folder of another checkout that is built');
  process.exitCode = 2;
} else {
  const receiver = await startReceiver([], CREDENTIALS);
  try {
    const port = Number(new URL(receiver.url).port);
    const [theirs, ours] = [requestsIn(await record(other, port)), requestsIn(await record('.', port))];
    const sum = (counts: Map<string, number>) => [...counts.values()].reduce((total, count) => total + count, 0);
    console.log(`requests: ${sum(theirs)} before, ${sum(ours)} now; different ones: ${theirs.size} and ${ours.size}`);
    const lost = [...theirs.keys()].filter((shape) => !ours.has(shape));
    const added = [...ours.keys()].filter((shape) => !theirs.has(shape));
    for (const shape of lost) console.log(`only before: ${JSON.stringify(shape.slice(0, 600))}`);
    for (const shape of added) console.log(`only now: ${JSON.stringify(shape.slice(0, 600))}`);
    console.log(lost.length + added.length === 0 ? 'every request has its equal' : 'FAILED');
    if (lost.length + added.length > 0) process.exitCode = 1;
  } finally {
    receiver.close();
  }
}
