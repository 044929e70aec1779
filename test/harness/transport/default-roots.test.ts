/**
 * How the default CAs are found in this process. `trusted-roots.slow.test.ts` shows in separate processes that Node
 * agrees.
 */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tls from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { certificate } from './servers.ts';

const directory = mkdtempSync(join(tmpdir(), 'hookproof-roots-'));
const at = (name: string) => join(directory, name);
let own: string;

beforeAll(async () => {
  const [one, other] = [await certificate('one', { isCa: true }), await certificate('other', { isCa: true })];
  own = one.cert;
  writeFileSync(at('one.pem'), `a CA of the company\n${own}`);
  // A root of Node in lines of another length, and the same CA twice.
  const known = new X509Certificate(tls.rootCertificates[0]!).raw.toString('base64');
  const inOneLine = `-----BEGIN CERTIFICATE-----\n${known.replace(/.{60}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
  writeFileSync(at('some.pem'), `${inOneLine}${own}\n${own}\n${other.cert}`);
  writeFileSync(at('nonsense.pem'), 'nonsense');
  writeFileSync(at('damaged.pem'), `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${own}`);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
beforeEach(() => void vi.resetModules());
afterEach(() => {
  vi.unstubAllEnvs();
  vi.doUnmock('node:tls');
});

/** Loads the sender's function again, for a Node with this `getCACertificates`. Versions before 22.15 have none. */
async function trustedRootsOn(getCACertificates?: (type: string) => string[]): Promise<() => readonly string[]> {
  vi.doMock('node:tls', () => ({ ...tls, default: tls, getCACertificates }));
  return (await import('../../../harness/transport/index.ts')).trustedRoots;
}

const fingerprints = (pems: readonly string[]) => pems.map((pem) => new X509Certificate(pem).fingerprint256).sort();
const added = (pems: readonly string[]) => {
  const known = new Set(fingerprints(tls.rootCertificates));
  return fingerprints(pems).filter((print) => !known.has(print));
};

describe('below Node 22.15', () => {
  it.each([
    ['no file', undefined],
    ['an empty name', ''],
    ['a file of nonsense', at('nonsense.pem')],
    ['a file that is missing', at('none.pem')],
  ])('are the ones that Node brings along, with %s', async (_name, path) => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', path);
    const roots = (await trustedRootsOn())();
    expect(fingerprints(roots)).toEqual(fingerprints(tls.rootCertificates));
  });

  it('are joined by those of the file', async () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', at('one.pem'));
    expect(added((await trustedRootsOn())())).toEqual(fingerprints([own]));
  });

  it('are joined by those behind a damaged one', async () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', at('damaged.pem'));
    const [damaged, ...others] = (await trustedRootsOn())().slice(tls.rootCertificates.length);
    expect(() => new X509Certificate(damaged ?? '')).toThrow();
    expect(fingerprints(others)).toEqual(fingerprints([own]));
  });

  it('are each listed once', async () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', at('some.pem'));
    const roots = (await trustedRootsOn())();
    expect(new Set(fingerprints(roots)).size).toBe(roots.length);
    expect(added(roots)).toHaveLength(2);
  });

  it('are found once', async () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', at('one.pem'));
    const trustedRoots = await trustedRootsOn();
    const first = trustedRoots();
    vi.stubEnv('NODE_EXTRA_CA_CERTS', undefined);
    expect(trustedRoots()).toBe(first);
  });
});

describe('from Node 22.15 on', () => {
  it('are what Node says, which knows the file', async () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', at('one.pem'));
    const asked: string[] = [];
    const trustedRoots = await trustedRootsOn((type) => {
      asked.push(type);
      return ['whatever it says'];
    });
    expect(trustedRoots()).toEqual(['whatever it says']);
    expect(asked).toEqual(['default']);
  });
});
