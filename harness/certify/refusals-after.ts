/** What speaks against a certificate after the run. Pure. */
import { PROFILE_RULES } from '../../scenarios/index.ts';
import type { ResultDocument, ScenarioResult } from '../result/result-document.ts';
import { isScored } from '../result/tally.ts';
import type { CertificationRun, ClockReading } from './certification-run.ts';
import { listed, type Refusal } from './refusal.ts';
import type { Revision } from './revision.ts';

/** How far the wall clock may run away from the monotonic one during a run. */
const MOST_JUMP_MS = 5000;

/** Every reason. Empty: a certificate may be issued. */
export function refusalsAfter({ document, looks, clock }: CertificationRun, revision: Revision): Refusal[] {
  return [
    ...aboutTheRun(document, revision),
    ...aboutResults(document),
    ...aboutTheEndpoint(document, looks),
    ...aboutTheClock(clock, revision),
  ];
}

function aboutTheRun(document: ResultDocument, revision: Revision): Refusal[] {
  const { baseline, interrupted, profile, results, scoring } = document;
  const refusals: Refusal[] = [];
  if (interrupted) {
    refusals.push({
      code: 'interrupted',
      message: 'the run was interrupted',
      fix: 'Run it again, to the end.',
      exit: 3,
    });
  }
  if (profile === null || scoring?.digest !== revision.digest) {
    const message = `the run was not scored by revision ${revision.number} under a profile`;
    refusals.push({ code: 'not-scored', message, fix: 'Run it with a profile.', exit: 2 });
  }
  const present = new Set(results.map(({ id }) => id));
  const absent = [...revision.scored].filter((id) => !present.has(id));
  if (absent.length > 0) {
    const message = `${counted(absent.length, 'scored check')} of revision ${revision.number} not in the run: ${listed(absent)}`;
    refusals.push({ code: 'not-whole', message, fix: 'Run the whole catalogue.', exit: 2 });
  }
  if (baseline !== null) {
    const fix = 'Mend what is on the list, and run without it.';
    refusals.push({ code: 'baseline', message: `the run used a baseline (${baseline.file})`, fix, exit: 2 });
  }
  return refusals;
}

function amount(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

function counted(count: number, noun: string): string {
  return `${amount(count, noun)} ${count === 1 ? 'is' : 'are'}`;
}

function aboutResults(document: ResultDocument): Refusal[] {
  const scored = document.results.filter((result) => isScored(document, result));
  const ids = (is: (result: ScenarioResult) => boolean) => scored.filter(is).map(({ id }) => id);
  const refusals: Refusal[] = [];
  const refuse = (code: string, names: readonly string[], what: string, fix: string, exit: Refusal['exit']) => {
    if (names.length > 0) refusals.push({ code, message: `${what}: ${listed(names)}`, fix, exit });
  };
  const broken = ids(({ verdict }) => verdict === 'harness-error');
  refuse('harness-error', broken, `hookproof itself went wrong in ${broken.length}`, 'Please report it.', 4);
  const failed = ids(({ verdict }) => verdict === 'fail');
  refuse(
    'failed',
    failed,
    `${amount(failed.length, 'scored check')} failed`,
    'Mend the receiver: the report says of each what is wrong and how. Then certify again.',
    1,
  );
  const warned = document.strict ? ids(({ verdict }) => verdict === 'warn') : [];
  refuse(
    'warned',
    warned,
    `${amount(warned.length, 'warning')}, and --strict counts warnings as failures`,
    'Mend what the report says of each, or certify without --strict.',
    1,
  );
  const open = ids(({ verdict }) => verdict === 'inconclusive');
  refuse(
    'not-judged',
    open,
    `${counted(open.length, 'scored check')} without a verdict`,
    'See in the report why: unreachable, rate-limited, too slow. Mend that and certify again.',
    3,
  );
  const needs = document.profile === null ? [] : PROFILE_RULES[document.profile].needs;
  const off = needs.filter((feature) => !document.target.features.includes(feature));
  refuse('feature-off', off, `the profile ${document.profile} needs features that were off`, 'Configure them.', 2);
  const again = new Set(document.retried);
  const retried = ids(({ id, verdict }) => again.has(id) && (verdict === 'pass' || verdict === 'warn'));
  refuse(
    'retried',
    retried,
    `${counted(retried.length, 'check')} green only at the second try`,
    'Find out why the endpoint failed the first time (connections that are dropped under load, restarts, one bad instance of several), then certify again. --concurrency 1 is gentler.',
    3,
  );
  return refusals;
}

function aboutTheEndpoint({ profile }: ResultDocument, looks: CertificationRun['looks']): Refusal[] {
  const [first] = looks;
  const last = looks.at(-1);
  const refusals: Refusal[] = [];
  const keys = new Set(looks.flatMap((look) => look?.leafKey ?? []));
  if (keys.size > 1) {
    const message = `the certificate of the endpoint had ${keys.size} different keys during the run`;
    const fix =
      'Wait until a renewal is through. Behind a load balancer, give every instance the same certificate and key.';
    refusals.push({ code: 'endpoint-key-changed', message, fix, exit: 1 });
  } else if (first == null || last == null) {
    const message = `the key of the endpoint's certificate could not be read ${first == null ? 'before' : 'after'} the run`;
    const fix = 'Look at the connection with `hookproof doctor URL`.';
    refusals.push({ code: 'endpoint-key-unknown', message, fix, exit: 3 });
  }
  const asked = profile !== null && PROFILE_RULES[profile].publicTrust;
  if (asked && looks.some((look) => look?.publiclyTrusted === false)) {
    const message = 'the certificate of the endpoint does not end at an authority that everybody trusts';
    const fix =
      'Have it issued by a public authority, with the full chain. `hookproof doctor URL` draws the chain that is sent.';
    refusals.push({ code: 'not-publicly-trusted', message, fix, exit: 1 });
  }
  return refusals;
}

/** Whether the certificate's dates can be believed. That the endpoint's certificate is in its dates is a scored check besides. */
function aboutTheClock({ startedAt, endedAt, elapsedMs }: ClockReading, revision: Revision): Refusal[] {
  const fix = 'Set it by NTP (`timedatectl`, `date -u`), then certify again.';
  if (startedAt.getTime() < Date.parse(`${revision.made}T00:00:00Z`)) {
    const message = `the clock of this machine says ${startedAt.toISOString()}, which is before revision ${revision.number} was made (${revision.made})`;
    return [{ code: 'clock-behind', message, fix, exit: 2 }];
  }
  const jumpMs = endedAt.getTime() - startedAt.getTime() - elapsedMs;
  if (Math.abs(jumpMs) <= MOST_JUMP_MS) return [];
  const message = `the clock of this machine was set ${jumpMs > 0 ? 'forward' : 'back'} by ${Math.round(Math.abs(jumpMs) / 1000)} s during the run`;
  return [{ code: 'clock-set', message, fix, exit: 2 }];
}
