/** Audits what the effects window reports about the notifications that the other suites have sent. */
import type { EffectsAudit, Feature, Observation, ObservationScenario } from '../scenario.ts';

/** Maximum number of scenario ids in a message. */
const MAX_SHOWN = 3;

type Notifications = EffectsAudit['notifications'];
type Audit = Pick<ObservationScenario, 'observe'>;

const passed = (observed: string): Observation => ({ verdict: 'pass', observed, reason: '' });

/**
 * Returns the observation of a run without anything to examine: a partial run, or a run whose deliveries were all
 * accepted.
 */
const notApplicable = (reason: string): Observation => ({ verdict: 'not-applicable', observed: '', reason });

/** Returns an audit that draws a conclusion only if the effects window has answered. */
function audited(conclude: (audit: EffectsAudit) => Observation): Audit {
  return {
    observe: ({ effects }) => {
      if (effects !== undefined && effects.problem === null) return conclude(effects);
      const reason = effects?.problem ?? 'there is no effects window';
      return { verdict: 'inconclusive', observed: 'nothing', reason };
    },
  };
}

/** Names the scenarios that sent these notifications. */
function scenariosOf(found: Notifications): string {
  const names = [...new Set(found.flatMap(({ scenarios }) => scenarios))];
  const more = names.length > MAX_SHOWN ? `, and ${names.length - MAX_SHOWN} more` : '';
  return `${names.slice(0, MAX_SHOWN).join(', ')}${more}`;
}

export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Requires that no rejected delivery of these suites was handled. */
function rejectedBy(suites: readonly string[]): Audit {
  return audited(({ notifications }) => {
    const rejected = notifications.filter(
      ({ outcome, scenarios }) =>
        outcome === 'rejected' && scenarios.some((id) => suites.includes(id.split('/', 1)[0] ?? '')),
    );
    if (rejected.length === 0) return notApplicable('no such delivery was rejected in this run');
    const found = rejected.filter(({ times }) => times > 0);
    if (found.length === 0) return passed(`${rejected.length} rejected, none handled`);
    const observed = `${found.length} of ${rejected.length} rejected deliveries handled`;
    return { verdict: 'fail', observed, reason: `${observed}: ${scenariosOf(found)}`, outcome: 'handled' };
  });
}

const everyPlain = audited(({ notifications }) => {
  const plain = notifications.filter(({ outcome, isControl }) => isControl && outcome === 'accepted');
  if (plain.length === 0) return notApplicable('no plain valid notification was accepted');
  const lost = plain.filter(({ times }) => times === 0);
  if (lost.length === 0) return passed(`${plain.length} handled`);
  const observed = `${lost.length} of ${counted(plain.length, 'accepted notification')} not handled`;
  return { verdict: 'fail', observed, reason: observed, outcome: 'not-handled' };
});

const noneTwice = audited(({ notifications }) => {
  const accepted = notifications.filter(({ outcome }) => outcome === 'accepted');
  if (accepted.length === 0) return notApplicable('no notification was accepted in this run');
  const found = accepted.filter(({ times }) => times > 1);
  if (found.length === 0) return passed('none handled twice');
  const observed = `${counted(found.length, 'notification')} handled more than once`;
  return { verdict: 'fail', observed, reason: `${observed}: ${scenariosOf(found)}`, outcome: 'handled-twice' };
});

const nothingElse = audited(({ unexplained }) => {
  if (unexplained === 0) return passed('nothing else');
  const observed = `${counted(unexplained, 'handling')} without a valid delivery`;
  const reason = `${observed}: from deliveries without a readable id, or from another sender during the run`;
  return { verdict: 'fail', observed, reason, outcome: 'handled' };
});

/** Rejected deliveries, by the suites that sent them. */
const REJECTED: readonly (readonly [slug: string, what: string, suites: readonly string[], need?: Feature])[] = [
  ['signature', 'an invalid or missing signature', ['signature', 'combination'], 'hmac'],
  ['api-key', 'an invalid or missing API key', ['api-key'], 'api-key'],
  ['raw-body', 'a changed body', ['raw-body'], 'hmac'],
  ['malformed', 'a malformed payload', ['malformed']],
  ['http', 'another method, target, framing or header', ['http', 'valid', 'delivery', 'leaks', 'typo-key']],
  ['mtls', 'an invalid or missing client certificate', ['mtls', 'tls'], 'mtls'],
];

const audit = { level: 'must', requirements: ['delivery-effect'], needs: ['effects'] } as const;

/** Checks of what the receiver did in the whole run. */
export const effectsAudits: readonly ObservationScenario[] = [
  ...REJECTED.map(
    ([slug, what, suites, need]): ObservationScenario => ({
      ...audit,
      id: `effects/rejected-${slug}`,
      title: `Rejected deliveries with ${what} leave nothing behind`,
      defect: `Handles deliveries that it rejected: ${what}`,
      needs: need === undefined ? audit.needs : [...audit.needs, need],
      expected: 'none handled',
      ...rejectedBy(suites),
      mistake: 'handled-before-checks',
    }),
  ),
  {
    ...audit,
    id: 'effects/accepted-handled',
    title: 'Handles every plain valid notification of the run',
    defect: 'Does not handle every notification that it accepted',
    expected: 'all handled',
    ...everyPlain,
    mistake: 'acknowledged-before-stored',
  },
  {
    ...audit,
    id: 'effects/accepted-once',
    title: 'Handles no notification of the run twice',
    defect: 'Handles a notification more than once',
    requirements: ['repeat-once'],
    expected: 'none',
    ...noneTwice,
    mistake: 'effect-and-id-apart',
  },
  {
    ...audit,
    id: 'effects/nothing-else',
    title: 'Handles nothing but what was delivered with valid credentials',
    defect: 'Handles something that no valid delivery explains',
    level: 'should',
    expected: 'none',
    ...nothingElse,
    mistake: 'handled-before-checks',
    note: 'A body without an id, or with two, can be handled without a trace of its id.',
  },
];
