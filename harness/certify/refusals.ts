/** Finds the reasons not to issue a certificate: in the settings before a run, in the results after it. Pure. */

import {
  catalogueIds,
  configureSources,
  EVIDENCE_LEVELS,
  EVIDENCE_RULES,
  type EvidenceSource,
  type Feature,
  PROFILE_RULES,
  type Profile,
  SCHEME_SUITE,
  SOURCE_TEXTS,
} from '../../scenarios/index.ts';
import type { ResultDocument, ScenarioResult } from '../report/result-document.ts';
import { isScored } from '../report/verdict.ts';
import type { CertificationRun, ClockReading } from './certification-run.ts';
import type { Revision } from './revision.ts';

/** The settings of a certification run. */
export interface CertificationPlan {
  readonly profile: Profile | null;
  readonly features: readonly Feature[];
  /** Selected suites, scenarios and patterns. */
  readonly selected: readonly string[];
  readonly shard: boolean;
  readonly bail: boolean;
  readonly baseline: boolean;
  /** The name of a scheme that is configured without a secret. */
  readonly unusedScheme?: string | undefined;
  /** Whether a CA was added for the endpoint (`--ca`). */
  readonly extraCa: boolean;
  /** The evidence level that the certificate must state. */
  readonly evidenceLevel: number;
  /** The environment of the process. Two of its variables change which certificates Node trusts. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A reason not to issue a certificate. */
export interface Refusal {
  /** A stable identifier for programs. */
  readonly code: string;
  readonly message: string;
  readonly fix: string;
  /** The exit code: 1 for the endpoint, 2 for the settings, 3 for no verdict, 4 for an internal error. */
  readonly exit: 1 | 2 | 3 | 4;
}

const FIX_FOR: Readonly<Record<string, string>> = {
  https: 'Use an https:// URL: a certificate contains the key of the endpoint, and plain HTTP has none.',
  hmac: 'Set the secret with `--secret-file` or HOOKPROOF_SECRET.',
  'api-key': 'Set the key with `--api-key-file` or HOOKPROOF_API_KEY.',
};

const usageRefusal = (code: string, message: string, fix: string): Refusal => ({ code, message, fix, exit: 2 });

/** Returns all reasons not to start the run. */
export function refusalsBefore(plan: CertificationPlan): Refusal[] {
  const { bail, baseline, environment, evidenceLevel, extraCa, features, profile, selected, shard, unusedScheme } =
    plan;
  const refusals: Refusal[] = [];
  const rules = profile === null ? null : PROFILE_RULES[profile];
  if (rules === null) {
    const fix = 'Set `--profile` to `basic`, `staging` or `production`, or set `profile` in hookproof.yaml.';
    refusals.push(usageRefusal('no-profile', 'no profile is configured', fix));
  }
  for (const feature of rules?.needs ?? []) {
    if (features.includes(feature)) continue;
    const message = `the profile ${profile} requires ${feature}, which is not configured`;
    refusals.push(usageRefusal('feature-off', message, FIX_FOR[feature] ?? `Configure ${feature}.`));
  }
  const missing = missingFor(evidenceLevel, features);
  if (missing.length > 0) {
    const nouns = missing.map((source) => SOURCE_TEXTS[source].noun).join(' or ');
    const message = `evidence level ${evidenceLevel} is required, but no ${nouns} is configured`;
    refusals.push(usageRefusal('evidence-level', message, `Give ${configureSources(missing)}.`));
  }
  if (selected.length > 0) {
    const fix = 'Remove `--suite`, `--scenario` and `--grep`, and `suites`, `scenarios` and `grep` in hookproof.yaml.';
    refusals.push(usageRefusal('selection', `only part of the catalogue is selected (${selected.join(', ')})`, fix));
  }
  if (shard) {
    const fix = 'Remove `--shard`: certification needs one complete run.';
    refusals.push(usageRefusal('shard', 'a shard is only part of a run', fix));
  }
  if (bail) {
    const fix = 'Remove `--bail`, and `bail` in hookproof.yaml.';
    refusals.push(usageRefusal('bail', 'a run with `--bail` is not complete', fix));
  }
  if (unusedScheme !== undefined) {
    const fix = 'Set the secret with `--secret-file` or HOOKPROOF_SECRET, or remove the scheme.';
    const message = `the scheme ${unusedScheme} is configured without a secret, so nothing would be signed in it`;
    refusals.push(usageRefusal('scheme', message, fix));
  }
  if (baseline) {
    const fix = 'Fix the known failures, then remove `--baseline`, and `baseline` in hookproof.yaml.';
    refusals.push(usageRefusal('baseline', 'a baseline is configured, and known failures count as failures', fix));
  }
  return [...refusals, ...trustRefusals(rules?.publicTrust === true, extraCa, environment)];
}

/** Allowed difference between the wall clock and the monotonic clock over a run. */
const MAX_CLOCK_JUMP_MS = 5000;

/** Returns all reasons not to issue a certificate. */
export function refusalsAfter(
  { document, identities, clock }: CertificationRun,
  revision: Revision,
  evidenceLevel = 0,
): Refusal[] {
  return [
    ...runRefusals(document, revision),
    ...resultRefusals(document),
    ...evidenceRefusals(document, evidenceLevel),
    ...endpointRefusals(document, identities),
    ...clockRefusals(clock, revision),
  ];
}

const PRECEDENCE = [4, 1, 2, 3] as const;

/** Returns the exit code with the highest precedence; 0 if there are no refusals. */
export function exitCodeOfRefusals(refusals: readonly Refusal[]): 0 | 1 | 2 | 3 | 4 {
  return PRECEDENCE.find((code) => refusals.some(({ exit }) => exit === code)) ?? 0;
}

/** Joins up to eight names, and states how many more there are. */
export function abbreviateList(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}

function trustRefusals(
  publicTrust: boolean,
  extraCa: boolean,
  environment: CertificationPlan['environment'],
): Refusal[] {
  const refusals: Refusal[] = [];
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const message = 'NODE_TLS_REJECT_UNAUTHORIZED=0 is set, which disables certificate verification in Node';
    const fix = 'Unset it. hookproof ignores it, but do not certify from a machine where it is set.';
    refusals.push(usageRefusal('insecure-environment', message, fix));
  }
  if (publicTrust && extraCa) {
    const message = 'the profile production trusts only public CAs, and `--ca` adds another';
    const fix = 'Remove `--ca`, HOOKPROOF_CA and `tls.ca`. Production endpoints need a certificate from a public CA.';
    refusals.push(usageRefusal('extra-authority', message, fix));
  }
  if (publicTrust && (environment.NODE_EXTRA_CA_CERTS ?? '') !== '') {
    const message = 'the profile production trusts only public CAs, and NODE_EXTRA_CA_CERTS adds others';
    refusals.push(usageRefusal('extra-authority-of-node', message, 'Unset NODE_EXTRA_CA_CERTS for this command.'));
  }
  return refusals;
}

function runRefusals(document: ResultDocument, revision: Revision): Refusal[] {
  const { baseline, interrupted, profile, results, scoring, target } = document;
  const refusals: Refusal[] = [];
  if (interrupted) {
    const fix = 'Run it again, without interruption.';
    refusals.push({ code: 'interrupted', message: 'the run was interrupted', fix, exit: 3 });
  }
  if (profile === null || scoring?.digest !== revision.digest) {
    const message = `the run was not scored with a profile and revision ${revision.number}`;
    refusals.push({ code: 'not-scored', message, fix: 'Run it with a profile.', exit: 2 });
  }
  const present = new Set(results.map(({ id }) => id));
  const ofSchemes =
    target.scheme === undefined ? [] : catalogueIds(true).filter((id) => id.startsWith(`${SCHEME_SUITE}/`));
  const absent = [...revision.scored, ...ofSchemes].filter((id) => !present.has(id));
  if (absent.length > 0) {
    const count = `${counted(absent.length, 'scored check')} of revision ${revision.number}`;
    const message = `${count} missing from the run: ${abbreviateList(absent)}`;
    refusals.push({ code: 'not-whole', message, fix: 'Run the whole catalogue.', exit: 2 });
  }
  if (baseline !== null) {
    const fix = 'Fix the known failures, and run without the baseline.';
    refusals.push({ code: 'baseline', message: `the run used a baseline (${baseline.file})`, fix, exit: 2 });
  }
  return refusals;
}

function resultRefusals(document: ResultDocument): Refusal[] {
  const scored = document.results.filter((result) => isScored(document, result));
  const ids = (is: (result: ScenarioResult) => boolean) => scored.filter(is).map(({ id }) => id);
  const refusals: Refusal[] = [];
  const refuse = (code: string, names: readonly string[], what: string, fix: string, exit: Refusal['exit']) => {
    if (names.length > 0) refusals.push({ code, message: `${what}: ${abbreviateList(names)}`, fix, exit });
  };
  const broken = ids(({ verdict }) => verdict === 'harness-error');
  const breaks = `${amount(broken.length, 'check')} failed with an internal error in hookproof`;
  refuse('harness-error', broken, breaks, 'Please report it.', 4);
  const failed = ids(({ verdict }) => verdict === 'fail');
  const fixAll = 'Fix the receiver: the report explains each failure and its fix. Then certify again.';
  refuse('failed', failed, `${amount(failed.length, 'scored check')} failed`, fixAll, 1);
  const warned = document.strict ? ids(({ verdict }) => verdict === 'warn') : [];
  const counts = `${amount(warned.length, 'warning')}, and \`--strict\` counts warnings as failures`;
  refuse('warned', warned, counts, 'Fix the warnings that the report explains, or certify without `--strict`.', 1);
  const open = scored.filter(({ verdict }) => verdict === 'inconclusive');
  const [shared = '', ...others] = new Set(open.map(({ reason }) => reason));
  const isShared = others.length === 0 && shared !== '';
  const stated = isShared ? '' : 'The report states the reasons, for example unreachable, rate-limited or too slow. ';
  const why = isShared ? [shared.slice(0, 300)] : open.map(({ id }) => id);
  const unjudged = `${counted(open.length, 'scored check')} without a verdict`;
  refuse('not-judged', why, unjudged, `${stated}Remove the cause, and certify again.`, 3);
  const needs = document.profile === null ? [] : PROFILE_RULES[document.profile].needs;
  const off = needs.filter((feature) => !document.target.features.includes(feature));
  refuse('feature-off', off, `the profile ${document.profile} requires features that were off`, 'Configure them.', 2);
  const again = new Set(document.retried);
  const retried = ids(({ id, verdict }) => again.has(id) && (verdict === 'pass' || verdict === 'warn'));
  const lucky = `${amount(retried.length, 'check')} passed only on the second attempt`;
  const fix =
    'Find out why the endpoint failed at first (connections dropped under load, restarts, one faulty instance), ' +
    'then certify again. `--concurrency 1` reduces the load.';
  refuse('retried', retried, lucky, fix, 3);
  return refusals;
}

function evidenceRefusals({ evidence, target }: ResultDocument, evidenceLevel: number): Refusal[] {
  const level = evidence?.level ?? 0;
  if (level >= evidenceLevel) return [];
  const message = `evidence level ${evidenceLevel} is required, but the run reached only level ${level}`;
  const missing = missingFor(evidenceLevel, target.features);
  if (missing.length > 0) return [usageRefusal('evidence-level', message, `Give ${configureSources(missing)}.`)];
  const open = `${message}: ${evidence?.statement ?? 'it is not complete'}`;
  const fix =
    'The report states why the checks of a source have no verdict. Fix the cause, and certify again. An older ' +
    '`--revision` does not score them.';
  return [{ code: 'evidence-level', message: open, fix, exit: 3 }];
}

/** Returns the evidence sources that the level needs but that are not configured. */
function missingFor(evidenceLevel: number, features: readonly Feature[]): EvidenceSource[] {
  const level = EVIDENCE_LEVELS.find((one) => one === evidenceLevel) ?? 0;
  return EVIDENCE_RULES[level].sources.filter((source) => !features.includes(source));
}

function endpointRefusals({ profile }: ResultDocument, identities: CertificationRun['identities']): Refusal[] {
  const [first] = identities;
  const last = identities.at(-1);
  const refusals: Refusal[] = [];
  const keys = new Set(identities.flatMap((identity) => identity?.leafKey ?? []));
  if (keys.size > 1) {
    const message = `the certificate of the endpoint had ${keys.size} different keys during the run`;
    const fix =
      'Wait until a renewal is complete. Behind a load balancer, install the same certificate and key on every ' +
      'instance.';
    refusals.push({ code: 'endpoint-key-changed', message, fix, exit: 1 });
  } else if (first == null || last == null) {
    const when = first == null ? 'before' : 'after';
    const message = `the key of the endpoint's certificate could not be read ${when} the run`;
    const fix = 'Check the connection with `hookproof doctor URL`.';
    refusals.push({ code: 'endpoint-key-unknown', message, fix, exit: 3 });
  }
  const mustBePublic = profile !== null && PROFILE_RULES[profile].publicTrust;
  if (mustBePublic && identities.some((identity) => identity?.publiclyTrusted === false)) {
    const message = 'the chain of the endpoint does not end at a public CA';
    const fix = 'Get a certificate from a public CA, and send the full chain. `hookproof doctor URL` shows the chain.';
    refusals.push({ code: 'not-publicly-trusted', message, fix, exit: 1 });
  }
  return refusals;
}

/** Returns the reasons not to trust the dates that the certificate would state. */
function clockRefusals({ startedAt, endedAt, elapsedMs }: ClockReading, revision: Revision): Refusal[] {
  const fix = 'Synchronise the clock with NTP (check it with `timedatectl` or `date -u`), then certify again.';
  if (startedAt.getTime() < Date.parse(`${revision.made}T00:00:00Z`)) {
    const message =
      `the clock of this machine shows ${startedAt.toISOString()}, ` +
      `before the date of revision ${revision.number} (${revision.made})`;
    return [{ code: 'clock-behind', message, fix, exit: 2 }];
  }
  const jumpMs = endedAt.getTime() - startedAt.getTime() - elapsedMs;
  if (Math.abs(jumpMs) <= MAX_CLOCK_JUMP_MS) return [];
  const direction = jumpMs > 0 ? 'forward' : 'back';
  const seconds = Math.round(Math.abs(jumpMs) / 1000);
  const message = `the clock of this machine was set ${direction} by ${seconds} s during the run`;
  return [{ code: 'clock-set', message, fix, exit: 2 }];
}

function amount(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

function counted(count: number, noun: string): string {
  return `${amount(count, noun)} ${count === 1 ? 'is' : 'are'}`;
}
