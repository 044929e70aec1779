/** Compares senders by their deliveries per second and the cost of a delivery. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quickStartCertificate } from '../../../certs/index.ts';
import type { ClientName, ClientPhase, ClientResult } from './client.ts';
import type { Table, Target } from './page.ts';
import { ask, atOld, compile, message, OLD, PINNED, start, stop } from './processes.ts';
import { compare, interleaved, median, ratioInWords, type Sample, type Series, sampleOf } from './rounds.ts';

const ROUNDS = 9;
const WARM_UP_MS = 800;
const SLICES = 4;
const SLICE_MS = 200;

export interface SenderVariant {
  readonly name: string;
  readonly client: ClientName;
  readonly scheme: 'http' | 'https';
  /** The checkout of the client. */
  readonly root?: string;
}

const CLIENTS: Readonly<Record<ClientName, string>> = {
  node: 'node:http(s), ready bytes',
  ours: 'our sender core, each delivery made and signed',
  undici: 'undici, ready bytes',
  fetch: 'global fetch, ready bytes',
};

function sendersOver(scheme: 'http' | 'https'): Record<ClientName, SenderVariant> {
  const variant = (client: ClientName): SenderVariant => ({ name: CLIENTS[client], client, scheme });
  return { node: variant('node'), ours: variant('ours'), undici: variant('undici'), fetch: variant('fetch') };
}

const SENDERS = { http: sendersOver('http'), https: sendersOver('https') };

export async function measureSenders(): Promise<Series<SenderVariant>> {
  const variants = Object.values(SENDERS).flatMap((senders) => [
    ...Object.values(senders),
    ...(OLD === undefined ? [] : [{ ...senders.ours, name: atOld(CLIENTS.ours), root: OLD }]),
  ]);
  await compile(['servers/sink.ts', 'client.ts']);
  if (OLD !== undefined) await compile(['client.ts'], undefined, OLD);
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-bench-'));
  const { ca, cert, key } = await quickStartCertificate();
  const authority = join(folder, 'ca.pem');
  writeFileSync(authority, ca.cert);
  const credentials = {
    BENCH_SECRET: randomBytes(32).toString('base64'),
    BENCH_API_KEY: randomBytes(24).toString('base64url'),
    NODE_EXTRA_CA_CERTS: authority,
  };
  const tls = { BENCH_CERT: cert, BENCH_KEY: key };
  try {
    return await interleaved(variants, ROUNDS, (variant) => measure(variant, credentials, tls));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  { client: name, scheme, root }: SenderVariant,
  credentials: NodeJS.ProcessEnv,
  tls: NodeJS.ProcessEnv,
): Promise<Sample> {
  const server = start('servers/sink.ts', 1, { ...(scheme === 'https' && tls), ...(PINNED && { BENCH_AWAKE: '1' }) });
  const { port } = await message<{ port: number }>(server);
  const url = `${scheme}://127.0.0.1:${port}/hooks`;
  const client = start('client.ts', 0, { ...credentials, BENCH_CLIENT: name, BENCH_URL: url }, root);
  try {
    await message(client);
    const phase = (durationMs: number) => ask<ClientResult>(client, { durationMs } satisfies ClientPhase);
    await phase(WARM_UP_MS);
    const slices: ClientResult[] = [];
    for (let slice = 0; slice < SLICES; slice++) slices.push(await phase(SLICE_MS));
    return sampleOf(slices);
  } finally {
    await Promise.all([stop(client), stop(server)]);
  }
}

const MIN_RATE = 1;

export function senderTable(series: Series<SenderVariant>): Table {
  const rows = [...series].map(([{ name, scheme }, samples]) => {
    const of = (field: keyof Sample) => median(samples.map((sample) => sample[field]));
    const against = compare(samples, series.get(SENDERS[scheme].node) ?? []);
    return [
      scheme.toUpperCase(),
      name,
      Math.round(of('rate')).toLocaleString('en'),
      ratioInWords(against.rate),
      of('cpuUs').toFixed(1),
      against.cpu.median.toFixed(2),
      against.minCpu.toFixed(2),
    ];
  });
  return {
    title: 'Senders',
    columns: [
      '',
      'sender, 64 in flight',
      'deliveries/s',
      'against node:http(s)',
      'CPU us a delivery',
      'against node:http(s)',
      'the same, min/min',
    ],
    rows,
  };
}

export function senderTargets(series: Series<SenderVariant>): Target[] {
  return Object.values(SENDERS).map(({ node, ours }) => {
    const { rate } = compare(series.get(ours) ?? [], series.get(node) ?? []);
    const scheme = ours.scheme.toUpperCase();
    const bare = `a bare agent of node:${ours.scheme} with ready bytes`;
    return {
      what: `sender core, keep-alive, signed, ${scheme}: deliveries/s against ${bare}`,
      target: `at least ${MIN_RATE}`,
      measured: ratioInWords(rate),
      met: rate.median >= MIN_RATE,
    };
  });
}
