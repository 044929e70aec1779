/** What speaks against a certificate before anything is sent: what was asked for. Pure. */
import { type Feature, PROFILE_RULES, type Profile } from '../../scenarios/index.ts';
import type { Refusal } from './refusal.ts';

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
