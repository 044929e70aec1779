/**
 * `npm run proofs -- attacks [NAME...]` attacks the compiled receiver, with a heap of 512 MB, without credentials and
 * with valid deliveries at the same time, and prints the figures. With names, it runs only these attacks. With
 * `--without-limits`, the receiver runs without the limit that stops each attack. Exits with 1 if a valid delivery was
 * not answered 200, or if the receiver took more than 250 MB. It is not part of `npm test`, because the result depends
 * on the machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buy, sign } from '../../receiver/deliveries.ts';
import { readExposition } from '../../receiver/observe/exposition.ts';
import { ATTACKS, type Attack } from './attackers.ts';

const CALM_MS = 4000;
const ATTACK_MS = 20_000;
const MAX_MB = 250;
const HEAP_MB = 512;
/** Number of valid senders that open a connection for each delivery, and of those that keep theirs. */
const FRESH_SENDERS = 4;
const KEPT_SENDERS = 4;
/** Pause between two deliveries of a sender, in milliseconds. */
const PAUSE_MS = 20;

const SECRET = randomBytes(32).toString('hex');
const children = new Set<ChildProcess>();

function started(command: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(process.execPath, command, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

interface Receiver {
  readonly child: ChildProcess;
  readonly url: string;
  readonly admin: string;
}

async function startReceiver(flags: readonly string[]): Promise<Receiver> {
  const main = fileURLToPath(new URL('../../../dist/bin/hookproof.js', import.meta.url));
  const command = [`--max-old-space-size=${HEAP_MB}`, main, 'receiver', '--port', '0', '--admin-port', '0', ...flags];
  const child = started(command, { PATH: process.env.PATH, HOOKPROOF_SECRET: SECRET });
  child.stdout.resume();
  let stderr = '';
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    stderr += chunk;
    const [, url] = /listening at (\S+)\n/.exec(stderr) ?? [];
    const [, admin] = /health and metrics at (\S+)\n/.exec(stderr) ?? [];
    if (url === undefined || admin === undefined) continue;
    child.stderr.resume();
    return { child, url, admin };
  }
  throw new Error(`the receiver did not start: ${stderr}`);
}

/** Returns the peak memory of a process, in megabytes. Linux only. */
function peakMb({ pid }: ChildProcess): number {
  const [, kb] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kb) / 1024);
}

/** Returns what the receiver counted about its connections, without zeros. */
async function counted(admin: string): Promise<string> {
  const answer = await fetch(new URL('/metrics', admin), { signal: AbortSignal.timeout(10_000) }).catch(() => null);
  if (answer === null) return 'no answer';
  const samples = readExposition(await answer.text());
  const closed = (samples.get('hookproof_receiver_connections_dropped_total') ?? [])
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => `${value} ${labels.why}`);
  return closed.join(', ') || 'none';
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

/** Lets valid senders deliver for this many milliseconds. */
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

/** Returns the problem. Null if the receiver withstood the attack. */
async function measure(attack: Attack, withoutLimits: boolean): Promise<string | null> {
  const { child, url, admin } = await startReceiver(withoutLimits ? attack.without : []);
  await sendFor(url, 1000);
  const before = await sendFor(url, CALM_MS);
  const memory = peakMb(child);

  const program = fileURLToPath(new URL('attackers.ts', import.meta.url));
  const attackers = started([...process.execArgv, program, new URL(url).port, attack.name]);
  const attackEnded = once(attackers, 'close');
  let report = '';
  attackers.stdout.on('data', (chunk) => (report += chunk));
  attackers.stderr.pipe(process.stderr);
  const during = await sendFor(url, ATTACK_MS);
  const alive = child.exitCode === null && child.signalCode === null;
  const closed = alive ? await counted(admin) : 'the receiver has ended';
  const peak = alive ? peakMb(child) : Number.NaN;
  attackers.stdin.end();
  await attackEnded;
  const after = alive ? await sendFor(url, CALM_MS) : null;
  const exited = alive ? once(child, 'exit') : null;
  child.kill('SIGTERM');
  await exited;

  process.stdout.write(
    `\n${attack.name}: ${attack.connections} connections, ${attack.what}\n` +
      `${withoutLimits ? `WITHOUT its limit: ${attack.without.join(' ')}\n` : ''}\n` +
      '| valid deliveries | answered 200 | other outcomes | p50 | p99 | max |\n' +
      '| --- | --- | --- | --- | --- | --- |\n' +
      rowOf('before', before) +
      rowOf('during the attack', during) +
      (after === null ? '' : rowOf('after', after)) +
      `\npeak memory: before ${memory} MB, during ${peak} MB (exit code ${child.exitCode})\n` +
      `connections closed by the receiver: ${closed}\nseen by the attackers: ${report}\n`,
  );
  const lost = [before, during, after].some((phase) => phase === null || phase.others.size > 0);
  if (lost || during.latencies.length === 0) return `${attack.name}: valid deliveries were not answered 200`;
  const { maxMb = MAX_MB } = attack;
  return peak <= maxMb ? null : `${attack.name}: the receiver took more than ${maxMb} MB`;
}

const { values, positionals } = parseArgs({
  options: { 'without-limits': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const chosen = ATTACKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
try {
  const failures: string[] = [];
  for (const attack of chosen)
    failures.push(...[await measure(attack, values['without-limits'])].filter((one) => one !== null));
  for (const failure of failures) process.stdout.write(`✗ ${failure}\n`);
  process.exitCode = failures.length === 0 && chosen.length > 0 ? 0 : 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
}
