/** Certificates and keys from files, PEM or DER, checked before the first connection. Specification: TLS. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import type { Partner } from '../sender/partner.ts';
import { type Given, givenText, problemWith } from './given.ts';
import { readBounded } from './read-bounded.ts';
import { readSecret } from './read-secret.ts';
import { type Resolution, redacted, show } from './resolution.ts';
import { MAX_PEM_BYTES } from './settings.ts';

const PEM = /-----BEGIN [A-Z0-9 ]+-----/;
const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]+-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/**
 * The TLS material of the partner as PEM, or undefined when none is configured. The client certificate and its key come
 * together, belong together, and the key opens with the passphrase when it needs one.
 */
export async function resolveTls(resolution: Resolution): Promise<Partner['tls']> {
  const { settings, problems } = resolution;
  const problemsBefore = problems.length;
  const certificate = givenText(settings, 'tls.client-cert');
  const key = givenText(settings, 'tls.client-key');
  const ca = givenText(settings, 'tls.ca');
  const passphrase = givenText(settings, 'tls.passphrase');
  const lone = certificate === undefined ? key : key === undefined ? certificate : undefined;
  if (
    lone !== undefined &&
    resolution.attempted.has('tls.client-cert') !== resolution.attempted.has('tls.client-key')
  ) {
    const what = lone === key ? 'a client key has no client certificate' : 'a client certificate has no client key';
    problems.push(problemWith(lone, what, 'Give both: --client-cert and --client-key.', 'CONFIG_TLS'));
  }
  const chain = certificate && (await readCertificates(certificate, resolution));
  const secret = passphrase && (await readSecret(passphrase, 'passphrase', resolution));
  const privateKey = key && (await readKey(key, secret, resolution));
  const authorities = ca && (await readCertificates(ca, resolution));
  showTls(resolution, { certificate, key, ca, passphrase }, secret);
  const [leaf] = chain ?? [];
  if (certificate && key && leaf && privateKey) checkPair(leaf, privateKey.object, { certificate, key }, resolution);
  // Half of it would only look like another mistake to whoever checks it next.
  if (problems.length > problemsBefore) return undefined;
  const tls = {
    ...(chain && { clientCert: toPem(chain) }),
    ...(privateKey && { clientKey: privateKey.pem }),
    ...(secret && { passphrase: secret }),
    ...(authorities && { ca: toPem(authorities) }),
  };
  return Object.keys(tls).length === 0 ? undefined : tls;
}

/** The bytes of a file, or of the PEM text that a variable may hold in place of a path. */
async function readMaterial(given: Given<string>, resolution: Resolution): Promise<Buffer | undefined> {
  if (isInline(given)) return Buffer.from(given.value);
  if (PEM.test(given.value)) {
    const hint = 'Put it into a file and give its path, or put it into the environment variable.';
    resolution.problems.push(problemWith(given, 'is PEM text, and the path of a file is wanted', hint, 'CONFIG_TLS'));
    return undefined;
  }
  const content = await readBounded(resolve(given.base, given.value), MAX_PEM_BYTES);
  if ('bytes' in content) return content.bytes;
  const what = `the file ${given.value} ${content.reason}`;
  resolution.problems.push(problemWith(given, what, 'Give the path of a PEM or DER file.', 'CONFIG_TLS'));
  return undefined;
}

async function readCertificates(given: Given<string>, resolution: Resolution): Promise<X509Certificate[] | undefined> {
  const bytes = await readMaterial(given, resolution);
  if (bytes === undefined) return undefined;
  const text = bytes.toString('latin1');
  try {
    const blocks = PEM.test(text) ? (text.match(CERTIFICATE) ?? []) : [bytes];
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block));
  } catch {
    // Said below: what the parser says helps nobody.
  }
  const hint = /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)
    ? 'It holds a private key: are certificate and key swapped?'
    : 'A certificate is PEM (-----BEGIN CERTIFICATE-----) or DER.';
  resolution.problems.push(problemWith(given, `${name(given)} holds no certificate`, hint, 'CONFIG_TLS'));
  return undefined;
}

async function readKey(
  given: Given<string>,
  passphrase: string | undefined,
  resolution: Resolution,
): Promise<{ pem: string; object: KeyObject } | undefined> {
  const bytes = await readMaterial(given, resolution);
  if (bytes === undefined) return undefined;
  const text = bytes.toString('latin1');
  const isPem = PEM.test(text);
  const locked = /ENCRYPTED/.test(text);
  for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
    try {
      const options = passphrase === undefined ? {} : { passphrase };
      const object = createPrivateKey(
        isPem ? { key: text, ...options } : { key: bytes, format: 'der', type, ...options },
      );
      // DER is handed on as PEM. It is opened here, so the passphrase is not needed again, and does no harm.
      const pem = isPem ? text : object.export({ format: 'pem', type: 'pkcs8' }).toString();
      resolution.secrets.push(pem);
      return { pem, object };
    } catch {
      if (isPem) break;
    }
  }
  const [what, hint] = !locked
    ? ['holds no private key', 'A key is PEM (-----BEGIN PRIVATE KEY-----) or DER.']
    : passphrase === undefined
      ? [
          'is encrypted, and there is no passphrase',
          'Set HOOKPROOF_CLIENT_KEY_PASSPHRASE, or tls.passphrase in the configuration file.',
        ]
      : ['does not open with the passphrase', 'Check the passphrase.'];
  resolution.problems.push(problemWith(given, `${name(given)} ${what}`, hint, 'CONFIG_TLS'));
  return undefined;
}

function checkPair(
  leaf: X509Certificate,
  key: KeyObject,
  given: { certificate: Given<string>; key: Given<string> },
  { problems, advice }: Resolution,
): void {
  if (!leaf.checkPrivateKey(key)) {
    const what = `${name(given.key)} is not the key of the client certificate`;
    const hint =
      'Give the certificate and the key that were made together; the certificate of the client comes first in its file.';
    problems.push(problemWith(given.key, what, hint, 'CONFIG_TLS'));
  }
  if (new Date(leaf.validTo).getTime() < Date.now()) {
    advice.push(
      `${given.certificate.where}: the client certificate expired on ${new Date(leaf.validTo).toISOString()}.`,
    );
  }
}

function showTls(
  resolution: Resolution,
  given: Record<'certificate' | 'key' | 'ca' | 'passphrase', Given<string> | undefined>,
  passphrase: string | undefined,
): void {
  for (const [path, one] of [
    ['tls.client-cert', given.certificate],
    ['tls.client-key', given.key],
    ['tls.ca', given.ca],
  ] as const) {
    const value = one === undefined ? 'not set' : isInline(one) ? redacted(one.value) : one.value;
    show(resolution, path, value, one);
  }
  show(resolution, 'tls.passphrase', passphrase === undefined ? 'not set' : redacted(passphrase), given.passphrase);
}

function isInline(given: Given<string>): boolean {
  return given.layer === 'environment' && PEM.test(given.value);
}

function name(given: Given<string>): string {
  return isInline(given) ? 'the PEM text' : `the file ${given.value}`;
}

function toPem(certificates: readonly X509Certificate[]): string {
  return certificates.map((certificate) => certificate.toString()).join('');
}
