/** Reads certificates of authorities to trust. */
import type { X509Certificate } from 'node:crypto';
import { isAuthority, isIssuedBy, isSelfIssued, isSelfSigned } from '../facts/issuing.ts';
import { subjectInWords } from '../facts/names-in-words.ts';
import { validityAt, validityOf } from '../facts/validity.ts';
import { type MaterialAdvice, type MaterialReading, type MaterialSource, sourceName } from './finding.ts';
import { isPrivateKey, labelKind } from './material-words.ts';
import { readCertificates } from './read-certificates.ts';
import { sniff } from './sniff.ts';

/** The certificates of the file, with advice on those that nothing can be traced to. */
export function readAuthorities(
  bytes: Uint8Array,
  { source, now = new Date() }: { source: MaterialSource; now?: Date },
): MaterialReading<readonly X509Certificate[]> {
  const reading = readCertificates(bytes, source);
  if (reading.value === undefined) return reading;
  return { ...reading, advice: [...adviceOnKeys(bytes, source), ...adviceOn(reading.value, source, now)] };
}

function adviceOn(certificates: readonly X509Certificate[], source: MaterialSource, now: Date): MaterialAdvice[] {
  const name = sourceName(source);
  const expired = certificates.filter((one) => validityAt(validityOf(one), now) === 'expired');
  // One that is signed by itself can be trusted for itself, whatever it says.
  const noAuthority = certificates.filter((one) => !isAuthority(one) && !isSelfSigned(one));
  // An intermediate certificate alone is no anchor: OpenSSL goes on to a root.
  const rootless = certificates.filter(
    (one) => isAuthority(one) && !isSelfIssued(one) && !certificates.some((other) => isIssuedBy(one, other)),
  );
  return [
    ...say('CA_EXPIRED', expired, 'which has expired', 'Get the newer one of the authority.'),
    ...say('CA_NOT_AUTHORITY', noAuthority, 'which is no authority', 'Give the certificate that issued it.'),
    ...say('CA_NOT_AUTHORITY', rootless, 'whose own issuer is not there', 'Add the root: a chain is traced to one.'),
  ];

  function say(
    code: MaterialAdvice['code'],
    which: readonly X509Certificate[],
    what: string,
    hint: string,
  ): MaterialAdvice[] {
    const [first, ...more] = which;
    if (first === undefined) return [];
    const others = more.length === 0 ? '' : ` and ${more.length} more`;
    return [{ code, about: 'certificate', what: `${name} holds ${subjectInWords(first)}${others}, ${what}`, hint }];
  }
}

function adviceOnKeys(bytes: Uint8Array, source: MaterialSource): MaterialAdvice[] {
  const sniffed = sniff(bytes);
  if (sniffed.form !== 'pem' || !sniffed.blocks.some(({ label }) => isPrivateKey(labelKind(label)))) return [];
  const what = `${sourceName(source)} holds a private key beside the authority`;
  const hint = 'It is not read here. Keep it out of a file that is handed on.';
  return [{ code: 'CA_WITH_KEY', about: 'certificate', what, hint }];
}
