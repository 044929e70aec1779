/** Issues a certificate for a run. Pure and deterministic, because Ed25519 needs no randomness. */

import type { KeyObject } from 'node:crypto';
import { definitionOf, type Scheme, SERVICE_SCHEME } from '../../contract/signing/index.ts';
import { evidenceStatement, PROFILE_RULES, type Profile } from '../../scenarios/index.ts';
import type { ResultDocument, Verdict } from '../report/result-document.ts';
import { isScored } from '../report/verdict.ts';
import { canonicalJson, type Json, sha256 } from './canonical-json.ts';
import { envelopeText, signEnvelope } from './dsse.ts';
import { keyIdOf } from './keys.ts';
import {
  type CertificateStatement,
  type CertifiedScheme,
  PAYLOAD_TYPE,
  PREDICATE_TYPE,
  STATEMENT_TYPE,
  statementBytes,
} from './statement.ts';

export interface CertificateInput {
  /** The redacted document; `documentBytes` is the file in which it is saved. */
  readonly document: ResultDocument;
  readonly documentBytes: Uint8Array;
  /** The endpoint as configured, including the query. */
  readonly url: string;
  /** The scheme in which the run signed; undefined for that of the specification. */
  readonly scheme?: Scheme | undefined;
  /** SHA-256 of the SubjectPublicKeyInfo of the endpoint's certificate. */
  readonly leafKey: string;
  readonly trust: 'public' | 'configured';
  /** The redacted configuration, as saved with the certificate. */
  readonly configurationBytes: Uint8Array;
  readonly issuedAt: Date;
  readonly validForMs: number;
  readonly privateKey: KeyObject;
}

/** Returns the text of the certificate file. The caller has checked that there are no refusals. */
export function issueCertificate(input: CertificateInput): string {
  return envelopeText(signEnvelope(PAYLOAD_TYPE, statementBytes(statementOf(input)), input.privateKey));
}

/** Returns the configuration to save with a certificate: the redacted settings, except those for reports. */
export function configurationBytes(settings: readonly { readonly path: string; readonly value: string }[]): Buffer {
  const kept = settings.filter(({ path }) => path !== 'reporters' && path !== 'output-dir');
  const members = kept.map(({ path, value }): [string, Json] => [path, value]);
  return Buffer.from(`${canonicalJson(Object.fromEntries(members))}\n`);
}

/** Returns the digest of the normalised URL without its fragment, the same for all spellings of an endpoint. */
export function urlDigest(url: string): string {
  const normal = new URL(url);
  normal.hash = '';
  return sha256(normal.href);
}

/** Returns the digest of a profile's requirements. */
export function profileDigest(profile: Profile): string {
  const { needs, publicTrust } = PROFILE_RULES[profile];
  return sha256(canonicalJson({ name: profile, needs: [...needs], publicTrust }));
}

function statementOf(input: CertificateInput): CertificateStatement {
  const { document, issuedAt, leafKey, privateKey, scheme, trust, url, validForMs } = input;
  const { profile, scoring, target } = document;
  if (profile === null || scoring === undefined || target.tls?.protocol == null)
    throw new TypeError('a run without a profile or without TLS cannot be certified');
  if (target.scheme !== scheme?.name) throw new TypeError('the run was in another scheme');
  const scored = document.results.filter((result) => isScored(document, result));
  const withVerdict = (verdict: Verdict) => scored.filter((one) => one.verdict === verdict).map(({ id }) => id);
  const warnedTests = withVerdict('warn');
  const named = <Name extends string>(name: Name, digest: string) => ({ name, digest: { sha256: digest } });
  return {
    _type: STATEMENT_TYPE,
    predicateType: PREDICATE_TYPE,
    subject: [
      named('result document', sha256(input.documentBytes)),
      named('endpoint', urlDigest(url)),
      named('endpoint key', leafKey),
    ],
    predicate: {
      result: warnedTests.length > 0 ? 'WARNED' : 'PASSED',
      configuration: [
        named('catalogue', document.catalogue.digest.replace(/^sha256:/, '')),
        named('configuration', sha256(input.configurationBytes)),
        named('profile', profileDigest(profile)),
        named('revision', scoring.digest),
      ],
      passedTests: withVerdict('pass'),
      warnedTests,
      failedTests: [],
      hookproofCertificate: {
        format: 1,
        endpoint: { url: withoutQuery(target.url), tls: target.tls.protocol as 'TLSv1.3', trust },
        evidence: document.evidence ?? { level: 0, statement: evidenceStatement(0) },
        expiresAt: timeText(issuedAt.getTime() + validForMs),
        features: [...target.features],
        issuedAt: timeText(issuedAt.getTime()),
        keyId: keyIdOf(privateKey),
        notApplicableTests: withVerdict('not-applicable'),
        notScoredTests: [...scoring.notScored],
        profile,
        revision: scoring.revision,
        run: { seed: document.seed, startedAt: document.startedAt },
        ...(scheme && { scheme: signedDefinition(scheme) }),
        tool: { ...document.tool },
      },
    },
  };
}

function signedDefinition(given: Scheme): NonNullable<CertifiedScheme> {
  return JSON.parse(JSON.stringify(definitionOf(given)));
}

/** Returns whether a certificate is for a scheme: a name, or a scheme with the same definition. */
export function isForScheme({ predicate }: CertificateStatement, scheme: Scheme | string): boolean {
  const certified = predicate.hookproofCertificate.scheme;
  if (typeof scheme === 'string') return (certified?.name ?? SERVICE_SCHEME.name) === scheme;
  if (certified === undefined) return scheme.name === SERVICE_SCHEME.name;
  return canonicalJson(certified) === canonicalJson(signedDefinition(scheme));
}

/** Formats a time rounded down to seconds, so that a new certificate is never valid only in the future. */
function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
