/**
 * Commands for issued certificates: `hookproof certify verify` checks a certificate offline, and `hookproof certify
 * recheck` sends a few deliveries to the certified endpoint.
 */
import { resolve } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { SCHEMES, SERVICE_SCHEME } from '../../../contract/signing/schemes/schemes.ts';
import { visible } from '../../../contract/visible.ts';
import { EVIDENCE_LEVELS } from '../../../scenarios/profiles.ts';
import {
  type Drift,
  KNOWN_REVISIONS,
  missingFeatures,
  type Reason,
  schemeMismatch,
  urlDigest,
  type Verification,
  verifyCertificate,
} from '../../certify/index.ts';
import { type ConfigFlags, numberOfFlag, PROFILES, type Profile } from '../../config/index.ts';
import { featuresOf } from '../../run/index.ts';
import { commandConfig } from '../command-input.ts';
import { confirmSending } from '../confirm-sending.ts';
import { interruptible } from '../stop-signals.ts';
import { readNamed } from './certify-files.ts';
import { recheckConfigured } from './issuing.ts';
import { certificateJson, certificateLines, outputLayout, reasonLines } from './output.ts';
import type { RecheckFleetFlags } from './recheck-fleet.ts';
import { trustedKeys } from './signing-key.ts';

interface VerifyFlags {
  readonly key: readonly string[];
  readonly result?: string;
  readonly url?: string;
  readonly at?: string;
  readonly profile?: string;
  readonly scheme?: string;
  readonly evidenceLevel?: string;
  readonly strict?: boolean;
}

interface RecheckFlags extends ConfigFlags, Partial<Omit<RecheckFleetFlags, 'key' | 'json' | 'strict'>> {
  readonly config?: string;
  readonly key: readonly string[];
  readonly json?: boolean;
  readonly strict?: boolean;
  readonly yes?: boolean;
}

export async function certifyVerifyCommand(
  file: string,
  { json, scheme = SERVICE_SCHEME.name, ...flags }: VerifyFlags & { readonly json?: boolean },
): Promise<number> {
  const verification = await verifyFile(file, { ...flags, scheme });
  const { valid, reasons, warnings, statement } = verification;
  if (json === true) {
    const document = { valid, reasons, warnings, certificate: certificateJson(statement) };
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return valid ? 0 : 1;
  }
  const layout = outputLayout();
  const optional = { URL: flags.url, profile: flags.profile, result: flags.result };
  const notCompared = Object.entries(optional).flatMap(([name, value]) => (value === undefined ? [name] : []));
  const verdict = valid ? layout.paint('VALID', 'bold', 'green') : layout.paint('NOT VALID', 'bold', 'red');
  const lines = [
    `${layout.sign(valid ? 'pass' : 'fail')} ${verdict}`,
    ...reasonLines(reasons, 'fail', layout),
    ...reasonLines(warnings, 'warn', layout),
    ...(statement === null ? [] : certificateLines(statement, layout)),
    ...(valid && notCompared.length > 0 ? [`  not compared: ${notCompared.join(', ')}`] : []),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return valid ? 0 : 1;
}

export async function certifyRecheckCommand(
  file: string | undefined,
  url: string | undefined,
  flags: RecheckFlags,
): Promise<number> {
  const { config: configFile, key, json, strict, yes, partners, only, parallel, register, exitOn, ...given } = flags;
  if (partners !== undefined) {
    refuseWithPartners({ 'a certificate': file, '`--config`': configFile });
    const { outputDir, ...shared } = given;
    const { recheckFleet } = await import('./recheck-fleet.ts');
    return recheckFleet({ partners, only, parallel, register, exitOn, key, json, strict, outputDir }, shared);
  }
  if (file === undefined) {
    throw new HookproofError('CERTIFY_RECHECK_WHAT', 'no certificate is named', {
      hint: 'Name its file, or the folder of the partners with `--partners`.',
    });
  }
  const first = await verifyFile(file, { key, ...(strict && { strict }) });
  // An invalid certificate proves nothing about any endpoint, so nothing is sent.
  if (!first.valid || first.statement === null)
    return printRecheck({ verification: first, drift: [], checks: null }, json);

  const { statement } = first;
  const config = await commandConfig(url ?? urlFor(statement), configFile, given);
  const mismatch = schemeMismatch(statement, config.partner);
  if (mismatch !== null) {
    throw new HookproofError('CERTIFY_RECHECK_SCHEME', mismatch, {
      hint: 'Set `--scheme`, or `scheme` in hookproof.yaml, as it was when the endpoint was certified.',
    });
  }
  const verification = await verifyFile(file, { key, url: config.partner.url, ...(strict && { strict }) });
  if (!verification.valid) return printRecheck({ verification, drift: [], checks: null }, json);
  const missing = missingFeatures(statement, featuresOf(config.partner, config.clientFixtures));
  if (missing.length > 0) {
    const message = `the certificate is for an endpoint with ${missing.join(', ')}, which is not configured`;
    throw new HookproofError('CERTIFY_RECHECK_FEATURES', message, {
      hint: 'Configure the endpoint as it was when it was certified: secret, API key, client certificate.',
    });
  }
  await confirmSending(config, yes, () => 'a few test notifications');
  const interruption = interruptible();
  try {
    const { drift, document } = await recheckConfigured(config, statement, interruption.signal);
    const checks = document.results.map(({ id, verdict }) => ({ id, verdict }));
    const code = printRecheck({ verification, drift, checks }, json);
    return interruption.exitCode() ?? code;
  } finally {
    interruption.dispose();
  }
}

function refuseWithPartners(given: Readonly<Record<string, unknown>>): void {
  const names = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (names.length === 0) return;
  throw new HookproofError('FLEET_FLAGS', `\`--partners\` cannot be combined with ${names.join(', ')}`, {
    hint: 'The certificates are in the output folder, and the settings in the files of the partners.',
  });
}

/**
 * Returns the endpoint's URL from the certificate. Returns undefined if HOOKPROOF_URL is set, or if the URL had a
 * query: a certificate omits it, so the URL must be configured.
 */
function urlFor({ predicate, subject }: NonNullable<Verification['statement']>): string | undefined {
  if ((process.env.HOOKPROOF_URL ?? '') !== '') return undefined;
  const { url } = predicate.hookproofCertificate.endpoint;
  return urlDigest(url) === subject[1].digest.sha256 ? url : undefined;
}

interface RecheckOutcome {
  readonly verification: Verification;
  readonly drift: readonly Drift[];
  /** The checks that were run; null if nothing was sent. */
  readonly checks: readonly { readonly id: string; readonly verdict: string }[] | null;
}

function printRecheck({ verification, drift, checks }: RecheckOutcome, json: boolean | undefined): number {
  const { reasons, warnings, statement } = verification;
  const found: readonly (Reason | Drift)[] = [...reasons, ...drift];
  const exit = reasons.length > 0 || drift.some((one) => one.exit === 1) ? 1 : drift.length > 0 ? 3 : 0;
  if (json === true) {
    const document = { steady: exit === 0, reasons, warnings, drift, checks, certificate: certificateJson(statement) };
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return exit;
  }
  const layout = outputLayout();
  const words = { 0: 'AS CERTIFIED', 1: checks === null ? 'NOT VALID' : 'DRIFTED', 3: 'NO VERDICT' }[exit];
  const sign = { 0: 'pass', 1: 'fail', 3: 'inconclusive' }[exit] as 'pass';
  const lines = [
    `${layout.sign(sign)} ${layout.paint(words, 'bold', layout.style(sign))}`,
    ...reasonLines(found, 'fail', layout),
    ...reasonLines(warnings, 'warn', layout),
    ...(statement === null ? [] : certificateLines(statement, layout)),
    ...(checks === null ? ['  nothing was sent'] : layout.paragraph('  ', canaryText(checks))),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return exit;
}

function canaryText(checks: NonNullable<RecheckOutcome['checks']>): string {
  const ids = (passed: boolean) => checks.filter(({ verdict }) => (verdict === 'pass') === passed).map(({ id }) => id);
  const [passed, others] = [ids(true), ids(false)];
  const count = `${passed.length} of ${checks.length} canary checks passed`;
  const named = passed.length > 0 ? `${count}: ${passed.join(', ')}` : count;
  return others.length > 0 ? `${named}; not passed: ${others.join(', ')}` : named;
}

/** Maximum size of a certificate in bytes, to protect memory. Verification has its own, lower limit. */
const MAX_CERTIFICATE_BYTES = 16 * 1024 * 1024;

async function verifyFile(file: string, flags: VerifyFlags): Promise<Verification> {
  const keys = await trustedKeys(flags.key);
  const bytes = await readNamed(resolve(file), 'the certificate', MAX_CERTIFICATE_BYTES);
  return verifyCertificate(bytes, {
    keys,
    at: timeOf(flags.at),
    revisions: KNOWN_REVISIONS,
    strict: flags.strict === true,
    ...(flags.result !== undefined && { result: await readNamed(resolve(flags.result), 'the result document') }),
    ...(flags.url !== undefined && { url: checkedUrl(flags.url) }),
    ...(flags.profile !== undefined && { profile: checkedProfile(flags.profile) }),
    ...(flags.scheme !== undefined && { scheme: SCHEMES.find(({ name }) => name === flags.scheme) ?? flags.scheme }),
    ...(flags.evidenceLevel !== undefined && {
      evidenceLevel: numberOfFlag('--evidence-level', flags.evidenceLevel, [0, EVIDENCE_LEVELS.length - 1]),
    }),
  });
}

/** Parses `--at`: an ISO 8601 date, or a time with its zone. Default: now. @throws HookproofError CERTIFY_TIME */
export function timeOf(text: string | undefined): Date {
  if (text === undefined) return new Date();
  const time = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time);
  throw new HookproofError('CERTIFY_TIME', `\`--at ${visible(text)}\` is not a time`, {
    hint: 'Write a date, or a time with its zone: 2027-01-31, or 2027-01-31T12:00:00Z.',
  });
}

function checkedUrl(text: string): string {
  if (URL.canParse(text)) return text;
  throw new HookproofError('CERTIFY_URL', 'the value of `--url` is not a URL', {
    hint: 'Give the full URL: https://partner.example/hooks',
  });
}

function checkedProfile(text: string): Profile {
  const found = PROFILES.find((profile) => profile === text);
  if (found !== undefined) return found;
  throw new HookproofError('CERTIFY_PROFILE', `\`--profile ${visible(text)}\` is not a profile`, {
    hint: `Choose from ${PROFILES.join(', ')}.`,
  });
}
