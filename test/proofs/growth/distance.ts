/**
 * Measures how a run grows with the distance of the endpoint, over HTTP and over HTTPS with mutual TLS, and what it
 * sends.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResultDocument } from '../../../harness/index.ts';
import { CLI, CREDENTIALS, compile, startProxy, startReceiver, stop } from '../bench/processes.ts';
import { startCountingRelay, type Traffic } from './counting-relay.ts';
import { type Cost, measureProgram, medianCost } from './process-cost.ts';
import { note } from './progress.ts';

/** The duration of a run, in milliseconds, above which it is measured only once. */
const REPEATED_BELOW_MS = 10_000;

export const SCHEMES = { http: 'HTTP', https: 'HTTPS and mutual TLS' } as const;
type Scheme = keyof typeof SCHEMES;

export interface RunAtDistance {
  readonly scheme: Scheme;
  readonly roundTripMs: number;
  readonly evaluated: number;
  readonly requests: number;
  readonly run: Cost;
}

export interface DistanceMeasured {
  readonly runs: readonly RunAtDistance[];
  /** The traffic of a whole run without delay. */
  readonly traffic: Readonly<Record<Scheme, Traffic>>;
}

interface Settings {
  /** Round trips, in milliseconds. */
  readonly distances: readonly number[];
  readonly rounds: number;
}

export async function measureDistance({ distances, rounds }: Settings): Promise<DistanceMeasured> {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-growth-'));
  await compile(['servers/delaying-proxy.ts']);
  const { config, server } = await writeCertificates(folder);
  const file = join(folder, 'run.json');
  const endpoints = {
    http: { receiver: await startReceiver([], CREDENTIALS), host: 'http://127.0.0.1', args: [] as string[] },
    https: {
      receiver: await startReceiver(server, CREDENTIALS),
      host: 'https://localhost',
      args: ['--config', config],
    },
  };
  const runs: RunAtDistance[] = [];
  const traffic: Partial<Record<Scheme, Traffic>> = {};
  try {
    for (const [scheme, { receiver, host, args }] of Object.entries(endpoints) as [Scheme, typeof endpoints.http][]) {
      const run = (port: number) =>
        measureProgram([CLI, 'run', `${host}:${port}/hooks`, '--reporter', `json=${file}`, ...args], CREDENTIALS);
      const port = Number(new URL(receiver.url).port);
      const relay = await startCountingRelay(port);
      note(`distance: what a run over ${SCHEMES[scheme]} sends`);
      await run(relay.port);
      traffic[scheme] = relay.traffic();
      await relay.close();
      for (const roundTripMs of distances) {
        const proxy = roundTripMs === 0 ? null : await startProxy(port, roundTripMs / 2);
        const costs: Cost[] = [];
        do {
          note(`distance ${roundTripMs} ms over ${SCHEMES[scheme]}`);
          costs.push(await run(proxy?.port ?? port));
        } while (costs.length < rounds && (costs.at(-1)?.wallMs ?? 0) < REPEATED_BELOW_MS);
        if (proxy !== null) await stop(proxy.process);
        const { results, requests } = JSON.parse(readFileSync(file, 'utf8')) as ResultDocument;
        const evaluated = results.filter(({ verdict }) => verdict !== 'not-applicable').length;
        runs.push({ scheme, roundTripMs, evaluated, requests, run: medianCost(costs) });
      }
    }
    return { runs, traffic: traffic as Record<Scheme, Traffic> };
  } finally {
    for (const { receiver } of Object.values(endpoints)) receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes certificates for both sides. Returns the configuration of the run and the options of the receiver. */
async function writeCertificates(folder: string): Promise<{ readonly config: string; readonly server: string[] }> {
  await measureProgram([CLI, 'certs', folder, '--force'], process.env);
  const config = join(folder, 'hookproof.yaml');
  writeFileSync(config, 'tls: { ca: ca.pem, client-cert: client.pem, client-key: client-key.pem }\n');
  const file = (name: string) => join(folder, name);
  const material = ['--tls-cert', file('server.pem'), '--tls-key', file('server-key.pem')];
  return {
    config,
    server: [...material, '--client-ca', file('client-ca.pem'), '--allow-client', 'hookproof test client'],
  };
}
