/** Explains why a file does not hold what is wanted: what it is, and how to turn it into what is wanted. */
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

function problem(
  wanted: Wanted,
  code: MaterialProblemCode,
  source: MaterialSource,
  what: string,
  hint: string,
): MaterialProblem {
  return { code, about: wanted, what: `${sourceName(source)} ${what}`, hint };
}

/** The lines of a PEM text are wrong. */
export function wrongLines(wanted: Wanted, fault: LineFault, source: MaterialSource): MaterialProblem {
  const isCut = fault === 'no-end' || fault === 'no-begin';
  const [what, hint] = LINE_WORDS[fault];
  return problem(wanted, `${PREFIX[wanted]}_${isCut ? 'TRUNCATED' : 'PEM_LINES'}`, source, what, hint);
}

/** The file is of another kind, or holds something of another kind only. */
export function wrongKind(
  wanted: Wanted,
  kind: ContentKind,
  source: MaterialSource,
  form: 'pem' | 'der' | 'other',
): MaterialProblem {
  const prefix = PREFIX[wanted];
  if (kind === 'empty' || kind === 'blank') {
    const hint = `Was it written at all? Give a file that holds ${NOUN[wanted]}, PEM or DER.`;
    return problem(wanted, `${prefix}_EMPTY`, source, `is ${KIND_WORDS[kind]}`, hint);
  }
  const hint = howToConvert(wanted, kind, shellName(source), form);
  const what = `${form === 'pem' ? 'holds' : 'is'} ${KIND_WORDS[kind]}, and ${NOUN[wanted]} is wanted`;
  return problem(wanted, codeFor(wanted, kind), source, what, hint);
}

/** A block or a structure says that it is of the right kind and cannot be read. */
export function unreadable(
  wanted: Wanted,
  der: Buffer | undefined,
  source: MaterialSource,
  label?: string,
): MaterialProblem {
  const prefix = PREFIX[wanted];
  const again = 'Copy the file again from where it comes from, as a binary file where that can be chosen.';
  if (der === undefined) {
    const what = `holds ${NOUN[wanted]} whose lines are not base64, or not all of them`;
    return problem(wanted, `${prefix}_DAMAGED`, source, what, again);
  }
  const element = peekElement(der);
  if (element?.length !== undefined && element.present < element.length) {
    const what = `holds ${NOUN[wanted]} that is cut short: ${element.present} of ${element.length} bytes are there`;
    return problem(wanted, `${prefix}_TRUNCATED`, source, what, again);
  }
  const kind = derKind(der);
  if (label !== undefined && kind !== 'unknown' && kind !== labelKind(label)) {
    const what = `says that it holds ${KIND_WORDS[labelKind(label)]} (${label}) and holds ${KIND_WORDS[kind]}`;
    const hint = 'The line -----BEGIN was changed by hand: put the one back that belongs to the content.';
    return problem(wanted, `${prefix}_DAMAGED`, source, what, hint);
  }
  return problem(wanted, `${prefix}_DAMAGED`, source, `holds ${NOUN[wanted]} that is damaged`, again);
}

/** The kind by which a file without what is wanted is best described. */
export function tellingKind(blocks: readonly PemBlock[]): ContentKind {
  const kinds = blocks.map(({ label, der }) => {
    const kind = labelKind(label);
    // Labels vary; what is inside does not.
    const inside = kind === 'unknown-block' && der !== undefined ? derKind(der) : 'unknown';
    return inside === 'unknown' ? kind : inside;
  });
  return kinds.find((kind) => kind !== 'parameters' && kind !== 'unknown-block') ?? kinds[0] ?? 'text';
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
      return `Take ${NOUN[wanted]} out of it: openssl pkcs12 -in ${file} ${certificates ? '-clcerts -nokeys' : '-nocerts'} -out ${out}. Add -legacy when that says unsupported.`;
    case 'pkcs7':
      return certificates
        ? `Take the certificates out of it: openssl pkcs7${inform} -in ${file} -print_certs -out ${out}.`
        : 'It holds certificates and never a key: the key is where the certificate was requested.';
    case 'request':
      return certificates
        ? 'A request is what an authority is asked with: give the certificate that it sent back.'
        : 'The key was made together with the request: give that file.';
    case 'revocation-list':
      return `It lists what an authority has revoked: give ${certificates ? 'the certificate itself' : 'the private key'}.`;
    case 'public-key':
      return certificates
        ? 'A certificate holds the public key and who vouches for it: give that.'
        : 'A public key cannot sign: give the private key that it belongs to.';
    case 'parameters':
      return `They describe a kind of key and hold none: give ${certificates ? 'the certificate' : 'the file with the key itself'}.`;
    case 'certificate':
      return `Are certificate and key swapped? ${rightForm(false)}`;
    case 'dsa':
      return certificates
        ? 'It holds a private key: are certificate and key swapped?'
        : 'TLS has no use for DSA: use RSA with 2048 bits or more, or ECDSA on P-256.';
    case 'openssh-private-key':
      return certificates
        ? 'OpenSSH has no X.509 certificates: give the one that the authority issued.'
        : `Convert a copy of it: cp ${file} ${out} && ssh-keygen -p -m PEM -f ${out}.`;
    case 'openssh-public-key':
      return `SSH has no X.509 certificates: give the ${certificates ? 'certificate that the authority issued' : 'private key that it belongs to'}.`;
    case 'putty-key':
      return certificates
        ? 'PuTTY has no X.509 certificates: give the one that the authority issued.'
        : `Export it: puttygen ${file} -O private-openssh -o ${out}.`;
    case 'java-keystore':
      return `Convert it first: keytool -importkeystore -srckeystore ${file} -destkeystore store.p12 -deststoretype pkcs12; then: openssl pkcs12 -in store.p12 ${certificates ? '-clcerts -nokeys' : '-nocerts'} -out ${out}.`;
    case 'utf-16':
      return `Save it as UTF-8 or ASCII: iconv -f UTF-16 -t UTF-8 ${file} > ${out}. PowerShell writes UTF-16 with > unless told otherwise.`;
    case 'bare-base64':
      return `Decode it to DER: base64 -d < ${file} > ${out.replace('.pem', '.der')}.`;
    case 'base64-of-pem':
      return `Decode it, as a value of a Kubernetes secret: base64 -d < ${file} > ${out}.`;
    case 'html':
      return 'A page for signing in, or of an error, was saved in place of the file: fetch it again.';
    case 'json-with-pem':
      return `Take the PEM text out of it, for example: jq -r .${certificates ? 'certificate' : 'private_key'} ${file} > ${out}.`;
    case 'json-web-key':
      return 'Convert it to PEM with a tool for JSON web keys.';
    case 'zip':
      return `Unpack it, and give the file with ${NOUN[wanted]}.`;
    default:
      if (certificates && isPrivateKey(kind)) return 'It holds a private key: are certificate and key swapped?';
      return rightForm(certificates);
  }
}

function rightForm(certificates: boolean): string {
  const [noun, label] = certificates ? ['certificate', 'CERTIFICATE'] : ['key', 'PRIVATE KEY'];
  return `A ${noun} is PEM (${beginLine(label)}) or DER.`;
}
