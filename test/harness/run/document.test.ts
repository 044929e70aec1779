import { describe, expect, it } from 'vitest';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { evidenceIn, notedIn, notVerifiedIn } from '../../../harness/run/document.ts';
import type { PlannedScenario } from '../../../harness/run/plan.ts';
import type { Feature, ObservationScenario, Requirement, RequirementId, Suite } from '../../../scenarios/index.ts';
import { resultWith } from '../report/documents.ts';

/** Creates a scenario with its features and the requirements that it judges. */
function scenario(id: string, needs: readonly Feature[], requirements: readonly string[] = []): ObservationScenario {
  return {
    id,
    title: 'Handles a notification once',
    level: 'must',
    // The register does not contain these requirements.
    requirements: requirements as readonly RequirementId[],
    needs,
    mistake: 'copy-handled-again',
    observe: () => ({ verdict: 'pass', observed: '', reason: '' }),
  };
}
const planned = (one: ObservationScenario): PlannedScenario => ({ suite: 'effects', scenario: one, obstacle: null });

describe('the evidence level of a run', () => {
  const plan = [
    scenario('valid/plain', []),
    scenario('effects/once', ['effects']),
    scenario('effects/none', ['effects']),
    scenario('effects/restart', ['restart', 'effects']),
    scenario('effects/log', ['log']),
  ].map(planned);
  type Verdicts = Readonly<Record<string, 'pass' | 'fail' | 'warn' | 'inconclusive' | 'not-applicable'>>;
  const evidence = (features: Feature[], verdicts: Verdicts, scoring?: ResultDocument['scoring']) =>
    evidenceIn(
      plan,
      Object.entries(verdicts).map(([id, verdict]) => resultWith({ id, verdict })),
      features,
      scoring,
    );
  const effects = "answers and effects (effects are the receiver's own statement)";

  it('is 0 without sources', () => {
    const verdicts = { 'valid/plain': 'pass', 'effects/once': 'not-applicable' } as const;
    expect(evidence(['hmac'], verdicts)).toEqual({ level: 0, statement: 'the answers alone' });
  });

  it.each(['pass', 'warn', 'fail'] as const)('is 1 when a check of the effects window came to: %s', (verdict) => {
    expect(evidence(['hmac', 'effects'], { 'effects/once': verdict })).toEqual({ level: 1, statement: effects });
  });

  it('is 2 with effects, restarts and the log', () => {
    const verdicts = { 'effects/once': 'pass', 'effects/restart': 'pass', 'effects/log': 'pass' } as const;
    expect(evidence(['effects', 'restart', 'log'], verdicts)).toEqual({
      level: 2,
      statement: "answers, effects across restarts, and the log (effects are the receiver's own statement)",
    });
  });

  it('claims no source whose checks have no verdict, and says so', () => {
    expect(evidence(['hmac', 'effects'], { 'valid/plain': 'pass', 'effects/once': 'inconclusive' })).toEqual({
      level: 0,
      statement: 'the answers alone; no check of effects has a verdict',
    });
    const verdicts = { 'effects/once': 'pass', 'effects/restart': 'inconclusive', 'effects/log': 'pass' } as const;
    expect(evidence(['effects', 'restart', 'log'], verdicts)).toEqual({
      level: 1,
      statement: `${effects}; no check of restart has a verdict`,
    });
  });

  it('counts the checks of a source that have no verdict', () => {
    const verdicts = { 'effects/once': 'pass', 'effects/none': 'inconclusive' } as const;
    expect(evidence(['effects'], verdicts)).toEqual({
      level: 1,
      statement: `${effects}; 1 of 2 checks of effects without a verdict`,
    });
  });

  it('counts no check that is newer than the revision, because its failure would have no effect', () => {
    const scoring = { revision: 1, digest: 'x', notScored: ['effects/once'] };
    expect(evidence(['effects'], { 'effects/once': 'fail' }, scoring)).toEqual({
      level: 0,
      statement: 'the answers alone; no scored check of effects has a verdict',
    });
    expect(evidence(['effects'], { 'effects/once': 'pass' }, { ...scoring, notScored: [] }).level).toBe(1);
  });

  it('is 1 with effects and the log, and 0 with the log alone', () => {
    const verdicts = { 'effects/once': 'pass', 'effects/log': 'pass' } as const;
    expect(evidence(['effects', 'log'], verdicts).level).toBe(1);
    expect(evidence(['log'], { 'effects/log': 'pass' }).level).toBe(0);
  });

  it('counts no source that was not configured', () => {
    expect(evidence(['hmac'], { 'effects/once': 'pass' }).level).toBe(0);
  });
});

describe('what a run did not verify', () => {
  const requirement = (id: string, parts: Partial<Requirement> = {}): Requirement => {
    return { id, section: 'ruling', level: 'must', subject: 'receiver', text: `${id}.`, ...parts };
  };
  const register = [
    requirement('answered'),
    requirement('handled'),
    requirement('kept'),
    requirement('private'),
    requirement('signed'),
    requirement('timing', { untested: 'Timing proves nothing.' }),
    requirement('service', { subject: 'sender', untested: 'It is about the sender.' }),
  ];
  const scenarios = [
    scenario('valid/plain', [], ['answered']),
    scenario('effects/once', ['effects'], ['answered', 'handled', 'kept']),
    scenario('effects/restart', ['effects', 'restart'], ['kept']),
    scenario('effects/log', ['log'], ['private']),
    scenario('effects/signed', ['hmac', 'effects'], ['signed']),
  ];
  const suites: readonly Suite[] = [{ name: 'effects', title: '', scenarios }];
  const notVerified = (features: Feature[], given = suites) => notVerifiedIn([], features, given, register);
  const ids = (...args: Parameters<typeof notVerified>) => notVerified(...args).map((entry) => entry.requirement);

  it('is what needs a source that is not configured, with how to verify it and at which level', () => {
    expect(notVerified(['hmac']).slice(0, 1)).toEqual([
      {
        requirement: 'handled',
        text: 'handled.',
        reason:
          'The answers do not show it. Verifiable at evidence level 1: give `--effects URL` (its token in ' +
          'HOOKPROOF_EFFECTS_TOKEN).',
        verifiable: { level: 1, sources: ['effects'] },
      },
    ]);
    expect(notVerified(['hmac']).find((entry) => entry.requirement === 'private')).toMatchObject({
      reason: 'The answers do not show it. Verifiable at evidence level 2: give `--log FILE`.',
      verifiable: { level: 2, sources: ['log'] },
    });
  });

  it('shrinks with each source', () => {
    expect(ids(['hmac'])).toEqual(['handled', 'kept', 'private', 'signed', 'timing']);
    expect(ids(['hmac', 'effects'])).toEqual(['private', 'timing']);
    expect(ids(['hmac', 'effects', 'log'])).toEqual(['timing']);
  });

  it('names the restart command for what only a restart shows', () => {
    const [restart] = scenarios.filter(({ id }) => id === 'effects/restart');
    const only: Suite[] = [{ name: 'effects', title: '', scenarios: restart === undefined ? [] : [restart] }];
    expect(notVerified(['effects'], only)[0]).toMatchObject({
      reason: 'The answers do not show it. Verifiable at evidence level 2: give `--restart-command COMMAND`.',
      verifiable: { level: 2, sources: ['restart'] },
    });
    expect(notVerified([], only)[0]?.verifiable).toEqual({ level: 2, sources: ['effects', 'restart'] });
  });

  it('is what only a rotation shows, where a secret is configured and no next one', () => {
    const scenarios = [scenario('rotation/x', ['hmac', 'rotation'], ['kept'])];
    const only: Suite[] = [{ name: 'rotation', title: '', scenarios }];
    const kept = (...features: Feature[]) =>
      notVerified(features, only).find(({ requirement: id }) => id === 'kept')?.reason;
    expect(kept('hmac')).toContain('give `--next-secret-file FILE`');
    expect([kept('hmac', 'rotation'), kept('api-key')]).toEqual([undefined, undefined]);
  });

  it('lists nothing that would not apply with a source either', () => {
    expect(ids([])).toEqual(['handled', 'kept', 'private', 'timing']);
  });

  it('keeps its reason where no source helps', () => {
    const [timing] = notVerified(['hmac', 'effects', 'restart', 'log']);
    expect(timing).toEqual({ requirement: 'timing', text: 'timing.', reason: 'Timing proves nothing.' });
  });
});

describe('what passed and is good to know', () => {
  const answered = (id: string, status: number) => {
    const kind = status === 200 ? 'accepted' : 'rejected';
    return resultWith({ id, answered: { class: kind, status } });
  };

  it('is nothing where bodies that are not JSON are rejected, and sizes accepted', () => {
    expect(notedIn([answered('malformed/truncated', 400), answered('malformed/size-150-kb', 200)])).toEqual([]);
  });

  it('has the numbers of accepted bodies and of the sizes', () => {
    const results = [
      answered('malformed/truncated', 200),
      answered('malformed/xml', 200),
      answered('malformed/binary', 400),
      answered('malformed/id-missing', 200),
      answered('malformed/size-16-kb', 200),
      answered('malformed/size-99-kb', 200),
      answered('malformed/size-150-kb', 413),
    ];
    expect(notedIn(results).map(({ text }) => text)).toEqual([
      'Answers 200 to signed bodies that are not JSON (2 of 3 kinds): the sender considers them delivered',
      'Answers 413 to valid notifications above about 99 kB: one of 150 kB is rejected',
    ]);
  });
});
