/**
 * Examines what is configured: secrets, client certificate, CAs. It needs no network. Specification: Authentication;
 * mutual TLS.
 */

import { stat } from 'node:fs/promises';
import { certificatesPem } from '../../certs/index.ts';
import { HookproofError } from '../../contract/index.ts';
import { MISTAKES } from '../../contract/mistakes/index.ts';
import {
  type Advice,
  type CollectedConfig,
  type Problem,
  SETTINGS,
  type SettingPath,
  throwIfAny,
} from '../config/index.ts';
import type { Partner } from '../partner.ts';
import { tlsOptionsFor } from '../transport/index.ts';
import { credentialShape } from './credential-shape.ts';
import type { DoctorFinding, DoctorSection, FactsOf } from './doctor-document.ts';
import { shownCertificates } from './endpoint-facts.ts';
import { advice, examined, info, present, problem, skipped } from './sections.ts';

export interface LocalExamination {
  /** The client certificate and its key; null if neither is configured. */
  readonly client: ClientIdentity | null;
  /** The usable part of the TLS material. */
  readonly tls: NonNullable<Partner['tls']>;
  /** The sections about CAs, signature secret, API key and configuration. */
  readonly sections: readonly DoctorSection[];
}

export interface ClientIdentity {
  /** The certificate and key in PEM, even if a correct server would reject them; null if they are unusable. */
  readonly pem: { readonly clientCert: string; readonly clientKey: string } | null;
  readonly certificates: FactsOf<'client-certificate'>['certificates'];
  /** Whether certificate and key belong together; null if one of them cannot be read. */
  readonly pair: boolean | null;
  readonly findings: readonly DoctorFinding[];
}

/** The settings that the doctor examines, each with the prefix of its finding codes. */
const PREFIXES: Partial<Record<SettingPath, string>> = {
  'hmac.secret': 'secret',
  'api-key.value': 'api-key',
  'tls.client-cert': 'client-cert',
  'tls.client-key': 'client-key',
  'tls.passphrase': 'client-passphrase',
  'tls.ca': 'ca',
};

const isExamined = (path: string | null) => path !== null && path in PREFIXES;
const isFixture = (path: string | null) => path?.startsWith('mtls.fixtures') === true;

/**
 * Throws the problems of the configuration as `run` does, except those that the doctor itself examines, and those of
 * settings that it does not need.
 */
export function throwOtherProblems({ problems }: CollectedConfig): void {
  const isNeeded = ({ code, path }: Problem) =>
    code !== 'CONFIG_URL_MISSING' && path !== 'profile' && !isExamined(path) && !isFixture(path);
  throwIfAny(problems.filter(isNeeded));
}

/** Returns whether there is any secret, key or CA to examine. A passphrase alone does not count. */
export function hasMaterial({ attempted }: CollectedConfig): boolean {
  return SETTINGS.some(({ path }) => isExamined(path) && path !== 'tls.passphrase' && attempted.has(path));
}

export async function examineConfiguration(collected: CollectedConfig): Promise<LocalExamination> {
  const client = await clientIdentity(collected);
  const cas = examineCas(collected);
  const credentials = [await examineCredential('secret', collected), await examineCredential('api-key', collected)];
  const others = otherFindings(collected);
  return {
    client,
    tls: { ...(cas?.pem != null && { ca: cas.pem }), ...client?.pem },
    sections: [
      ...(cas === null ? [] : [cas.section]),
      ...credentials,
      ...(others.length === 0 ? [] : [examined('configuration', null, others)]),
    ],
  };
}

async function clientIdentity(collected: CollectedConfig): Promise<ClientIdentity | null> {
  const { attempted, values, problems } = collected;
  if (!attempted.has('tls.client-cert') && !attempted.has('tls.client-key')) return null;
  const { identity, certificates } = values.material;
  const pem =
    identity === undefined ? null : { clientCert: certificatesPem(identity.chain), clientKey: identity.keyPem };
  const refused = pem && refusalOf(pem, 'client-certificate-unusable');
  const unpaired = problems.some(({ path, reason }) => path === 'tls.client-key' && reason === 'key-other-pair');
  return {
    pem: refused === null ? pem : null,
    certificates: shownCertificates(certificates),
    pair: identity !== undefined ? true : unpaired ? false : null,
    findings: present([
      refused,
      ...findingsAt(['tls.client-cert', 'tls.client-key', 'tls.passphrase'], collected),
      await openFile('tls.client-key', 'private key', collected),
    ]),
  };
}

/** Returns the finding about readable material that OpenSSL rejects, such as a 512-bit key. */
function refusalOf(tls: NonNullable<Partner['tls']>, code: string): DoctorFinding | null {
  try {
    tlsOptionsFor({ tls });
    return null;
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    return problem(code, error.message, error.hint);
  }
}

/** Maximum number of CAs to show. A whole trust store contains over a hundred. */
const MAX_SHOWN = 20;

function examineCas(collected: CollectedConfig): { section: DoctorSection; pem: string | null } | null {
  const given = collected.given.get('tls.ca')?.[0];
  if (!collected.attempted.has('tls.ca')) return null;
  const { cas } = collected.values.material;
  const pem = cas.length === 0 ? null : certificatesPem(cas);
  const refused = pem === null ? null : refusalOf({ ca: pem }, 'ca-unusable');
  const facts = { from: given?.where ?? 'tls.ca', certificates: shownCertificates(cas.slice(0, MAX_SHOWN)) };
  const findings = present([refused, ...findingsAt(['tls.ca'], collected)]);
  return { section: examined('extra-cas', facts, findings), pem: refused === null ? pem : null };
}

const CREDENTIALS = {
  secret: { path: 'hmac.secret', noun: 'HMAC secret' },
  'api-key': { path: 'api-key.value', noun: 'API key' },
} as const;

async function examineCredential(kind: keyof typeof CREDENTIALS, collected: CollectedConfig): Promise<DoctorSection> {
  const { path, noun } = CREDENTIALS[kind];
  const { attempted, given, values } = collected;
  if (!attempted.has(path)) return skipped(kind, 'none is configured');
  const [one] = given.get(path) ?? [];
  const literal = one?.literal === true ? String(one.value) : undefined;
  const value = (kind === 'secret' ? values.secret : values.apiKey) ?? literal;
  const findings = present([...findingsAt([path], collected), await openFile(path, noun, collected)]);
  if (value === undefined || one === undefined) return examined(kind, null, findings);
  const shape = credentialShape(kind, value);
  // Where the scheme decodes its secrets, the prefix is right.
  const isForeign = collected.config?.partner.signing?.scheme !== undefined;
  const own = shape.findings.filter(({ code }) => !(isForeign && code.endsWith('of-another-scheme')));
  const same = kind === 'secret' && values.apiKey?.trim() === value.trim() && SAME_VALUE;
  return examined(kind, { from: one.where, ...shape.facts }, present([same, ...findings, ...own]));
}

/** A secret that is also the API key protects nothing, because every delivery contains the key. */
const SAME_VALUE = problem(
  'secret-equals-api-key',
  'The HMAC secret and the API key have the same value. Every delivery contains the key, and anyone who sees it can ' +
    'sign.',
  'Generate a separate secret: openssl rand -base64 32',
);

/** Returns the problems and the advice from loading these settings. */
function findingsAt(
  paths: readonly SettingPath[],
  { problems, advice: given, files }: CollectedConfig,
): DoctorFinding[] {
  const isHere = ({ path }: Problem | Advice) => paths.some((one) => one === path);
  return [
    ...problems.filter(isHere).flatMap(({ path, reason, message, hint }) => {
      if (path === null || reason === null) return [];
      const fix = reason === 'in-config-file' ? `${hint} Then replace the value, because it was exposed.` : hint;
      return [problem(codeOf(path, reason), `${message}.`, fix)];
    }),
    ...given.filter(isHere).flatMap(({ path, reason, message, hint }) => {
      // Another finding, about the shape of the credential, covers the byte order mark.
      if (path === null || reason === 'byte-order-mark') return [];
      if (reason === 'newline-dropped') {
        const fix = 'Make sure that the receiver drops it too, if it reads such a file.';
        return files.has(path) ? [info(codeOf(path, reason), message, fix)] : [];
      }
      return [advice(codeOf(path, reason), message, hint)];
    }),
  ];
}

/** Reasons that concern how a value was given, not its content. */
const OF_THE_INPUT = ['empty', 'missing', 'unreadable', 'in-config-file', 'is-no-path', 'newline-dropped'];

/**
 * Returns the code of a finding: `client-key-unreadable` for `unreadable`, `client-key-other-pair` for
 * `key-other-pair`.
 */
function codeOf(path: string, reason: string): string {
  if (OF_THE_INPUT.includes(reason)) return `${PREFIXES[path as SettingPath]}-${reason}`;
  const subject = path === 'tls.ca' ? 'ca' : 'client';
  return reason.startsWith(`${subject}-`) ? reason : `${subject}-${reason}`;
}

/**
 * Returns the finding about a secret file that every user of this machine can read. Windows has no such permission bit.
 */
async function openFile(path: SettingPath, noun: string, { files }: CollectedConfig): Promise<DoctorFinding | null> {
  const file = files.get(path);
  if (file === undefined || process.platform === 'win32') return null;
  const isOpen = await stat(file).then(
    (found) => found.isFile() && (found.mode & 0o004) !== 0,
    () => false,
  );
  if (!isOpen) return null;
  const title = `Every user of this machine can read the file with the ${noun}.`;
  return advice(`${PREFIXES[path]}-file-open`, title, 'Make it readable by its owner only: chmod 600 FILE.');
}

/** Reasons for advice that concerns no particular credential. */
const OTHER_ADVICE = ['unknown-variable', 'file-name', 'header-unused', 'fixture'];

function otherFindings({ problems, advice: notes, attempted, given }: CollectedConfig): DoctorFinding[] {
  const isOpen =
    attempted.has('url') &&
    !(['hmac.secret', 'api-key.value', 'tls.client-cert'] as const).some((path) => attempted.has(path));
  return [
    ...problems
      .filter(({ path }) => isFixture(path))
      .map(({ message, hint }) => problem('client-fixture', `${message}.`, hint)),
    ...notes
      .filter(({ path, reason }) => OTHER_ADVICE.includes(reason) || isFixture(path))
      .map(({ message, hint }) => advice('configuration', message, hint || 'Correct it, or remove it.')),
    ...(isOpen ? [NO_CREDENTIALS] : []),
    ...(['hmac.header', 'api-key.header'] as const)
      .map((path) => `${given.get(path)?.[0]?.value}`)
      .filter((name) => name.includes('_'))
      .map((name) => {
        const title = `Some proxies drop headers whose names contain an underscore: ${name}.`;
        return advice(UNDERSCORE, title, MISTAKES[UNDERSCORE].fix.rule);
      }),
  ];
}

const UNDERSCORE = 'header-name-with-underscore';

const NO_CREDENTIALS = advice(
  'no-credentials',
  'No HMAC secret, API key or client certificate is configured: the receiver cannot tell who sends a delivery.',
  'Put the secret that was agreed with the receiver in HOOKPROOF_SECRET, or in a file given with `--secret-file`.',
);
