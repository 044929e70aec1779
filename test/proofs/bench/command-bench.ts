/** The compiled program from a cold process: how soon it says something, and how long the whole catalogue takes. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLI, CREDENTIALS, startProxy, startReceiver, time } from './processes.ts';
import { compile, stop } from './programs.ts';
import { median, pairedRatio, type Ratio } from './statistics.ts';

const HELP_ROUNDS = 15;
const RUN_ROUNDS = 5;
const DISTANT_ROUNDS = 2;
/** To the distant endpoint or back. */
const ONE_WAY_MS = 25;

export interface HelpResult {
  readonly helpMs: number;
  readonly emptyMs: number;
  readonly ratio: Ratio;
}

/** `--help` and an empty Node, in turn. */
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

/** Whole runs of the catalogue. */
export interface RunResult {
  readonly wallMs: readonly number[];
  /** Of the last one: what the process did beside starting and ending. */
  readonly runMs: number;
  readonly requests: number;
  readonly judged: number;
  readonly planned: number;
}

export interface RunResults {
  readonly plain: RunResult;
  readonly secure: RunResult;
  readonly distant: RunResult;
}

/** The whole catalogue over HTTP and over HTTPS with mutual TLS, in turn, and over a long way. */
export async function measureRuns(): Promise<RunResults> {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-bench-'));
  const { config, server } = writeCertificates(folder);
  await compile(['distance/delaying-proxy.ts']);
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
    const together = (list: ReturnType<typeof run>[]): RunResult => ({
      ...(list.at(-1) as ReturnType<typeof run>),
      wallMs: list.map(({ wallMs }) => wallMs),
    });
    // The first of each was the warm-up.
    return {
      plain: together(runs.plain.slice(1)),
      secure: together(runs.secure.slice(1)),
      distant: together(runs.distant),
    };
  } finally {
    await stop(proxy.process);
    plain.close();
    secure.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Certificates for both sides, with the fixtures that only an authority can make: with them nothing of the suite is
 * left out but what was revoked.
 */
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
