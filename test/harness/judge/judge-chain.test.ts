import { beforeAll, describe, expect, it } from 'vitest';
import { analyseChain, type ChainAnalysis, type ChainCertificate, serverFixture } from '../../../certs/index.ts';
import type { ChainFaultCode } from '../../../contract/index.ts';
import { judgeChain } from '../../../harness/judge/index.ts';
import { type ChainExpectation, findScenario, type Level } from '../../../scenarios/index.ts';

function derOf(pem: string): Uint8Array[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END/g)].map(([, base64 = '']) =>
    Buffer.from(base64, 'base64'),
  );
}

async function analysisOf(name: Parameters<typeof serverFixture>[0], exact = true): Promise<ChainAnalysis> {
  const { cert, ca, host } = await serverFixture(name);
  return analyseChain({ sent: derOf(cert), exact, host, trusted: [ca], now: new Date(), oracle: undefined });
}

function judged(id: string, analysis: ChainAnalysis | null, level?: Level) {
  const scenario = findScenario(id);
  if (scenario === undefined || !('chain' in scenario)) throw new Error(`${id} is no scenario of the chain`);
  return judgeChain(level ?? scenario.level, scenario.chain, analysis, 'it was not there');
}

describe('the verdict on a chain', () => {
  it.each([
    ['expired', 'tls/not-expired', 'fail'],
    ['missing-intermediate', 'tls/chain-complete', 'fail'],
    ['missing-intermediate', 'tls/trusted-authority', 'inconclusive'],
    ['expires-soon', 'tls/renewed-in-time', 'warn'],
    ['misordered', 'tls/chain-order', 'warn'],
    ['root-sent', 'tls/root-left-out', 'pass'],
    ['cn-only', 'tls/alternative-name', 'fail'],
    ['rsa1024', 'tls/key-size', 'fail'],
    ['p256', 'tls/key-size', 'pass'],
  ] as const)('%s: %s is %s', async (fixture, id, verdict) => {
    expect(judged(id, await analysisOf(fixture)).verdict).toBe(verdict);
  });

  it('gives the reason of the analysis, which names the certificate', async () => {
    const { reason, observed } = judged('tls/not-expired', await analysisOf('expired'));
    expect(observed).toBe('expired');
    expect(reason).toMatch(/CN=localhost.* expired on \d{4}-/);
  });

  it('records at the level info', async () => {
    expect(judged('tls/root-left-out', await analysisOf('root-sent')).reason).toMatch(/^recorded: /);
  });

  it('does not judge the order that TLS 1.3 hides', async () => {
    const hidden = await analysisOf('misordered', false);
    expect(judged('tls/chain-order', hidden)).toMatchObject({
      verdict: 'not-applicable',
      reason: expect.stringContaining('only TLS 1.3'),
    });
    expect(judged('tls/not-expired', hidden).verdict).toBe('pass');
  });

  it('is inconclusive without certificates', () => {
    expect(judged('tls/not-expired', null)).toMatchObject({
      verdict: 'inconclusive',
      reason: 'the certificates were not received: it was not there',
    });
  });

  it('is inconclusive when none was sent', async () => {
    const analysis = { ...(await analysisOf('p256')), certificates: [] };
    expect(judged('tls/not-expired', analysis)).toEqual({
      verdict: 'inconclusive',
      decidedBy: 'certificates-missing',
      delivery: null,
      observed: '',
      outcome: 'seen',
      reason: 'the certificates were not received: it was not there',
    });
  });
});

/** Creates a chain analysis from names, starting with the leaf, and faults with their code and position. */
function chainOf(names: readonly string[], faults: readonly (readonly [ChainFaultCode, number | null])[], more = {}) {
  const certificates = names.map((subject, at) => ({ ...someone, subject, role: at === 0 ? 'leaf' : 'intermediate' }));
  return {
    ...base,
    certificates,
    faults: faults.map(([code, at]) => ({ code, at, text: `${code} at ${at}.` })),
    ...more,
  } as ChainAnalysis;
}

let base: ChainAnalysis;
let someone: ChainCertificate;
beforeAll(async () => {
  base = await analysisOf('p256');
  someone = base.certificates[0]!;
});

const expecting = (faults: readonly ChainFaultCode[], more: Partial<ChainExpectation> = {}): ChainExpectation => ({
  text: 'T',
  faults,
  ...more,
});

describe('the description of a chain', () => {
  const observed = (names: readonly string[], anchor: string | null) =>
    judgeChain('must', expecting(['expired']), chainOf(names, [], { anchor }), '');

  it('lists the subjects from the leaf up, and the trusted CA', () => {
    expect(observed(['leaf', 'issuer'], 'root')).toEqual({
      verdict: 'pass',
      decidedBy: 'expected-answer',
      delivery: null,
      outcome: 'seen',
      observed: 'leaf < issuer, trusted by root',
      reason: '',
    });
    expect(observed(['leaf'], null).observed).toBe('leaf');
  });

  it('stops after five', () => {
    expect(observed(['a', 'b', 'c', 'd', 'e'], null).observed).toBe('a < b < c < d < e');
    expect(observed(['a', 'b', 'c', 'd', 'e', 'f'], 'r').observed).toBe('a < b < c < d < e < ..., trusted by r');
  });
});

describe('the faults of a chain', () => {
  it.each(['misordered', 'duplicate', 'unrelated', 'root-sent'] as const)('%s cannot be seen at TLS 1.3', (code) => {
    const hidden = chainOf(['leaf'], [[code, 0]], { exact: false });
    expect(judgeChain('must', expecting([code]), hidden, '')).toEqual({
      verdict: 'not-applicable',
      decidedBy: 'hidden-by-tls-1.3',
      delivery: null,
      observed: '',
      outcome: 'seen',
      reason: 'the endpoint supports only TLS 1.3, which hides the list of certificates as sent',
    });
    expect(judgeChain('must', expecting([code, 'expired']), hidden, '').verdict).toBe('fail');
    expect(judgeChain('must', expecting([code]), { ...hidden, exact: true }, '').verdict).toBe('fail');
  });

  it('are named once each, with every reason', () => {
    const analysis = chainOf(
      ['leaf', 'issuer'],
      [
        ['weak-key', 0],
        ['expired', 0],
        ['expired', 1],
      ],
    );
    expect(judgeChain('must', expecting(['expired', 'weak-key']), analysis, '')).toEqual({
      verdict: 'fail',
      decidedBy: 'certificate-fault',
      delivery: null,
      observed: 'weak-key, expired',
      outcome: 'expired, weak-key',
      reason: 'weak-key at 0. expired at 0. expired at 1.',
    });
  });

  it('count only at the position of the scenario: at the leaf, above it, or anywhere', () => {
    const at = (place: number | null, of?: 'leaf' | 'issuers') => {
      const expectation = expecting(['expired'], of === undefined ? {} : { of });
      return judgeChain('must', expectation, chainOf(['leaf', 'issuer'], [['expired', place]]), '').verdict;
    };
    expect([at(0, 'leaf'), at(1, 'leaf'), at(null, 'leaf')]).toEqual(['fail', 'pass', 'pass']);
    expect([at(0, 'issuers'), at(1, 'issuers'), at(null, 'issuers')]).toEqual(['pass', 'fail', 'fail']);
    expect([at(0), at(1), at(null)]).toEqual(['fail', 'fail', 'fail']);
  });

  it('may hide the fault of a scenario', () => {
    const analysis = chainOf(['leaf'], [['missing-intermediate', null]], { anchor: null });
    expect(judgeChain('must', expecting(['expired'], { hiddenBy: ['missing-intermediate'] }), analysis, '')).toEqual({
      verdict: 'inconclusive',
      decidedBy: 'hidden-by-another-fault',
      delivery: null,
      outcome: 'seen',
      observed: 'leaf',
      reason: 'cannot be checked until another fault is fixed: missing-intermediate at null.',
    });
    expect(judgeChain('must', expecting(['expired'], { hiddenBy: ['self-signed'] }), analysis, '').verdict).toBe(
      'pass',
    );
  });
});
