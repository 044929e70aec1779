/** What the inspector finds out about a delivery in the scheme of another service. */
import { type HeaderLine, headerValues } from '../../contract/index.ts';
import { explainMistake, findMistake, type MistakeId } from '../../contract/mistakes/index.ts';
import { signatureSpellings } from '../../contract/secret-spellings.ts';
import {
  describeScheme,
  olderSchemesOf,
  schemeDigest,
  signatureHeaderOf,
  signatureHeadersOf,
  verifyWithScheme,
} from '../../contract/signing/index.ts';
import { checkWithScheme, readHeaders, type SchemeCheck } from '../../contract/signing/schemes/check-scheme.ts';
import type { Scheme } from '../../contract/signing/schemes/scheme.ts';

/** How the deliveries of another service are signed. */
export interface SchemeSigning {
  readonly scheme: Scheme;
  readonly secrets: readonly string[];
  /** The registered URL. Without it, the URL in the request is tried, with http and https. */
  readonly publicUrl?: string | undefined;
}

interface Received {
  readonly headers: readonly HeaderLine[];
  readonly target: string;
  readonly body: Buffer;
  readonly receivedAt: Date;
}

/** The outcome of the check. If `mayBeAccepted` is set, a correct receiver may accept a delivery that is rejected. */
type ReceivedCheck = SchemeCheck & { readonly mayBeAccepted?: true };

/** Checks a delivery at the time of its arrival. */
export function checkInScheme(signing: SchemeSigning, received: Received): ReceivedCheck {
  const { scheme } = signing;
  const now = secondsOf(received);
  const result = checkAt(now, signing, received);
  if (result.ok || result.reason !== 'out-of-tolerance' || scheme.isFutureUnlimited !== true) return result;
  const { timestamp } = readHeaders(scheme, received.headers);
  if (timestamp < now) return result;
  const later = checkAt(timestamp, signing, received);
  return later.ok ? { ...result, mayBeAccepted: true } : later;
}

function checkAt(now: number, signing: SchemeSigning, received: Received): SchemeCheck {
  const { scheme, secrets } = signing;
  const checks = urlsOf(signing, received).map((url) => checkWithScheme(scheme, { ...received, url }, secrets, now));
  return checks.find(({ ok }) => ok) ?? checks[0] ?? { ok: false, reason: 'mismatch' };
}

const secondsOf = ({ receivedAt }: Pick<Received, 'receivedAt'>) => Math.floor(receivedAt.getTime() / 1000);

function urlsOf({ publicUrl }: SchemeSigning, { headers, target }: Received): readonly string[] {
  if (publicUrl !== undefined) return [publicUrl];
  const [host = ''] = headerValues(headers, 'host');
  return ['http', 'https'].map((protocol) => `${protocol}://${host}${target}`);
}

/** The scheme and the faults of a delivery, in words that contain no credential. */
export interface SchemeWords {
  readonly accepts: string;
  readonly rejects: string;
  readonly expected: string;
  readonly points: readonly string[];
  readonly mistake: { readonly name: MistakeId; readonly title: string; readonly fix: string } | undefined;
}

/** Maximum size, in bytes, of bodies that are signed in every known way, which takes a tenth of a second. */
const EXPLAIN_UP_TO = 16 * 1024;

/** Explains a delivery as `hookproof verify --scheme` does. */
export function explainInScheme(signing: SchemeSigning, received: Received): SchemeWords {
  const { scheme, secrets } = signing;
  const texts = {
    accepts: scheme.accepts.join(' or '),
    rejects: scheme.rejects.join(' or '),
    expected: `In ${signatureHeaderOf(scheme)}, the ${describeScheme(scheme)}.`,
  };
  // The check is made at the time that was signed, so that the age does not matter.
  const check = checkAt(readHeaders(scheme, received.headers).timestamp, signing, received);
  if (received.body.length > EXPLAIN_UP_TO && !check.ok && check.reason === 'mismatch') {
    return { ...texts, points: [TOO_LARGE], mistake: undefined };
  }
  const reports = secrets.flatMap((secret) =>
    urlsOf(signing, received).map((url) => verifyWithScheme(scheme, { ...received, url }, secret, secondsOf(received))),
  );
  const best = reports.find(({ matches }) => matches) ?? reports.find(({ mistake }) => mistake !== null) ?? reports[0];
  const { problems = [], mistake = null, outOfTolerance = null } = best ?? {};
  const found = findMistake(mistake);
  const name = mistake as MistakeId;
  return {
    ...texts,
    points: [...problems, ...(outOfTolerance === null ? [] : [ageInWords(outOfTolerance, scheme)])],
    mistake: found && { name, title: `${found.title}.`, fix: explainMistake({ mistake: name }).fix },
  };
}

const TOO_LARGE = 'The body is too large to explain the signature here: download it, and use `hookproof verify`.';

function ageInWords(seconds: number, { toleranceSeconds }: Scheme): string {
  const when = seconds > 0 ? 'old' : 'in the future';
  return `The timestamp is ${Math.abs(seconds)} s ${when}; the tolerance is ${toleranceSeconds} s.`;
}

/** Matches what can be a signature in any encoding. Nothing shorter is a digest. */
const MAY_BE_SIGNATURE = /[\w+/-]{20,}/g;

/**
 * Returns the texts to mask in everything that is shown of a delivery: its correct signatures in every spelling, and
 * all received ones, because one that is wrong here may be correct for other bytes.
 */
export function signaturesToMask(signing: SchemeSigning, received: Received): string[] {
  const { scheme, secrets } = signing;
  const presented = signatureHeadersOf(scheme)
    .flatMap((name) => headerValues(received.headers, name))
    .flatMap((value) => value.match(MAY_BE_SIGNATURE) ?? []);
  // A signature with a private key cannot be written anywhere unless it was presented.
  if (scheme.algorithm === 'ed25519') return presented;
  const { id, timestamp } = readHeaders(scheme, received.headers);
  const digests = secrets.flatMap((secret) =>
    urlsOf(signing, received).flatMap((url) =>
      [scheme, ...olderSchemesOf(scheme)].map((one) =>
        schemeDigest(one, { body: received.body, url, id, timestamp }, secret),
      ),
    ),
  );
  return [...presented, ...digests.flatMap((digest) => signatureSpellings(digest.toString('base64')))];
}
