/** Explains why a file does not have the expected content: what it contains, and how to convert it. */

import { peekElement } from '../der.ts';
import {
  type ContentKind,
  isPrivateKey,
  KIND_WORDS,
  LINE_WORDS,
  labelKind,
  type MaterialProblem,
  type MaterialProblemCode,
  type MaterialSource,
  shellName,
  sourceName,
  type Wanted,
} from './finding.ts';
import { beginLine, type LineFault, type PemBlock } from './pem.ts';
import { derKind } from './sniff.ts';

const PREFIX = { certificate: 'CERT', key: 'KEY' } as const;
const NOUN = { certificate: 'a certificate', key: 'a private key' } as const;
const OUTPUT = { certificate: 'certificate.pem', key: 'key.pem' } as const;

/** Reports faulty lines in PEM text. */
export function wrongLines(wanted: Wanted, fault: LineFault, source: MaterialSource): MaterialProblem {
  const isCut = fault === 'no-end' || fault === 'no-begin';
  const [what, hint] = LINE_WORDS[fault];
  return problem(wanted, `${PREFIX[wanted]}_${isCut ? 'TRUNCATED' : 'PEM_LINES'}`, source, what, hint);
}

/** Reports a file whose content is not of the expected kind. */
export function wrongKind(
  wanted: Wanted,
  kind: ContentKind,
  source: MaterialSource,
  form: 'pem' | 'der' | 'other',
): MaterialProblem {
  const prefix = PREFIX[wanted];
  if (kind === 'empty' || kind === 'blank') {
    const hint = `Check that it was written. Expected ${NOUN[wanted]} in PEM or DER.`;
    return problem(wanted, `${prefix}_EMPTY`, source, `is ${KIND_WORDS[kind]}`, hint);
  }
  const hint = howToConvert(wanted, kind, shellName(source), form);
  const what = `${form === 'pem' ? 'contains' : 'is'} ${KIND_WORDS[kind]}, expected ${NOUN[wanted]}`;
  return problem(wanted, codeFor(wanted, kind), source, what, hint);
}

/** Reports content that is of the expected kind but cannot be read. */
export function unreadable(
  wanted: Wanted,
  der: Buffer | undefined,
  source: MaterialSource,
  label?: string,
): MaterialProblem {
  const prefix = PREFIX[wanted];
  const again = 'Copy the file again from its source, in binary mode if that is an option.';
  if (der === undefined) {
    const what = `contains ${NOUN[wanted]} with lines that are not base64`;
    return problem(wanted, `${prefix}_DAMAGED`, source, what, again);
  }
  const element = peekElement(der);
  if (element?.length !== undefined && element.present < element.length) {
    const what = `contains ${NOUN[wanted]} that is cut off: it has ${element.present} of ${element.length} bytes`;
    return problem(wanted, `${prefix}_TRUNCATED`, source, what, again);
  }
  const kind = derKind(der);
  if (label !== undefined && kind !== 'unknown' && kind !== labelKind(label)) {
    const what = `has the label of ${KIND_WORDS[labelKind(label)]} (${label}) but contains ${KIND_WORDS[kind]}`;
    const hint = 'The -----BEGIN line was edited: restore the label that matches the content.';
    return problem(wanted, `${prefix}_DAMAGED`, source, what, hint);
  }
  return problem(wanted, `${prefix}_DAMAGED`, source, `contains ${NOUN[wanted]} that is damaged`, again);
}

/** Returns the kind that best describes a file that lacks the expected content. */
export function mainKind(blocks: readonly PemBlock[]): ContentKind {
  const kinds = blocks.map(({ label, der }) => {
    const kind = labelKind(label);
    // If the label is unknown, the content can still show the kind.
    const inside = kind === 'unknown-block' && der !== undefined ? derKind(der) : 'unknown';
    return inside === 'unknown' ? kind : inside;
  });
  return kinds.find((kind) => kind !== 'parameters' && kind !== 'unknown-block') ?? kinds[0] ?? 'text';
}

function problem(
  wanted: Wanted,
  code: MaterialProblemCode,
  source: MaterialSource,
  what: string,
  hint: string,
): MaterialProblem {
  return { code, about: wanted, what: `${sourceName(source)} ${what}`, hint };
}

function codeFor(wanted: Wanted, kind: ContentKind): MaterialProblemCode {
  if (kind === 'utf-16') return `${PREFIX[wanted]}_ENCODING`;
  if (wanted === 'certificate') return isPrivateKey(kind) ? 'CERT_IS_KEY' : 'CERT_IS_OTHER';
  if (kind === 'certificate') return 'KEY_IS_CERTIFICATE';
  return kind === 'public-key' ? 'KEY_IS_PUBLIC' : 'KEY_IS_OTHER';
}

function howToConvert(wanted: Wanted, kind: ContentKind, file: string, form: 'pem' | 'der' | 'other'): string {
  const out = OUTPUT[wanted];
  const inform = form === 'der' ? ' -inform DER' : '';
  const certificates = wanted === 'certificate';
  switch (kind) {
    case 'pkcs12':
      return (
        `Extract ${NOUN[wanted]}: openssl pkcs12 -in ${file} ${certificates ? '-clcerts -nokeys' : '-nocerts'} -out ` +
        `${out}. If openssl reports "unsupported", add -legacy.`
      );
    case 'pkcs7':
      return certificates
        ? `Extract the certificates: openssl pkcs7${inform} -in ${file} -print_certs -out ${out}.`
        : 'It contains certificates and never a key: the key is on the machine where the certificate was requested.';
    case 'request':
      return certificates
        ? 'A request is sent to the CA: give the certificate that the CA returned.'
        : 'The key was generated together with the request: give the key file.';
    case 'revocation-list':
      return `It lists revoked certificates: give ${certificates ? 'the certificate itself' : 'the private key'}.`;
    case 'public-key':
      return certificates
        ? 'Give the certificate that contains this public key.'
        : 'A public key cannot sign: give the private key that it belongs to.';
    case 'parameters':
      return (
        'They describe a key type and contain no key: give ' +
        `${certificates ? 'the certificate' : 'the file with the key itself'}.`
      );
    case 'certificate':
      return `Check whether the certificate and the key are swapped. ${expectedForm(false)}`;
    case 'dsa':
      return certificates
        ? 'It contains a private key. Check whether the certificate and the key are swapped.'
        : 'TLS does not support DSA: use RSA with 2048 bits or more, or ECDSA on P-256.';
    case 'openssh-private-key':
      return certificates
        ? 'OpenSSH has no X.509 certificates: give the one that the CA issued.'
        : `Convert a copy of it: cp ${file} ${out} && ssh-keygen -p -m PEM -f ${out}.`;
    case 'openssh-public-key':
      return certificates
        ? 'SSH has no X.509 certificates: give the certificate that the CA issued.'
        : 'A public key cannot sign: give the private key that it belongs to.';
    case 'putty-key':
      return certificates
        ? 'PuTTY has no X.509 certificates: give the one that the CA issued.'
        : `Export it: puttygen ${file} -O private-openssh -o ${out}.`;
    case 'java-keystore':
      return (
        `Convert it first: keytool -importkeystore -srckeystore ${file} -destkeystore store.p12 -deststoretype ` +
        `pkcs12; then: openssl pkcs12 -in store.p12 ${certificates ? '-clcerts -nokeys' : '-nocerts'} -out ${out}.`
      );
    case 'utf-16':
      return (
        `Save it as UTF-8 or ASCII: iconv -f UTF-16 -t UTF-8 ${file} > ${out}. PowerShell writes UTF-16 ` +
        'with > by default.'
      );
    case 'bare-base64':
      return `Decode it to DER: base64 -d < ${file} > ${out.replace('.pem', '.der')}.`;
    case 'base64-of-pem':
      return `Decode it (Kubernetes secrets are encoded in base64): base64 -d < ${file} > ${out}.`;
    case 'html':
      return 'A sign-in or error page was saved instead of the file: download it again.';
    case 'json-with-pem':
      return (
        `Extract the PEM text, for example: jq -r .${certificates ? 'certificate' : 'private_key'} ` +
        `${file} > ${out}.`
      );
    case 'json-web-key':
      return 'Convert it to PEM with a tool for JSON web keys.';
    case 'zip':
      return `Unpack it, and give the file with ${NOUN[wanted]}.`;
    default:
      if (certificates && isPrivateKey(kind))
        return 'It contains a private key. Check whether the certificate and the key are swapped.';
      return expectedForm(certificates);
  }
}

function expectedForm(certificates: boolean): string {
  const [noun, label] = certificates ? ['certificate', 'CERTIFICATE'] : ['key', 'PRIVATE KEY'];
  return `A ${noun} is PEM (${beginLine(label)}) or DER.`;
}
