/** Senders against senders: how many deliveries a second each of them makes, and what one costs it. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quickStartCertificate } from '../../../certs/index.ts';
import type { ClientPhase, ClientResult } from './clients/run-client.ts';
import { ask, compile, message, PINNED, start, stop } from './programs.ts';
import { interleaved, type Sample, type Series, sampleOf } from './rounds.ts';

const ROUNDS = 9;
const WARM_UP_MS = 800;
const SLICES = 4;
const SLICE_MS = 200;

export interface SenderVariant {
  readonly name: string;
  readonly program: string;
  readonly scheme: 'http' | 'https';
}

const CLIENTS = {
  bare: { name: 'node:http(s), ready bytes', program: 'clients/bare-node.ts' },
  ours: { name: 'our sender core, each delivery made and signed', program: 'clients/ours.ts' },
  undici: { name: 'undici, ready bytes', program: 'clients/undici.ts' },
  fetch: { name: 'global fetch, ready bytes', program: 'clients/fetch.ts' },
};

/** By scheme and client. */
export const SENDERS: Readonly<Record<'http' | 'https', Readonly<Record<keyof typeof CLIENTS, SenderVariant>>>> = {
  http: over('http'),
  https: over('https'),
};

function over(scheme: 'http' | 'https'): Record<keyof typeof CLIENTS, SenderVariant> {
  const of = (client: keyof typeof CLIENTS): SenderVariant => ({ ...CLIENTS[client], scheme });
  return { bare: of('bare'), ours: of('ours'), undici: of('undici'), fetch: of('fetch') };
}

export async function measureSenders(): Promise<Series<SenderVariant>> {
  const variants = [...Object.values(SENDERS.http), ...Object.values(SENDERS.https)];
  await compile(['servers/sink.ts', ...new Set(variants.map(({ program }) => program))]);
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
  { program, scheme }: SenderVariant,
  credentials: NodeJS.ProcessEnv,
  tls: NodeJS.ProcessEnv,
): Promise<Sample> {
  const server = start('servers/sink.ts', 1, { ...(scheme === 'https' && tls), ...(PINNED && { BENCH_AWAKE: '1' }) });
  const { port } = await message<{ port: number }>(server);
  const client = start(program, 0, { ...credentials, BENCH_URL: `${scheme}://127.0.0.1:${port}/hooks` });
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
