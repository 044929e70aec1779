import { describe, expect, it } from 'vitest';
import { analyseChain, type ChainAnalysis, serverFixture } from '../../../certs/index.ts';
import { judgeChain } from '../../../harness/judge/index.ts';
import { findScenario, type Level } from '../../../scenarios/index.ts';

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

  it('gives the reason and the fix of the analysis, which name the certificate', async () => {
    const { reason, fix, observed } = judged('tls/not-expired', await analysisOf('expired'));
    expect(observed).toBe('expired');
    expect(reason).toMatch(/CN=localhost.* expired on \d{4}-/);
    expect(fix).not.toBeNull();
  });

  it('records at the level info', async () => {
    expect(judged('tls/root-left-out', await analysisOf('root-sent')).reason).toMatch(/^recorded: /);
  });

  it('does not judge the order that TLS 1.3 hides', async () => {
    const hidden = await analysisOf('misordered', false);
    expect(judged('tls/chain-order', hidden)).toMatchObject({
      verdict: 'not-applicable',
      reason: expect.stringContaining('TLS 1.3 alone'),
    });
    expect(judged('tls/not-expired', hidden).verdict).toBe('pass');
  });

  it('proves nothing without certificates', () => {
    expect(judged('tls/not-expired', null)).toMatchObject({
      verdict: 'inconclusive',
      reason: 'the certificates could not be had: it was not there',
    });
  });
});
