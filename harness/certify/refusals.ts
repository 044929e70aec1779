/** What speaks against a certificate before anything is sent: what was asked for. Pure. */
import { type Feature, PROFILE_RULES, type Profile } from '../../scenarios/index.ts';
import type { ResultDocument, ScenarioResult } from '../report/result-document.ts';
import { isScored } from '../report/verdict.ts';
import type { CertificationRun, ClockReading } from './certification-run.ts';
import type { Revision } from './revision.ts';

/** What a certification is asked to be. */
export interface CertificationPlan {
  readonly profile: Profile | null;
  readonly features: readonly Feature[];
  /** Suites, scenarios and patterns that the run is narrowed to. */
  readonly selected: readonly string[];
  readonly shard: boolean;
  readonly bail: boolean;
  readonly baseline: boolean;
  /** Whether authorities were added for the endpoint (`--ca`). */
  readonly extraAuthority: boolean;
  /** The environment of the process: two variables of Node change what is trusted. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const FIX_FOR: Readonly<Record<string, string>> = {
  https: 'Give an https:// URL: a certificate names the key of the endpoint, and plain HTTP has none.',
  hmac: 'Give the secret with --secret-file or HOOKPROOF_SECRET.',
  'api-key': 'Give the key with --api-key-file or HOOKPROOF_API_KEY.',
};

const narrowed = (code: string, message: string, fix: string): Refusal => ({ code, message, fix, exit: 2 });

/** Every reason, so that one look is enough. Empty: the run may begin. */
export function refusalsBefore(plan: CertificationPlan): Refusal[] {
  const { bail, baseline, environment, extraAuthority, features, profile, selected, shard } = plan;
  const refusals: Refusal[] = [];
  const rules = profile === null ? null : PROFILE_RULES[profile];
  if (rules === null) {
    const fix = 'Name it: --profile basic, staging or production, or profile: in hookproof.yaml.';
    refusals.push(narrowed('no-profile', 'no profile says what is to be certified', fix));
  }
  for (const feature of rules?.needs ?? []) {
    if (features.includes(feature)) continue;
    const message = `the profile ${profile} needs ${feature}, and it is off`;
    refusals.push(narrowed('feature-off', message, FIX_FOR[feature] ?? `Configure ${feature}.`));
  }
  if (selected.length > 0) {
    const fix = 'Leave out --suite, --scenario and --grep, and suites, scenarios and grep of hookproof.yaml.';
    refusals.push(narrowed('selection', `only a part of the catalogue is selected (${selected.join(', ')})`, fix));
  }
  if (shard) {
    refusals.push(
      narrowed('shard', 'a shard is a part of a run', 'Leave out --shard: one run certifies one endpoint.'),
    );
  }
  if (bail) {
    const fix = 'Leave out --bail, and bail: of hookproof.yaml.';
    refusals.push(narrowed('bail', 'a run that stops at the first failure is not whole', fix));
  }
  if (baseline) {
    const fix = 'Mend what is on the list, then leave out --baseline, and baseline: of hookproof.yaml.';
    refusals.push(narrowed('baseline', 'known failures are failures all the same, and a baseline is given', fix));
  }
  return [...refusals, ...refusalsOfTrust(rules?.publicTrust === true, extraAuthority, environment)];
}

function refusalsOfTrust(
  publicTrust: boolean,
  extraAuthority: boolean,
  environment: CertificationPlan['environment'],
): Refusal[] {
  const refusals: Refusal[] = [];
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const message = 'NODE_TLS_REJECT_UNAUTHORIZED=0 is set, which turns the verification of certificates off in Node';
    const fix = 'Unset it. hookproof does not obey it, but a machine that has it set is no place to certify from.';
    refusals.push(narrowed('insecure-environment', message, fix));
  }
  if (publicTrust && extraAuthority) {
    const fix =
      'Leave out --ca, HOOKPROOF_CA and tls.ca. Production endpoints have a certificate of a public authority.';
    refusals.push(
      narrowed('extra-authority', 'the profile production trusts public authorities alone, and --ca adds another', fix),
    );
  }
  if (publicTrust && (environment.NODE_EXTRA_CA_CERTS ?? '') !== '') {
    const message = 'the profile production trusts public authorities alone, and NODE_EXTRA_CA_CERTS adds others';
    refusals.push(narrowed('extra-authority-of-node', message, 'Unset NODE_EXTRA_CA_CERTS for this command.'));
  }
  return refusals;
}

/** What speaks against a certificate after the run. Pure. */

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

/** A reason not to issue a certificate. */

export interface Refusal {
  /** Stable, for programs. */
  readonly code: string;
  /** What is in the way, one sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly fix: string;
  /** The exit code that it asks for, by the table of the house: 1 the endpoint, 2 what was asked for, 3 no verdict, 4 hookproof itself. */
  readonly exit: 1 | 2 | 3 | 4;
}

const PRECEDENCE = [4, 1, 2, 3] as const;

/** The exit code of several refusals: the one that weighs most. 0 without any. */
export function exitCodeOfRefusals(refusals: readonly Refusal[]): 0 | 1 | 2 | 3 | 4 {
  return PRECEDENCE.find((code) => refusals.some(({ exit }) => exit === code)) ?? 0;
}

/** Up to eight names, and how many more there are. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}
