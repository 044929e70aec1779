/** The compiled program in a new process: how long `--help` takes, and how long the whole catalogue takes. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { DEFAULT_CONCURRENCY } from '../../../harness/run/pace.ts';
import type { Table, Target } from './page.ts';
import { CLI, CREDENTIALS, compile, compiled, OLD, startProxy, startReceiver, stop, time } from './processes.ts';
import { interleaved, median, pairedRatio, type Ratio, ratioInWords } from './rounds.ts';

const HELP_ROUNDS = 15;
const RUN_ROUNDS = 9;
const DISTANT_ROUNDS = 2;
/** Delay in each direction for the distant endpoint, in milliseconds. */
const ONE_WAY_MS = 25;

export interface HelpResult {
  readonly helpMs: number;
  readonly emptyMs: number;
  readonly ratio: Ratio;
}

/** Measures `--help` and an empty Node process alternately. */
export function measureHelp(): HelpResult {
  const empty: number[] = [];
  const help: number[] = [];
  for (let round = -1; round < HELP_ROUNDS; round++) {
    const base = time(['-e', '0']);
    const ours = time([CLI, '--help']);
    if (round < 0) continue; // warm-up
    empty.push(base);
    help.push(ours);
  }
  return { helpMs: median(help), emptyMs: median(empty), ratio: pairedRatio(help, empty) };
}

/** The measurements of each round: a run, or the bare client. */
type Variant = 'bare' | 'plain' | 'secure' | 'oldPlain' | 'oldSecure';
const ALL: readonly Variant[] = ['bare', 'plain', 'secure', 'oldPlain', 'oldSecure'];

/** One run of the whole catalogue. */
interface RunSample {
  readonly wallMs: number;
  /** Duration in milliseconds, without the start and end of the process. */
  readonly runMs: number;
  readonly requests: number;
  readonly judged: number;
  readonly planned: number;
}

interface RunResults {
  readonly bare: { readonly wallMs: readonly number[]; readonly requests: number };
  readonly plain: readonly RunSample[];
  readonly secure: readonly RunSample[];
  readonly distant: readonly RunSample[];
  /** The runs of another checkout. Empty without one. */
  readonly oldPlain: readonly RunSample[];
  readonly oldSecure: readonly RunSample[];
}

/**
 * Measures the whole catalogue over HTTP and over HTTPS with mutual TLS, interleaved with the bare client, and the
 * catalogue over a slow connection. The bare client sends as many requests as a run over HTTP, to the same receiver.
 */
export async function measureRuns(): Promise<RunResults> {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-bench-'));
  const { config, server } = writeCertificates(folder);
  await compile(['servers/delaying-proxy.ts', 'bare-run.ts']);
  const [plain, secure] = await Promise.all([startReceiver([], CREDENTIALS), startReceiver(server, CREDENTIALS)]);
  const securePort = new URL(secure.url).port;
  const proxy = await startProxy(Number(securePort), ONE_WAY_MS);
  const file = join(folder, 'run.json');
  const runOf = (root: string, url: string, ...args: string[]): RunSample => {
    const wallMs = time([join(root, CLI), 'run', url, '--reporter', `json=${file}`, ...args], CREDENTIALS);
    const { requests, judged, planned, durationMs } = readRun(file);
    return { wallMs, requests, judged, planned, runMs: durationMs };
  };
  const run = (url: string, ...args: string[]) => runOf('.', url, ...args);
  const tls = (port: number | string) => [`https://localhost:${port}/hooks`, '--config', config] as const;
  const overTls = (port: number | string) => run(...tls(port));
  try {
    run(plain.url, '--evidence');
    const sizes = bodySizes(readRun(file));
    const bareClient = {
      ...process.env,
      BENCH_URL: plain.url,
      BENCH_SECRET: CREDENTIALS.HOOKPROOF_SECRET,
      BENCH_API_KEY: CREDENTIALS.HOOKPROOF_API_KEY,
      BENCH_SIZES: join(folder, 'sizes.json'),
      BENCH_IN_FLIGHT: String(DEFAULT_CONCURRENCY),
    };
    writeFileSync(bareClient.BENCH_SIZES, JSON.stringify(sizes));
    const samples = {
      bare: [] as number[],
      ...{ plain: [] as RunSample[], secure: [] as RunSample[] },
      ...{ oldPlain: [] as RunSample[], oldSecure: [] as RunSample[] },
    };
    const measures: Readonly<Record<Variant, () => void>> = {
      bare: () => void samples.bare.push(time([compiled('bare-run.ts')], bareClient)),
      plain: () => void samples.plain.push(run(plain.url)),
      secure: () => void samples.secure.push(overTls(securePort)),
      oldPlain: () => void samples.oldPlain.push(runOf(OLD ?? '.', plain.url)),
      oldSecure: () => void samples.oldSecure.push(runOf(OLD ?? '.', ...tls(securePort))),
    };
    const variants: readonly Variant[] = OLD === undefined ? ['bare', 'plain', 'secure'] : ALL;
    // The first round is the warm-up.
    await interleaved(variants, 1 + RUN_ROUNDS, async (variant) => measures[variant]());
    return {
      bare: { wallMs: samples.bare.slice(1), requests: sizes.length },
      plain: samples.plain.slice(1),
      secure: samples.secure.slice(1),
      oldPlain: samples.oldPlain.slice(1),
      oldSecure: samples.oldSecure.slice(1),
      distant: Array.from({ length: DISTANT_ROUNDS }, () => overTls(proxy.port)),
    };
  } finally {
    await stop(proxy.process);
    plain.close();
    secure.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function readRun(file: string): ResultDocument {
  return JSON.parse(readFileSync(file, 'utf8')) as ResultDocument;
}

/**
 * Returns the size of the body of every request of a run. The bodies of controls, which checks share, all have the same
 * size; bodies that are too large for the receiver count as one of them, because the receiver does not read these.
 */
function bodySizes({ results, requests }: ResultDocument): number[] {
  const exchanges = results.flatMap((result) => result.exchanges);
  const sizeOf = ({ request }: (typeof exchanges)[number]) => request.body.length;
  const control = sizeOf(exchanges.find(({ role }) => role === 'control') ?? exchanges[0] ?? fail());
  const probes = exchanges
    .filter(({ role }) => role === 'probe')
    .map((exchange) => (exchange.response?.status === 413 ? control : sizeOf(exchange)));
  return Array.from({ length: requests }, (_, at) => probes[at] ?? control);
}

function fail(): never {
  throw new Error('the run recorded no exchange');
}

/** Certificates for both sides, with all fixtures: the run leaves out only the scenarios about revoked certificates. */
function writeCertificates(folder: string): { readonly config: string; readonly server: string[] } {
  time([CLI, 'certs', folder, '--force']);
  const fixtures = readdirSync(join(folder, 'fixtures'))
    .filter((name) => !name.includes('-key'))
    .map((name) => /^client-(.*)\.pem$/.exec(name)?.[1] ?? '')
    .map((name) => `    ${name}: { cert: fixtures/client-${name}.pem, key: fixtures/client-${name}-key.pem }`);
  const config = join(folder, 'hookproof.yaml');
  const tls = 'tls: { ca: ca.pem, client-cert: client.pem, client-key: client-key.pem }';
  writeFileSync(config, `${tls}\nmtls:\n  fixtures:\n${fixtures.join('\n')}\n`);
  const file = (name: string) => join(folder, name);
  const material = ['--tls-cert', file('server.pem'), '--tls-key', file('server-key.pem')];
  const clients = ['--client-ca', file('client-ca.pem'), '--allow-client', 'hookproof test client'];
  return { config, server: [...material, ...clients] };
}

export function helpTarget({ helpMs, emptyMs, ratio }: HelpResult): Target {
  return {
    what: '`--help` against `node -e 0`',
    target: 'at most 1.25',
    measured: `${ratioInWords(ratio)}: ${helpMs.toFixed(0)} and ${emptyMs.toFixed(0)} ms`,
    met: ratio.median <= 1.25,
  };
}

export function runTargets({ bare, plain, secure, distant }: RunResults): Target[] {
  const overBare = pairedRatio(plain.map(wallOf), bare.wallMs);
  const overPlain = pairedRatio(secure.map(wallOf), plain.map(wallOf));
  const distantMs = distant.map(wallOf);
  return [
    {
      what:
        'whole catalogue, loopback HTTP, cold process, wall time against a bare client of node:http, cold, ' +
        `that sends as many signed requests (${bare.requests})`,
      target: 'at most 1.6',
      measured: `${ratioInWords(overBare)}: ${inSeconds(plain.map(wallOf))} and ${inSeconds(bare.wallMs)}`,
      met: overBare.median <= 1.6,
    },
    {
      what: 'whole catalogue, loopback HTTPS and mutual TLS, cold process, wall time against plain HTTP',
      target: 'at most 2',
      measured: `${ratioInWords(overPlain)}: ${inSeconds(secure.map(wallOf))} and ${inSeconds(plain.map(wallOf))}`,
      met: overPlain.median <= 2,
    },
    {
      what: 'whole catalogue, HTTPS and mutual TLS, 50 ms away, cold process, wall time',
      target: 'under 20 s',
      measured: inSeconds(distantMs),
      met: median(distantMs) < 20_000,
    },
  ];
}

const wallOf = ({ wallMs }: RunSample) => wallMs;

/** Formats durations: `1.03 s (1.02 to 1.08)`. */
function inSeconds(wallMs: readonly number[]): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  return `${seconds(median(wallMs))} s (${seconds(Math.min(...wallMs))} to ${seconds(Math.max(...wallMs))})`;
}

export function runTable(results: RunResults): Table {
  const rows = (['plain', 'secure', 'distant', 'oldPlain', 'oldSecure'] as const).flatMap((name) => {
    const last = results[name].at(-1);
    if (last === undefined) return [];
    const { runMs, requests, judged, planned } = last;
    const wallMs = results[name].map(wallOf);
    const against = name === 'distant' ? '' : ratioInWords(pairedRatio(wallMs, results.bare.wallMs));
    const counts = [String(requests), `${judged} of ${planned}`];
    return [[NAMES[name], inSeconds(wallMs), against, `${(runMs / 1000).toFixed(2)} s`, ...counts]];
  });
  return {
    title: 'Runs',
    columns: [
      'whole catalogue',
      'wall time',
      'against the bare client',
      'the last without start and end of the process',
      'requests',
      'judged',
    ],
    rows,
  };
}

const NAMES = {
  plain: 'loopback HTTP',
  secure: 'loopback HTTPS and mutual TLS',
  distant: 'HTTPS and mutual TLS, 50 ms away',
  oldPlain: 'loopback HTTP, at the old commit',
  oldSecure: 'loopback HTTPS and mutual TLS, at the old commit',
};
