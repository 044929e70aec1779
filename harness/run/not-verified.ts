/** What a run says nothing about, by requirement and with the reason: never a bare "100%". */
import { REQUIREMENTS, requirement } from '../../scenarios/index.ts';
import type { ResultDocument } from '../report/result-document.ts';
import type { PlannedScenario } from './plan.ts';

const FIXTURE = 'fixture-';

/** The client certificates that the partner did not supply, where mutual TLS is on. */
function missingFixtures(plan: readonly PlannedScenario[]): string[] {
  const names = plan.flatMap(({ scenario, obstacle }) =>
    obstacle?.includes(FIXTURE) === true ? (scenario.needs ?? []).filter((feature) => feature.startsWith(FIXTURE)) : [],
  );
  return [...new Set(names)].map((name) => name.slice(FIXTURE.length));
}

/** The requirements that no black-box test can judge, and those that this run could not for want of material. */
export function notVerifiedIn(plan: readonly PlannedScenario[]): ResultDocument['notVerified'] {
  const unseen = REQUIREMENTS.flatMap((entry) =>
    entry.subject === 'receiver' && 'untested' in entry
      ? [{ requirement: entry.id, text: entry.text, reason: entry.untested }]
      : [],
  );
  const missing = missingFixtures(plan).map((name) => ({
    requirement: 'mtls-verified',
    text: `${requirement('mtls-verified')?.text ?? ''} (${name})`,
    reason:
      'Only the authority of the client certificate can make such a certificate. Give one as `mtls.fixtures` in the configuration file to have it tried.',
  }));
  return [...unseen, ...missing];
}
