/** The compiled program in a new process: how long `--help` takes, and how long the whole catalogue takes. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Table, Target } from './page.ts';
import { CLI, CREDENTIALS, compile, startProxy, startReceiver, stop, time } from './processes.ts';
import { median, pairedRatio, type Ratio, ratioInWords } from './rounds.ts';

const HELP_ROUNDS = 15;
const RUN_ROUNDS = 5;
const DISTANT_ROUNDS = 2;
/** Delay to and from the distant endpoint. */
const ONE_WAY_MS = 25;

export interface HelpResult {
  readonly helpMs: number;
  readonly emptyMs: number;
  readonly ratio: Ratio;
}

/** `--help` and an empty Node process, alternately. */
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

/** Runs of the whole catalogue. */
interface RunResult {
  readonly wallMs: readonly number[];
  /** The last run, without start and end of the process. */
  readonly runMs: number;
  readonly requests: number;
  readonly judged: number;
  readonly planned: number;
}

interface RunResults {
  readonly plain: RunResult;
  readonly secure: RunResult;
  readonly distant: RunResult;
}

/** The whole catalogue over HTTP and over HTTPS with mutual TLS, alternately, and over a slow connection. */
export async function measureRuns(): Promise<RunResults> {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-bench-'));
  const { config, server } = writeCertificates(folder);
  await compile(['servers/delaying-proxy.ts']);
  const [plain, secure] = await Promise.all([startReceiver([], CREDENTIALS), startReceiver(server, CREDENTIALS)]);
  const proxy = await startProxy(Number(new URL(secure.url).port), ONE_WAY_MS);
  const run = (url: string, ...args: string[]) => {
    const file = join(folder, 'run.json');
    const wallMs = time([CLI, 'run', url, '--reporter', `json=${file}`, ...args], CREDENTIALS);
    const { requests, judged, planned, durationMs } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
    return { wallMs, requests: requests ?? 0, judged: judged ?? 0, planned: planned ?? 0, runMs: durationMs ?? 0 };
  };
  const overTls = (port: number | string) => run(`https://localhost:${port}/hooks`, '--config', config);
  try {
    const runs = {
      plain: [run(plain.url)],
      secure: [overTls(new URL(secure.url).port)],
      distant: [] as ReturnType<typeof run>[],
    };
    for (let round = 0; round < RUN_ROUNDS; round++) {
      runs.plain.push(run(plain.url));
      runs.secure.push(overTls(new URL(secure.url).port));
    }
    for (let round = 0; round < DISTANT_ROUNDS; round++) runs.distant.push(overTls(proxy.port));
    const summary = (list: ReturnType<typeof run>[]): RunResult => ({
      ...(list.at(-1) as ReturnType<typeof run>),
      wallMs: list.map(({ wallMs }) => wallMs),
    });
    // The first run of each was the warm-up.
    return {
      plain: summary(runs.plain.slice(1)),
      secure: summary(runs.secure.slice(1)),
      distant: summary(runs.distant),
    };
  } finally {
    await stop(proxy.process);
    plain.close();
    secure.close();
    rmSync(folder, { recursive: true, force: true });
  }
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

export function runTargets({ plain, secure, distant }: RunResults): Target[] {
  return [
    runTarget('whole catalogue, loopback HTTP', plain, 1),
    runTarget('whole catalogue, loopback HTTPS and mutual TLS', secure, 3),
    runTarget('whole catalogue, HTTPS and mutual TLS, 50 ms away', distant, 20),
  ];
}

function runTarget(what: string, result: RunResult, limit: number): Target {
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  const { wallMs } = result;
  const range = `${seconds(Math.min(...wallMs))} to ${seconds(Math.max(...wallMs))}`;
  return {
    what: `${what}, cold process, wall time`,
    target: `under ${limit} s`,
    measured: `${seconds(median(wallMs))} s (${range})`,
    met: median(wallMs) < limit * 1000,
  };
}

export function runTable(results: RunResults): Table {
  const rows = (['plain', 'secure', 'distant'] as const).map((name) => {
    const { runMs, requests, judged, planned } = results[name];
    return [NAMES[name], `${(runMs / 1000).toFixed(2)} s`, String(requests), `${judged} of ${planned}`];
  });
  const ratio = ratioInWords(pairedRatio(results.secure.wallMs, results.plain.wallMs));
  return {
    title: 'The last run of each',
    columns: ['whole catalogue', 'the run without start and end of the process', 'requests', 'judged'],
    rows,
    notes: [`Wall time of HTTPS and mutual TLS against plain HTTP: ${ratio}.`],
  };
}

const NAMES = {
  plain: 'loopback HTTP',
  secure: 'loopback HTTPS and mutual TLS',
  distant: 'HTTPS and mutual TLS, 50 ms away',
};
