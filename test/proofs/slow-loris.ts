/**
 * `npm run proofs -- slow-loris`: 2,000 half-open and dripping connections against the compiled receiver, valid
 * deliveries at the same time, and the figures. It takes about 45 seconds and exits with 1 when a valid delivery was
 * not answered 200. Not part of `npm test`, because the result depends on the machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { buy, sign } from '../receiver/deliveries.ts';
import { readExposition } from '../receiver/observe/exposition.ts';

const ATTACKERS = 2000;
const CALM_MS = 5000;
const ATTACK_MS = 25_000;
/** Valid senders that open a connection for each delivery, and those that keep theirs. */
const FRESH_SENDERS = 4;
const KEPT_SENDERS = 4;
/** Between two deliveries of a sender, in milliseconds. */
const PAUSE_MS = 20;

const DRIP_MS = 1000;
const REOPEN_MS = 1000;
const BEGINNINGS = [
  '',
  'POST / HTTP/1.1\r\nHost: x\r\nX-Drip: ',
  'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n',
];

const SECRET = randomBytes(32).toString('hex');
const children: ChildProcess[] = [];

interface Receiver {
  readonly child: ChildProcess;
  readonly url: string;
  readonly admin: string;
}

async function startReceiver(): Promise<Receiver> {
  const main = new URL('../../dist/bin/hookproof.js', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, 'receiver', '--port', '0', '--admin-port', '0'], {
    env: { PATH: process.env.PATH, HOOKPROOF_SECRET: SECRET },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  let stderr = '';
  for await (const chunk of child.stderr) {
    stderr += chunk;
    const [, url, admin] = /listening at (\S+)\nhealth and metrics at (\S+)\n/.exec(stderr) ?? [];
    if (url !== undefined && admin !== undefined) return { child, url, admin };
  }
  throw new Error(`the receiver did not start: ${stderr}`);
}

/** A gauge or counter of the receiver, summed over the series with these labels. */
async function metric(admin: string, name: string, labels: Record<string, string> = {}): Promise<number> {
  const text = await (await fetch(new URL('/metrics', admin), { headers: { Connection: 'close' } })).text();
  const samples = readExposition(text).get(name) ?? [];
  return samples
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

async function memory(admin: string): Promise<string> {
  return `${Math.round((await metric(admin, 'process_resident_memory_bytes')) / 1024 / 1024)} MB`;
}

function deliver(url: string, agent: Agent): Promise<number | string> {
  const body = JSON.stringify(buy());
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-Service-Signature': sign(body, SECRET),
  };
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', agent, headers, timeout: 10_000 }, (answer) => {
      answer.resume().once('close', () => resolve(answer.complete ? (answer.statusCode ?? 0) : 'incomplete answer'));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer within 10 s')));
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(body);
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Phase {
  readonly latencies: number[];
  readonly others: Map<string, number>;
}

/** Valid senders deliver for this long. */
async function sendFor(url: string, ms: number): Promise<Phase> {
  const end = performance.now() + ms;
  const latencies: number[] = [];
  const others = new Map<string, number>();
  const sender = async (keepAlive: boolean) => {
    const agent = new Agent({ keepAlive, maxSockets: 1 });
    while (performance.now() < end) {
      const startedAt = performance.now();
      const outcome = await deliver(url, agent);
      if (outcome === 200) latencies.push(performance.now() - startedAt);
      else others.set(String(outcome), (others.get(String(outcome)) ?? 0) + 1);
      await pause(PAUSE_MS);
    }
    agent.destroy();
  };
  const kinds = [...Array(FRESH_SENDERS).fill(false), ...Array(KEPT_SENDERS).fill(true)];
  await Promise.all(kinds.map(sender));
  return { latencies: latencies.sort((a, b) => a - b), others };
}

function rowOf(name: string, { latencies, others }: Phase): string {
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const other = [...others].map(([what, count]) => `${count} x ${what}`).join(', ') || 'none';
  return `| ${name} | ${latencies.length} | ${other} | ${ms(at(0.5))} | ${ms(at(0.99))} | ${ms(at(1))} |\n`;
}

async function main(): Promise<number> {
  const { child, url, admin } = await startReceiver();
  await sendFor(url, 1000);
  const before = { phase: await sendFor(url, CALM_MS), memory: await memory(admin) };

  const program = fileURLToPath(import.meta.url);
  const attackers = spawn(process.execPath, [...process.execArgv, program, '--attack', new URL(url).port], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(attackers);
  const attackEnded = once(attackers, 'close');
  let report = '';
  attackers.stdout.on('data', (chunk) => {
    report += chunk;
  });
  let maxOpen = 0;
  let peak = '';
  const watching = setInterval(async () => {
    maxOpen = Math.max(maxOpen, await metric(admin, 'hookproof_receiver_connections_open').catch(() => 0));
    peak = await memory(admin).catch(() => peak);
  }, 1000);
  const during = await sendFor(url, ATTACK_MS);
  clearInterval(watching);
  const dropped = await metric(admin, 'hookproof_receiver_connections_dropped_total', { why: 'waiting' });
  const full = await metric(admin, 'hookproof_receiver_connections_dropped_total', { why: 'full' });
  const late = await metric(admin, 'hookproof_receiver_requests_refused_total', { status: '408' });
  attackers.stdin.end();
  await attackEnded;

  const after = { phase: await sendFor(url, CALM_MS), memory: await memory(admin) };
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = await exited;

  process.stdout.write(
    '\n| valid deliveries | answered 200 | other outcomes | p50 | p99 | max |\n' +
      '| --- | --- | --- | --- | --- | --- |\n' +
      rowOf('before', before.phase) +
      rowOf(`with ${ATTACKERS} attackers`, during) +
      rowOf('after', after.phase) +
      `\nmemory of the receiver: before ${before.memory}, during ${peak}, after ${after.memory}\n` +
      `most connections: ${maxOpen}; closed for new ones: ${dropped}; ` +
      `new ones refused: ${full}; answered 408: ${late}\n` +
      `seen by the attackers: ${report}\nexit code of the receiver after SIGTERM: ${code}\n`,
  );
  const lost = [before.phase, during, after.phase].some(({ others }) => others.size > 0);
  return lost || during.latencies.length === 0 ? 1 : 0;
}

/**
 * The attacking process: connections on which nothing, a header or a body arrives one byte at a time. A closed
 * connection is opened again after a second. At the end of its standard input the process prints its counts as JSON,
 * and ends.
 */
function attackForever(port: number, count: number): void {
  const seen = { opened: 0, closedByReceiver: 0, answered408: 0, failedToConnect: 0 };
  let over = false;

  function attack(kind: number): void {
    if (over) return;
    const socket = connect(port, '127.0.0.1');
    let connected = false;
    let timer: NodeJS.Timeout | undefined;
    socket.on('connect', () => {
      connected = true;
      seen.opened += 1;
      const beginning = BEGINNINGS[kind % BEGINNINGS.length] ?? '';
      if (beginning === '') return;
      socket.write(beginning);
      timer = setInterval(() => socket.write('a'), DRIP_MS);
    });
    socket.on('data', (chunk) => {
      if (chunk.toString('latin1').startsWith('HTTP/1.1 408 ')) seen.answered408 += 1;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(timer);
      if (over) return;
      if (connected) seen.closedByReceiver += 1;
      else seen.failedToConnect += 1;
      setTimeout(() => attack(kind), REOPEN_MS);
    });
  }

  // A few at a time, so that the kernel accepts them: a flood of connections, not of SYNs.
  let started = 0;
  const starting = setInterval(() => {
    for (let some = 0; some < 50 && started < count; some += 1) attack(started++);
    if (started >= count) clearInterval(starting);
  }, 10);

  process.stdin.resume().once('end', () => {
    over = true;
    process.stdout.write(JSON.stringify(seen), () => process.exit(0));
  });
}

if (process.argv[2] === '--attack') attackForever(Number(process.argv[3]), ATTACKERS);
else {
  const deadline = setTimeout(() => {
    process.stderr.write('the measurement did not end within two minutes\n');
    for (const child of children) child.kill('SIGKILL');
    process.exit(1);
  }, 120_000);
  try {
    process.exitCode = await main();
  } finally {
    clearTimeout(deadline);
    for (const child of children) child.kill('SIGKILL');
  }
}
