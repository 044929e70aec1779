/**
 * Which CAs are trusted, with and without an extra one. The tests use separate processes, because Node reads
 * NODE_EXTRA_CA_CERTS when it starts.
 */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trustedRoots } from '../../../harness/transport/index.ts';
import { certificate, httpsServer, type Pair } from './servers.ts';

const SENDER = new URL('../../../harness/sender/index.ts', import.meta.url).href;
const TRANSPORT = new URL('../../../harness/transport/index.ts', import.meta.url).href;
const directory = mkdtempSync(join(tmpdir(), 'hookproof-roots-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let one: Pair;
let other: Pair;
let leaves: Pair[];

beforeAll(async () => {
  one = await certificate('one', { isCa: true });
  other = await certificate('other', { isCa: true });
  leaves = [await certificate('localhost', { ca: one }), await certificate('localhost', { ca: other })];
  writeFileSync(join(directory, 'one.pem'), `a CA of the company\n${one.cert}`);
  writeFileSync(join(directory, 'nonsense.pem'), 'nonsense');
  const damaged = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  writeFileSync(join(directory, 'damaged.pem'), `${damaged}${one.cert}`);
});

/**
 * Starts a process with this file in NODE_EXTRA_CA_CERTS. Returns its verdict on a server of each CA, and its number of
 * roots.
 */
async function trusted(
  extra: string | undefined,
  ca: string | undefined,
): Promise<{ answers: unknown[]; roots: number }> {
  const ports = await Promise.all(leaves.map((leaf) => httpsServer(leaf)));
  const script = `
    import { deliver } from ${JSON.stringify(SENDER)};
    import { trustedRoots } from ${JSON.stringify(TRANSPORT)};
    const { ca, ports } = JSON.parse(process.env.GIVEN);
    const tls = ca === undefined ? undefined : { ca };
    const answers = [];
    for (const port of ports) {
      const partner = { url: 'https://localhost:' + port + '/', ...(tls && { tls }) };
      const headers = [['Host', 'localhost'], ['Content-Length', '0']];
      const prepared = { method: 'POST', url: partner.url, headers, body: Buffer.alloc(0) };
      const { answer, error } = await deliver(prepared, tls ? { tls } : {});
      answers.push(answer ? answer.status : error.code);
    }
    console.log(JSON.stringify({ answers, roots: trustedRoots().length }));`;
  const env = {
    PATH: process.env.PATH,
    GIVEN: JSON.stringify({ ca, ports }),
    ...(extra !== undefined && { NODE_EXTRA_CA_CERTS: join(directory, extra) }),
  };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', script],
    { env },
  );
  return JSON.parse(stdout);
}

const UNKNOWN = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';

describe('the trusted CAs', () => {
  it.each<[string, string | undefined, () => string | undefined, unknown[], number]>([
    ['nothing', undefined, () => undefined, [UNKNOWN, UNKNOWN], 0],
    ['NODE_EXTRA_CA_CERTS', 'one.pem', () => undefined, [200, UNKNOWN], 1],
    ['ca', undefined, () => other.cert, [UNKNOWN, 200], 0],
    ['both', 'one.pem', () => other.cert, [200, 200], 1],
    ['ca next to a file that is not PEM', 'nonsense.pem', () => other.cert, [UNKNOWN, 200], 0],
    ['ca next to a file with a damaged certificate', 'damaged.pem', () => other.cert, [200, 200], 2],
    ['ca next to a missing file', 'none.pem', () => other.cert, [UNKNOWN, 200], 0],
  ])('with %s', async (_, extra, ca, answers, more) => {
    const { roots } = await trusted(undefined, undefined);
    expect(await trusted(extra, ca())).toEqual({ answers, roots: roots + more });
  });

  it('are those of Node when nothing else is said', () => {
    const fingerprint = (pem: string) => new X509Certificate(pem).fingerprint256;
    const roots = new Set(trustedRoots().map(fingerprint));
    expect(rootCertificates.filter((pem) => !roots.has(fingerprint(pem)))).toEqual([]);
    expect(roots.size).toBe(trustedRoots().length);
    expect(trustedRoots()).toBe(trustedRoots());
    expect(trustedRoots().every((pem) => pem.startsWith('-----BEGIN CERTIFICATE-----'))).toBe(true);
  });
});
