/**
 * Checks that two checkouts send the same requests: `npm run proofs -- same-requests OTHER [--seed TEXT]...`, where
 * OTHER is the folder of another built checkout. For each seed, both run the catalogue over HTTP through a proxy that
 * records every byte, and over mutual TLS, against one receiver. Requests are compared except for ids, times,
 * signatures, lengths and `Connection`: all of them by their bytes (HTTP), and those of each check by its exchanges in
 * the report (both). Exits with 1 if a request of one checkout has no equal in the other. How often the plain valid
 * delivery is sent depends on timing, so its counts are only printed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ResultDocument } from '../../harness/report/result-document.ts';
import { findScenario } from '../../scenarios/index.ts';
import { CLI, CREDENTIALS, startReceiver } from './bench/processes.ts';

/** The bytes that the run of a checkout sends on each of its connections, and its report. */
interface Sent {
  readonly connections: readonly string[];
  readonly results: ResultDocument['results'];
}

async function runCatalogue(root: string, args: readonly string[]): Promise<ResultDocument['results']> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-same-requests-'));
  try {
    const file = join(folder, 'run.json');
    const command = [resolve(root, CLI), 'run', ...args, '--evidence', '--reporter', `json=${file}`];
    const child = spawn(process.execPath, command, { env: CREDENTIALS, stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`the run of ${root} exited with ${code}`);
    return (JSON.parse(await readFile(file, 'utf8')) as ResultDocument).results;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Runs over HTTP, through a proxy that records every byte. */
async function record(root: string, seed: string, targetPort: number): Promise<Sent> {
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
  const results = await runCatalogue(root, [`http://127.0.0.1:${port}/hooks`, '--seed', seed]);
  server.close();
  return { connections: connections.map((pieces) => Buffer.concat(pieces).toString('latin1')), results };
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

/** Counts how often each request was sent, ignoring the parts that differ between two runs. */
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

/**
 * Returns a request without the parts that differ. A body that is compressed, or has two bytes per character, hides its
 * ids, so only the head is compared.
 */
function shapeOf(request: string): string {
  const end = request.indexOf('\r\n\r\n');
  const head = end === -1 ? request : request.slice(0, end);
  const body = end === -1 ? '' : request.slice(end);
  const isOpaque = /content-encoding: |charset=/i.test(head) || body.includes('\0');
  const text = isOpaque ? `${head}\r\n\r\nOPAQUE` : head + body;
  return VARIABLE.reduce((shape, [pattern, name]) => shape.replace(pattern, name), text);
}

/** Returns the requests of each check in the order of the report, by the current id of the check. */
function requestsByCheck(results: ResultDocument['results']): Map<string, string[]> {
  return new Map(
    results.map(({ id, exchanges }) => {
      const probes = exchanges.filter(({ role }) => role === 'probe');
      const shapes = probes.map(({ request: { method, target, headers, body } }) => {
        const head = [`${method} ${target}`, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n');
        const content = body.text ?? Buffer.from(body.base64 ?? '', 'base64').toString('latin1');
        // Instead of a credential, reports show how it was created. Over HTTP, its bytes are also compared.
        return shapeOf(`${head.replace(/: \[[^\r]*\]/g, ': [MADE]')}\r\n\r\n${content}`);
      });
      return [findScenario(id)?.id ?? id, shapes];
    }),
  );
}

/** Prints the requests that only one of the two has, and returns their number. */
function compareChecks(before: ResultDocument['results'], now: ResultDocument['results']): number {
  const [theirs, ours] = [requestsByCheck(before), requestsByCheck(now)];
  const ids = [...new Set([...theirs.keys(), ...ours.keys()])];
  const different = ids.filter((id) => JSON.stringify(theirs.get(id)) !== JSON.stringify(ours.get(id)));
  for (const id of different) {
    const [old = [], fresh = []] = [theirs.get(id), ours.get(id)];
    const at = old.findIndex((shape, place) => shape !== fresh[place]);
    console.log(`  ${id}: ${old.length} before, ${fresh.length} now`);
    console.log(
      `    before: ${JSON.stringify(old[at]?.slice(0, 400))}\n    now: ${JSON.stringify(fresh[at]?.slice(0, 400))}`,
    );
  }
  const requests = [...ours.values()].reduce((total, shapes) => total + shapes.length, 0);
  console.log(`  ${ids.length - different.length} of ${ids.length} checks send the same (${requests} requests)`);
  return different.length;
}

function compareBytes(before: Sent, now: Sent): number {
  const [theirs, ours] = [requestsIn(before.connections), requestsIn(now.connections)];
  const sum = (counts: Map<string, number>) => [...counts.values()].reduce((total, count) => total + count, 0);
  console.log(`  requests: ${sum(theirs)} before, ${sum(ours)} now; different ones: ${theirs.size} and ${ours.size}`);
  const lost = [...theirs.keys()].filter((shape) => !ours.has(shape));
  const added = [...ours.keys()].filter((shape) => !theirs.has(shape));
  for (const shape of lost) console.log(`  only before: ${JSON.stringify(shape.slice(0, 600))}`);
  for (const shape of added) console.log(`  only now: ${JSON.stringify(shape.slice(0, 600))}`);
  return lost.length + added.length;
}

async function overHttp(other: string, seed: string): Promise<number> {
  const receiver = await startReceiver([], CREDENTIALS);
  try {
    const port = Number(new URL(receiver.url).port);
    const [before, now] = [await record(other, seed, port), await record('.', seed, port)];
    return compareBytes(before, now) + compareChecks(before.results, now.results);
  } finally {
    receiver.close();
  }
}

async function overMutualTls(other: string, seed: string, folder: string): Promise<number> {
  const file = (name: string) => join(folder, name);
  const tls = ['--tls-cert', file('server.pem'), '--tls-key', file('server-key.pem')];
  const receiver = await startReceiver([...tls, '--client-ca', file('client-ca.pem')], CREDENTIALS);
  const client = ['--client-cert', file('client.pem'), '--client-key', file('client-key.pem')];
  const args = [receiver.url, '--seed', seed, '--ca', file('ca.pem'), ...client];
  try {
    return compareChecks(await runCatalogue(other, args), await runCatalogue('.', args));
  } finally {
    receiver.close();
  }
}

const { values, positionals } = parseArgs({
  options: { seed: { type: 'string', multiple: true, default: ['the-same'] } },
  allowPositionals: true,
});
const [other] = positionals;
if (other === undefined) {
  console.error('same-requests takes the folder of another checkout that is built');
  process.exitCode = 2;
} else {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-same-requests-'));
  const made = spawnSync(process.execPath, [CLI, 'certs', folder, '--host', 'localhost', '--host', '127.0.0.1']);
  if (made.status !== 0) throw new Error(made.stderr.toString());
  let different = 0;
  try {
    for (const seed of values.seed) {
      console.log(`seed ${seed}, HTTP`);
      different += await overHttp(other, seed);
      console.log(`seed ${seed}, mutual TLS`);
      different += await overMutualTls(other, seed, folder);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  console.log(different === 0 ? 'every request has its equal' : 'FAILED');
  if (different > 0) process.exitCode = 1;
}
