/**
 * What is configured: secrets, client certificate, CAs. Nothing here needs the network. Specification:
 * Authentication; mutual TLS.
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
  /** null when neither certificate nor key is configured. */
  readonly client: ClientIdentity | null;
  /** What can be used of the TLS material. */
  readonly tls: NonNullable<Partner['tls']>;
  /** CAs, signature secret, API key, configuration. */
  readonly sections: readonly DoctorSection[];
}

export interface ClientIdentity {
  /** What can be presented, even if a correct server would reject it. */
  readonly pem: { readonly clientCert: string; readonly clientKey: string } | null;
  readonly certificates: FactsOf<'client-certificate'>['certificates'];
  /** null when one of the two cannot be read. */
  readonly pair: boolean | null;
  readonly findings: readonly DoctorFinding[];
}

/** The settings that the doctor examines, with the prefix of the codes of their findings. */
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
 * Throws what is wrong with the configuration, as `run` does, except what the doctor examines itself and what it can
 * do without: the URL, the profile.
 */
export function throwOtherProblems({ problems }: CollectedConfig): void {
  const isNeeded = ({ code, path }: Problem) =>
    code !== 'CONFIG_URL_MISSING' && path !== 'profile' && !isExamined(path) && !isFixture(path);
  throwIfAny(problems.filter(isNeeded));
}

/** The secrets, keys and CAs that are configured; the passphrase alone is nothing to examine. */
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

/** Of what can be read, OpenSSL does not accept everything: a key of 512 bits, for one. */
function refusalOf(tls: NonNullable<Partner['tls']>, code: string): DoctorFinding | null {
  try {
    tlsOptionsFor({ tls });
    return null;
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    return problem(code, error.message, error.hint);
  }
}

/** A whole trust store has some hundred certificates. */
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
  const same = kind === 'secret' && values.apiKey?.trim() === value.trim() && SAME_VALUE;
  return examined(kind, { from: one.where, ...shape.facts }, present([same, ...findings, ...shape.findings]));
}

/** One value in both places protects nothing. */
const SAME_VALUE = problem(
  'secret-equals-api-key',
  'The HMAC secret and the API key are the same value. Every delivery contains the key, and anyone who sees it can ' +
    'sign.',
  'Make a separate secret: openssl rand -base64 32',
);

/** What loading the configuration found at these settings. */
function findingsAt(
  paths: readonly SettingPath[],
  { problems, advice: given, files }: CollectedConfig,
): DoctorFinding[] {
  const isHere = ({ path }: Problem | Advice) => paths.some((one) => one === path);
  return [
    ...problems.filter(isHere).flatMap(({ path, reason, message, hint }) => {
      if (path === null || reason === null) return [];
      const fix = reason === 'in-config-file' ? `${hint} Then replace it: the value was exposed.` : hint;
      return [problem(codeOf(path, reason), `${message}.`, fix)];
    }),
    ...given.filter(isHere).flatMap(({ path, reason, message, hint }) => {
      // The shape of a credential has a finding about its byte order mark.
      if (path === null || reason === 'byte-order-mark') return [];
      if (reason === 'newline-dropped') {
        const fix = 'Make sure that the receiver drops it too, if it reads such a file.';
        return files.has(path) ? [info(codeOf(path, reason), message, fix)] : [];
      }
      return [advice(codeOf(path, reason), message, hint)];
    }),
  ];
}

/** What is about the input rather than about the content of a certificate or a key. */
const OF_THE_INPUT = ['empty', 'missing', 'unreadable', 'in-config-file', 'is-no-path', 'newline-dropped'];

/** `unreadable` of the client key is `client-key-unreadable`, `key-other-pair` is `client-key-other-pair`. */
function codeOf(path: string, reason: string): string {
  if (OF_THE_INPUT.includes(reason)) return `${PREFIXES[path as SettingPath]}-${reason}`;
  const subject = path === 'tls.ca' ? 'ca' : 'client';
  return reason.startsWith(`${subject}-`) ? reason : `${subject}-${reason}`;
}

/** A file with a secret that every user of this machine can read. Windows has no such bit. */
async function openFile(path: SettingPath, noun: string, { files }: CollectedConfig): Promise<DoctorFinding | null> {
  const file = files.get(path);
  if (file === undefined || process.platform === 'win32') return null;
  const isOpen = await stat(file).then(
    (found) => found.isFile() && (found.mode & 0o004) !== 0,
    () => false,
  );
  if (!isOpen) return null;
  const title = `Every user of this machine can read the file with the ${noun}.`;
  return advice(`${PREFIXES[path]}-file-open`, title, 'Let only its owner read it: chmod 600 FILE.');
}

/** Advice that no section is about. */
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
        const title = `Some proxies drop headers whose names have an underscore: ${name}.`;
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
