import { describe, expect, it } from 'vitest';
import {
  type CertificationPlan,
  type CertificationRun,
  exitCodeOfRefusals,
  type Refusal,
  type Revision,
  refusalsAfter,
  refusalsBefore,
} from '../../../harness/certify/index.ts';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { resultWith } from '../report/documents.ts';
import { certifiedDocument, DAY_MS, LEAF_KEY, REVISION_DIGEST } from './certificates.ts';

const codes = (refusals: readonly Refusal[]) => refusals.map(({ code }) => code);

/** Expects that every refusal has a message and a fix. */
function expectTexts(refusals: readonly Refusal[]): void {
  for (const { message, fix } of refusals) {
    expect(message.length).toBeGreaterThan(15);
    expect(fix).toMatch(/^[A-Z`-].*[.]$/s);
  }
}

describe('refusalsBefore', () => {
  const plan: CertificationPlan = {
    profile: 'production',
    features: ['hmac', 'https'],
    selected: [],
    shard: false,
    bail: false,
    baseline: false,
    extraCa: false,
    evidenceLevel: 0,
    environment: { PATH: '/bin', NODE_TLS_REJECT_UNAUTHORIZED: '1', NODE_EXTRA_CA_CERTS: '' },
  };

  it.each<[string, Partial<CertificationPlan>, string[]]>([
    ['nothing', {}, []],
    ['no profile', { profile: null }, ['no-profile']],
    ['plain HTTP', { features: ['hmac'] }, ['feature-off']],
    ['no secret', { features: ['https'] }, ['feature-off']],
    ['no key in basic', { profile: 'basic', features: ['hmac', 'https'] }, ['feature-off']],
    ['a key in basic', { profile: 'basic', features: ['api-key', 'https'] }, []],
    ['a selection', { selected: ['signature', 'valid/plain'] }, ['selection']],
    ['a shard', { shard: true }, ['shard']],
    ['bail', { bail: true }, ['bail']],
    ['a baseline', { baseline: true }, ['baseline']],
    ['a scheme without a secret', { unusedScheme: 'stripe' }, ['scheme']],
    ['an extra CA', { extraCa: true }, ['extra-authority']],
    ['an extra CA in staging', { profile: 'staging', extraCa: true }, []],
    ['an extra CA of Node', { environment: { NODE_EXTRA_CA_CERTS: '/a.pem' } }, ['extra-authority-of-node']],
    ['an extra CA of Node in staging', { profile: 'staging', environment: { NODE_EXTRA_CA_CERTS: '/a.pem' } }, []],
    ['no effects window at level 1', { evidenceLevel: 1 }, ['evidence-level']],
    ['an effects window at level 1', { evidenceLevel: 1, features: ['hmac', 'https', 'effects'] }, []],
    [
      'only an effects window at level 2',
      { evidenceLevel: 2, features: ['hmac', 'https', 'effects'] },
      ['evidence-level'],
    ],
    ['all sources at level 2', { evidenceLevel: 2, features: ['hmac', 'https', 'effects', 'restart', 'log'] }, []],
    ['verification turned off', { environment: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } }, ['insecure-environment']],
    [
      'verification turned off in staging',
      { profile: 'staging', environment: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
      ['insecure-environment'],
    ],
    [
      'everything',
      { features: [], selected: ['x'], shard: true, bail: true, baseline: true, extraCa: true },
      ['feature-off', 'feature-off', 'selection', 'shard', 'bail', 'baseline', 'extra-authority'],
    ],
  ])('%s', (_, parts, expected) => {
    const refusals = refusalsBefore({ ...plan, ...parts });
    expect(codes(refusals)).toEqual(expected);
    expect(exitCodeOfRefusals(refusals)).toBe(expected.length === 0 ? 0 : 2);
    expectTexts(refusals);
  });
});

describe('refusalsAfter', () => {
  const revision: Revision = {
    number: 1,
    digest: REVISION_DIGEST,
    made: '2026-01-01',
    scored: new Set(['signature/missing', 'valid/plain', 'api-key/missing']),
  };
  const identity = { leafKey: LEAF_KEY, publiclyTrusted: true };
  const startedAt = new Date('2026-11-21T10:00:00Z');
  const clock = { startedAt, endedAt: new Date(startedAt.getTime() + 5000), elapsedMs: 5000 };
  const good: CertificationRun = {
    document: certifiedDocument({ profile: 'production' }),
    identities: [identity, identity],
    clock,
  };

  /** Returns the document with other verdicts for its first results. */
  function withVerdicts(...verdicts: string[]): ResultDocument {
    const { results } = good.document;
    const changed = results.map((result, at) => ({ ...result, verdict: (verdicts[at] ?? result.verdict) as 'pass' }));
    return { ...good.document, results: changed };
  }
  const withDocument = (parts: Partial<ResultDocument>) => ({ document: { ...good.document, ...parts } });
  const baseline = { file: 'known.yaml', entries: 0, known: [], stale: [], unfilled: [], notJudged: [] };
  const later = (ms: number) => ({ clock: { ...clock, endedAt: new Date(startedAt.getTime() + 5000 + ms) } });

  it.each<[string, Partial<CertificationRun>, [code: string, exit: number][]]>([
    ['nothing if only an unscored check fails', {}, []],
    ['a warning', { document: withVerdicts('warn') }, []],
    ['a warning, strictly', { document: { ...withVerdicts('warn'), strict: true } }, [['warned', 1]]],
    ['a failure', { document: withVerdicts('fail') }, [['failed', 1]]],
    [
      'a known failure',
      { document: { ...withVerdicts('fail'), baseline } },
      [
        ['baseline', 2],
        ['failed', 1],
      ],
    ],
    ['no verdict', { document: withVerdicts('inconclusive') }, [['not-judged', 3]]],
    [
      'an internal error',
      { document: withVerdicts('harness-error', 'fail') },
      [
        ['harness-error', 4],
        ['failed', 1],
      ],
    ],
    ['an interruption', withDocument({ interrupted: true }), [['interrupted', 3]]],
    ['a baseline without entries', withDocument({ baseline }), [['baseline', 2]]],
    ['a second attempt that passed', withDocument({ retried: ['valid/plain'] }), [['retried', 3]]],
    [
      'a second attempt that failed',
      { document: { ...withVerdicts('fail'), retried: ['signature/missing'] } },
      [['failed', 1]],
    ],
    ['a second attempt of an unscored check', withDocument({ retried: ['valid/newer'] }), []],
    ['a missing scored check', withDocument({ results: good.document.results.slice(1) }), [['not-whole', 2]]],
    [
      'no scoring',
      withDocument({ scoring: undefined as never }),
      [
        ['not-scored', 2],
        ['failed', 1],
      ],
    ],
    [
      'another revision',
      withDocument({ scoring: { revision: 1, digest: 'x', notScored: ['valid/newer'] } }),
      [['not-scored', 2]],
    ],
    ['no profile', withDocument({ profile: null }), [['not-scored', 2]]],
    [
      'a feature that was off',
      withDocument({ target: { ...good.document.target, features: ['https'] } }),
      [['feature-off', 2]],
    ],
    [
      'another key at the end',
      { identities: [identity, identity, { ...identity, leafKey: 'x' }] },
      [['endpoint-key-changed', 1]],
    ],
    [
      'another key in between',
      { identities: [identity, { ...identity, leafKey: 'x' }, identity] },
      [['endpoint-key-changed', 1]],
    ],
    ['no handshake in between', { identities: [identity, null, identity] }, []],
    ['no handshake before', { identities: [null, identity] }, [['endpoint-key-unknown', 3]]],
    ['no handshake after', { identities: [identity, null] }, [['endpoint-key-unknown', 3]]],
    ['no handshake at all', { identities: [] }, [['endpoint-key-unknown', 3]]],
    ['a private CA', { identities: [{ ...identity, publiclyTrusted: false }] }, [['not-publicly-trusted', 1]]],
    [
      'a private CA in staging',
      { ...withDocument({ profile: 'staging' }), identities: [{ ...identity, publiclyTrusted: false }] },
      [],
    ],
    ['a clock that is set forward', later(DAY_MS), [['clock-set', 2]]],
    ['a clock that is set back', later(-60_000), [['clock-set', 2]]],
    ['a clock that runs a little fast', later(4000), []],
    [
      'a clock that is years behind',
      { clock: { startedAt: new Date(0), endedAt: new Date(5000), elapsedMs: 5000 } },
      [['clock-behind', 2]],
    ],
  ])('%s', (_, parts, expected) => {
    const refusals = refusalsAfter({ ...good, ...parts }, revision);
    expect(refusals.map(({ code, exit }) => [code, exit])).toEqual(expected);
    expectTexts(refusals);
  });

  it('states the reason once that all checks without a verdict share', () => {
    const withReasons = (...reasons: string[]) => {
      const document = withVerdicts('inconclusive', 'inconclusive');
      const results = document.results.map((result, at) => ({ ...result, reason: reasons[at] ?? '' }));
      return refusalsAfter({ ...good, document: { ...document, results } }, revision)[0]?.message;
    };
    expect(withReasons('it did not start', 'it did not start')).toBe(
      '2 scored checks are without a verdict: it did not start',
    );
    expect(withReasons('it did not start', 'too slow')).toContain('verdict: signature/missing, valid/plain');
  });

  it.each<[string, ResultDocument['evidence'], ResultDocument['target']['features'], [code: string, exit: number][]]>([
    ['the level that is needed', { level: 1, statement: '' }, ['hmac', 'https', 'effects'], []],
    ['a run that states no level', undefined, ['hmac', 'https'], [['evidence-level', 2]]],
    ['a lower level for lack of a window', { level: 0, statement: '' }, ['hmac', 'https'], [['evidence-level', 2]]],
    [
      'a lower level because a window gave no answer',
      { level: 0, statement: 'no check of effects has a verdict' },
      ['hmac', 'https', 'effects'],
      [['evidence-level', 3]],
    ],
  ])('compares the evidence level: %s', (_, evidence, features, expected) => {
    const target = { ...good.document.target, features };
    const { evidence: none, ...document } = { ...good.document, target };
    const changed = evidence === undefined ? document : { ...document, evidence };
    const refusals = refusalsAfter({ ...good, document: changed }, revision, 1);
    expect(refusals.map(({ code, exit }) => [code, exit])).toEqual(expected);
    expectTexts(refusals);
    expect(none).toBeUndefined();
    expect(refusalsAfter({ ...good, document: changed }, revision)).toEqual([]);
  });

  it('says how to reach the evidence level', () => {
    const [refusal] = refusalsAfter(good, revision, 2);
    expect(refusal?.message).toBe('evidence level 2 is required, but the run reached only level 0');
    expect(refusal?.fix).toBe(
      'Give `--effects URL` (its token in HOOKPROOF_EFFECTS_TOKEN) and `--restart-command COMMAND` and `--log FILE`.',
    );
  });

  it('lists only some of many checks', () => {
    const results = Array.from({ length: 20 }, (_, at) => resultWith({ id: `valid/number-${at}`, verdict: 'fail' }));
    const scored = new Set(results.map(({ id }) => id));
    const [refusal] = refusalsAfter({ ...good, ...withDocument({ results }) }, { ...revision, scored });
    expect(refusal?.message).toMatch(/^20 scored checks failed: valid\/number-0, .*valid\/number-7 and 12 more$/);
  });

  it('determines the exit code by precedence', () => {
    const refusal = (exit: 1 | 2 | 3 | 4): Refusal => ({ code: 'x', message: '', fix: '', exit });
    expect(exitCodeOfRefusals([refusal(3), refusal(2), refusal(1), refusal(4)])).toBe(4);
    expect(exitCodeOfRefusals([refusal(3), refusal(2), refusal(1)])).toBe(1);
    expect(exitCodeOfRefusals([refusal(3), refusal(2)])).toBe(2);
    expect(exitCodeOfRefusals([])).toBe(0);
  });
});
