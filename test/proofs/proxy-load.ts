/**
 * Sends 10,000 deliveries to the reference receiver, without and with `hookproof proxy` in front of it, and attacks the
 * proxy with hostile clients. Prints throughput, latency and the memory of the proxy, and fails if memory grows without
 * bound. Run by `npm run proofs -- proxy`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { signatureOf } from '../../contract/signing/index.ts';
import { MAIN } from '../cli/hookproof.ts';

const DELIVERIES = 10_000;
const CONNECTIONS = 16;
/** Maximum memory, in MiB. The hostile clients send far more, so unbounded memory would exceed it. */
const MAX_MEMORY_MIB = 512;

const secret = randomBytes(32).toString('base64');
const folder = await mkdtemp(join(tmpdir(), 'hookproof-load-'));
const env = { ...process.env, HOOKPROOF_SECRET: secret, XDG_STATE_HOME: folder };
const children: ChildProcess[] = [];

async function started(...args: string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [MAIN, ...args, '--port', '0'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  let said = '';
  for await (const data of child.stderr) {
    said += data;
    const url = /listening at (\S+)/.exec(said)?.[1];
    if (url === undefined) continue;
    child.stderr.resume();
    return { child, url };
  }
  throw new Error(said);
}

function memoryMib({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

const BODY = Buffer.from(
  JSON.stringify({
    id: '7e57ca5e-0000-4000-8000-000000000001',
    type: 'WALLET',
    at: '2026-01-01T00:00:00Z',
    data: { operation: 'WALLET_CREATED', customerId: 'c', walletAddress: 'w', assetId: 'BTC', chain: 'bitcoin' },
  }),
);
const HEADERS = {
  'Content-Type': 'application/json',
  'Content-Length': BODY.length,
  'X-Service-Signature': signatureOf(BODY, secret),
};

function deliver(url: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: HEADERS, agent }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', reject).end(BODY);
  });
}

async function measure(name: string, url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  for (let warm = 0; warm < 500; warm += 1) await deliver(url, agent);
  const took: number[] = [];
  let left = DELIVERIES;
  let refused = 0;
  const start = performance.now();
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const sent = performance.now();
      if ((await deliver(url, agent)) !== 200) refused += 1;
      took.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  const seconds = (performance.now() - start) / 1000;
  agent.destroy();
  took.sort((a, b) => a - b);
  const at = (share: number) => (took[Math.floor(took.length * share)] ?? 0).toFixed(1);
  const rate = Math.round(DELIVERIES / seconds).toLocaleString('en');
  console.log(
    `${name}: ${rate} deliveries a second, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${refused} not answered 200`,
  );
  if (refused > 0) process.exitCode = 1;
}

const HOSTILE: Readonly<Record<string, (socket: Socket) => void>> = {
  'half-open, silent': () => {},
  'headers of 1 MB that never end': (socket) => {
    socket.write(`POST / HTTP/1.1\r\nX-Long: ${'x'.repeat(1024 * 1024)}`);
  },
  'pipelining 1,000 requests, never reading': (socket) => {
    socket.pause();
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'.repeat(1000));
  },
  'a body of 16 MB that never ends': (socket) => {
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n');
    socket.write(Buffer.alloc(16 * 1024 * 1024));
  },
};

try {
  const receiver = await started('receiver');
  const proxy = await started('proxy', '--to', receiver.url, '--inspect', '0');
  const unkept = await started('proxy', '--to', receiver.url, '--inspect', '0', '--no-store');
  const before = memoryMib(proxy.child);
  for (const round of [1, 2]) {
    await measure(`${round} direct`, receiver.url);
    await measure(`${round} proxy, memory only`, unkept.url);
    await measure(`${round} proxy, with files`, proxy.url);
  }
  const after = memoryMib(proxy.child);
  const files = await readdir(join(folder, 'hookproof', 'deliveries'));
  console.log(`memory of the proxy: ${before} MiB before, ${after} MiB after; ${files.length} files kept`);

  const { hostname, port } = new URL(proxy.url);
  for (const [name, act] of Object.entries(HOSTILE)) {
    const count = name.startsWith('a body') ? 100 : 1500;
    const sockets = Array.from({ length: count }, () => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => {}).once('connect', () => act(socket));
      return socket;
    });
    let most = 0;
    for (let second = 0; second < 8; second += 1) {
      await pause(1000);
      most = Math.max(most, memoryMib(proxy.child));
    }
    const open = sockets.filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded).length;
    console.log(`${count} clients, ${name}: ${open} still open, memory at most ${most} MiB`);
    if (most > MAX_MEMORY_MIB) process.exitCode = 1;
    for (const socket of sockets) socket.resetAndDestroy();
    await pause(1000);
  }
  await measure('afterwards, proxy', proxy.url);
  console.log(`memory of the proxy at the end: ${memoryMib(proxy.child)} MiB`);
} finally {
  for (const child of children) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await rm(folder, { recursive: true });
}
