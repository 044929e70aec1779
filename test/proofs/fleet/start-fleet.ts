/** Starts the receivers of a test fleet in a few processes, and writes the files of the partners. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeCertificate } from '../../../certs/index.ts';
import { makeKeyPair } from '../../../harness/certify/index.ts';
import type { Kind } from './kinds.ts';
import type { AtAddress, ToServe } from './serve-partners.ts';

export interface TestFleet {
  /** The folder with the files of the partners. */
  readonly partners: string;
  readonly key: string;
  readonly kindOf: ReadonlyMap<string, Kind>;
  readonly pids: readonly number[];
  /** Returns the statistics of the receivers, by address. */
  seen(): Promise<ReadonlyMap<string, AtAddress>>;
  close(): void;
}

const SERVER = new URL('serve-partners.ts', import.meta.url).pathname;

/** Returns a name such as `p007-faulty`. Sorting by name keeps the order of the kinds. */
const nameOf = (kind: Kind, at: number) => `p${String(at + 1).padStart(3, '0')}-${kind.name}`;

/**
 * Starts the fleet on `localhost`, or spread over these loopback addresses. Their number must be a multiple of the
 * number of processes.
 */
export async function startFleet(
  folder: string,
  kinds: readonly Kind[],
  processes: number,
  addresses: readonly string[] = [],
): Promise<TestFleet> {
  const ca = await makeCertificate({ subject: 'CN=CA of the test fleet', authority: true });
  const tls = await makeCertificate({
    subject: 'CN=localhost',
    issuer: ca,
    hosts: ['localhost', ...addresses],
    usages: ['serverAuth'],
  });
  const members = kinds.map((kind, at) => ({
    kind,
    host: addresses[at % addresses.length] ?? 'localhost',
    name: nameOf(kind, at),
    secret: randomBytes(32).toString('base64'),
  }));
  const partners = join(folder, 'partners');
  await mkdir(join(partners, 'secrets'), { recursive: true });
  await writeFile(join(partners, 'ca.pem'), ca.cert);
  await writeFile(join(partners, '_defaults.yaml'), 'profile: staging\ntls:\n  ca: ca.pem\n');
  const key = join(folder, 'operator.pem');
  const pair = makeKeyPair();
  await writeFile(key, pair.privatePem, { mode: 0o600 });
  await writeFile(join(folder, 'operator.pub.pem'), pair.publicPem);
  const children: ChildProcess[] = [];
  for (let part = 0; part < processes; part++) {
    const mine = members.filter((_, at) => at % processes === part);
    const child = fork(SERVER, { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    children.push(child);
    const order: ToServe = {
      kinds: mine.map(({ kind }) => kind),
      secrets: mine.map(({ secret }) => secret),
      addresses: mine.map(({ host }) => (host === 'localhost' ? '127.0.0.1' : host)),
      tls,
    };
    child.send(order);
    const [ports] = (await once(child, 'message')) as [number[]];
    for (const [at, { host, kind, name, secret }] of mine.entries()) {
      await writeFile(join(partners, 'secrets', name), secret, { mode: 0o600 });
      const lines = [`url: https://${host}:${ports[at]}/hooks`, 'hmac:', `  secret: \${file:secrets/${name}}`];
      await writeFile(join(partners, `${name}.yaml`), `${[...lines, kind.settings ?? ''].join('\n')}\n`);
    }
  }
  return {
    partners,
    key,
    kindOf: new Map(members.map(({ kind, name }) => [name, kind])),
    pids: children.flatMap(({ pid }) => pid ?? []),
    async seen() {
      const all = new Map<string, AtAddress>();
      for (const child of children) {
        child.send('seen');
        const [own] = (await once(child, 'message')) as [[string, AtAddress][]];
        for (const [address, at] of own) all.set(address, at);
      }
      return all;
    },
    close() {
      for (const child of children) child.disconnect();
    },
  };
}
