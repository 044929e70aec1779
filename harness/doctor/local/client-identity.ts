/** The client certificate and its key: whether they can be used, and what a right server would say of them. Specification: mutual TLS. */
import type { X509Certificate } from 'node:crypto';
import {
  certificatesPem,
  type MaterialFile,
  type MaterialFinding,
  privateKeyTexts,
  readCertificates,
  readIdentity,
  readPrivateKey,
} from '../../../certs/index.ts';
import type { FactsOf } from '../doctor-document.ts';
import { advice, type DoctorFinding, problem } from '../findings/finding.ts';
import type { AllTold, Sources } from '../told/told.ts';
import { credentialOf } from './read-credential.ts';
import { type MaterialBytes, materialOf } from './read-material.ts';
import { shownCertificates } from './shown-certificates.ts';

export interface ClientIdentity {
  /** What can be presented, also when a right server would refuse it. */
  readonly pem: { readonly clientCert: string; readonly clientKey: string } | null;
  readonly certificates: FactsOf<'client-certificate'>['certificates'];
  /** null when one of the two cannot be read. */
  readonly pair: boolean | null;
  readonly findings: readonly DoctorFinding[];
  /** For redaction. */
  readonly secrets: readonly string[];
}

const NOTHING: MaterialBytes = { file: undefined, findings: [] };
const HOW_TO_GIVE_PASSPHRASE = 'Set HOOKPROOF_CLIENT_KEY_PASSPHRASE, or tls.passphrase in the configuration file.';

/** A finding of the loader, with its code in ours: KEY_OTHER_PAIR of a client is client-key-other-pair. */
export function ofLoader(make: typeof problem, prefix: string): (found: MaterialFinding) => DoctorFinding {
  return ({ code, what, hint }) => {
    const title = `${what.charAt(0).toUpperCase()}${what.slice(1)}.`;
    const fix = code === 'KEY_ENCRYPTED' ? HOW_TO_GIVE_PASSPHRASE : hint;
    const name = code.toLowerCase().replaceAll('_', '-');
    return make(name.startsWith(`${prefix}-`) ? name : `${prefix}-${name}`, title, fix);
  };
}

/** null when neither certificate nor key is configured. `authorities` are known besides, by which a missing intermediate is recognised. */
export async function clientIdentity(
  told: AllTold,
  env: Sources['env'],
  authorities: readonly X509Certificate[],
): Promise<ClientIdentity | null> {
  const { clientCert, clientKey, passphrase: toldPassphrase } = told;
  if (clientCert === undefined && clientKey === undefined) return null;
  const cert = clientCert === undefined ? NOTHING : await materialOf(clientCert, 'client-cert');
  const key = clientKey === undefined ? NOTHING : await materialOf(clientKey, 'client-key');
  const words = { noun: 'passphrase', prefix: 'client-passphrase', env };
  const opened = toldPassphrase === undefined ? undefined : await credentialOf(toldPassphrase, words);
  const passphrase = opened?.value;
  const read = readBoth(cert.file, key.file, passphrase, authorities);
  const secrets = [cert, key].flatMap(({ file }) => (file === undefined ? [] : privateKeyTexts(file.bytes)));
  return {
    ...read,
    findings: [
      ...(clientKey === undefined ? [lone('key', 'certificate')] : []),
      ...(clientCert === undefined ? [lone('certificate', 'key')] : []),
      ...cert.findings,
      ...key.findings,
      ...(opened?.findings ?? []),
      ...read.findings,
    ],
    secrets: [...secrets, ...(passphrase === undefined ? [] : [passphrase]), ...(read.pem ? [read.pem.clientKey] : [])],
  };
}

function lone(missing: 'certificate' | 'key', given: 'certificate' | 'key'): DoctorFinding {
  const title = `A client ${given} is configured and no client ${missing}, so none is presented.`;
  return problem(`client-${missing}-missing`, title, 'Give both: --client-cert and --client-key.');
}

type Read = Omit<ClientIdentity, 'secrets'>;

function readBoth(
  cert: MaterialFile | undefined,
  key: MaterialFile | undefined,
  passphrase: string | undefined,
  authorities: readonly X509Certificate[],
): Read {
  if (cert !== undefined && key !== undefined) {
    const { value, problems, advice: unwise } = readIdentity({ cert, key, passphrase, purpose: 'client', authorities });
    const findings = [...problems.map(ofLoader(problem, 'client')), ...unwise.map(ofLoader(advice, 'client'))];
    if (value !== undefined) {
      const pem = { clientCert: certificatesPem(value.chain), clientKey: value.keyPem };
      return { pem, certificates: shownCertificates(value.chain), pair: true, findings };
    }
    const others = readCertificates(cert.bytes, cert.source).value ?? [];
    const unpaired = problems.some(({ code }) => code === 'KEY_OTHER_PAIR');
    return { pem: null, certificates: shownCertificates(others), pair: unpaired ? false : null, findings };
  }
  const certificates = cert === undefined ? null : readCertificates(cert.bytes, cert.source);
  const privateKey = key === undefined ? null : readPrivateKey(key.bytes, { source: key.source, passphrase });
  const problems = [...(certificates?.problems ?? []), ...(privateKey?.problems ?? [])];
  return {
    pem: null,
    certificates: shownCertificates(certificates?.value ?? []),
    pair: null,
    findings: problems.map(ofLoader(problem, 'client')),
  };
}
