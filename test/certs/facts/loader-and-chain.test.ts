/** The loader and the chain analysis must report the same faults for the same certificates. */
import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { readIdentity } from '../../../certs/index.ts';
import { type Authorities, analyse, makeAuthorities, oddLeaf, type Sent } from '../chain/authorities.ts';
import { CHAINS } from '../chain/chains.ts';
import { EXTENSION, name } from '../chain/handmade.ts';

let made: Authorities;
beforeAll(async () => {
  made = await makeAuthorities();
});

/** Maps each fault of a leaf, as the analysis names it, to the names that the loader uses. */
const OF_LEAF: Readonly<Record<string, readonly string[]>> = {
  expired: ['CERT_EXPIRED'],
  'not-yet-valid': ['CERT_NOT_YET_VALID'],
  'expires-soon': ['CERT_EXPIRES_SOON'],
  'weak-key': ['CERT_WEAK_KEY', 'KEY_TYPE'],
  'weak-signature': ['CERT_WEAK_SIGNATURE'],
  'wrong-purpose': ['CERT_PURPOSE', 'CERT_ANY_PURPOSE'],
  'self-signed': ['CERT_SELF_SIGNED'],
};
/** Faults of the other certificates in a chain. The loader reports all of them under one name. */
const OF_LINKS = ['expired', 'not-yet-valid', 'weak-key', 'weak-signature', 'issuer-not-authority'];

function compare(sent: readonly Sent[]) {
  const { faults, path } = analyse(sent, { trusted: [made.root] });
  const leaf = path[0] ?? 0;
  const text = sent.map(({ cert }) => cert).join('');
  const { problems, advice } = readIdentity({
    cert: { bytes: Buffer.from(text), source: { file: 'server.pem' } },
    key: { bytes: Buffer.from(sent[leaf]?.key ?? ''), source: { file: 'server.key' } },
    purpose: 'server',
  });
  const said = [...problems, ...advice].map(({ code }) => code as string);
  const byAnalysis = Object.keys(OF_LEAF).filter((code) =>
    faults.some((fault) => fault.code === code && fault.at === leaf),
  );
  const byLoader = Object.keys(OF_LEAF).filter((code) => OF_LEAF[code]?.some((word) => said.includes(word)));
  const linked = faults.some(
    ({ code, at }) => at !== null && at !== leaf && path.includes(at) && OF_LINKS.includes(code),
  );
  return {
    analysis: { leaf: byAnalysis, links: linked },
    loader: { leaf: byLoader, links: said.includes('CHAIN_WEAK') },
  };
}

describe('the loader says of a chain what the analysis says', () => {
  it.each(Object.entries(CHAINS))('%s', async (_, chain) => {
    const { analysis, loader } = compare(await chain.sent(made));
    expect(loader).toEqual(analysis);
  });

  const odd = (options: Partial<Parameters<typeof oddLeaf>[2]>) => [
    oddLeaf(made.root, name({ CN: 'Test Root R1', O: 'Test Trust' }), {
      key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
      ...options,
    }),
  ];
  const onCurve = (namedCurve: string) => odd({ key: generateKeyPairSync('ec', { namedCurve }).privateKey });

  it.each<[string, () => readonly Sent[], readonly string[]]>([
    ['a curve of 224 bits', () => onCurve('secp224r1'), []],
    ['a curve of 192 bits', () => onCurve('prime192v1'), ['weak-key']],
    ['a curve that does not say its size', () => onCurve('wap-wsg-idm-ecid-wtls9'), ['weak-key']],
    ['a curve that few take', () => onCurve('secp256k1'), []],
    [
      'DSA',
      () => odd({ key: generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }).privateKey }),
      ['weak-key'],
    ],
    ['a key that may sign certificates only', () => odd({ extensions: [EXTENSION.keyUsage(5)] }), ['wrong-purpose']],
    ['a key that may encipher', () => odd({ extensions: [EXTENSION.keyUsage(2)] }), []],
    ['any usage', () => odd({ extensions: [EXTENSION.usages('2.5.29.37.0')] }), ['wrong-purpose']],
    ['no usage at all', () => odd({ extensions: [EXTENSION.usages()] }), ['wrong-purpose']],
  ])('%s', (_, sent, expected) => {
    const { analysis, loader } = compare(sent());
    expect({ analysis: analysis.leaf, loader: loader.leaf }).toEqual({ analysis: expected, loader: expected });
  });

  it('and each of the faults that both know was among them', async () => {
    const seen = new Set<string>();
    for (const chain of Object.values(CHAINS)) {
      const { analysis } = compare(await chain.sent(made));
      for (const code of [...analysis.leaf, ...(analysis.links ? ['links'] : [])]) seen.add(code);
    }
    expect([...seen].toSorted()).toEqual([...Object.keys(OF_LEAF), 'links'].toSorted());
  });
});
