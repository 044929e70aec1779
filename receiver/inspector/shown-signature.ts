/** Whether the received signature may be shown, and why it does not match. What is right for any bytes under the secret never is. */
import { createHmac } from 'node:crypto';
import { headerValues } from '../../contract/index.ts';
import type { RecordedDelivery } from './recorded-delivery.ts';
import { type WhyMismatch, whyMismatch } from './why-mismatch.ts';

export interface SignatureFinding {
  readonly why: WhyMismatch | null;
  /** Undefined when the value may be shown. */
  readonly withheld: string | undefined;
  /** Every spelling of a signature that is right for these bytes or for those that were signed. To be masked wherever it stands. */
  readonly right: readonly string[];
}

export interface SigningConfig {
  readonly secrets: readonly string[];
  readonly apiKeys: readonly string[];
  readonly header: string;
}

/** So many characters in common are no chance: the value was made from a right one, by cutting or by changing it. */
const COMMON_BASE64 = 12;
const COMMON_HEX = 24;

export async function findSignature(
  delivery: RecordedDelivery,
  signing: SigningConfig | undefined,
): Promise<SignatureFinding> {
  const { rawBody, headers, target } = delivery;
  const nothing = { why: null, right: [] };
  if (signing === undefined) return { ...nothing, withheld: 'not checked here, so it may be right' };
  if (rawBody === undefined) return { ...nothing, withheld: 'not checked, so it may be right' };

  const received = headerValues(headers, signing.header);
  const digests = signing.secrets.map((secret) => createHmac('sha256', secret).update(rawBody).digest());
  const right = digests.flatMap(spellings);
  const isRight = digests.some((digest) => received.includes(digest.toString('base64')));
  const why = await whyMismatch({ ...signing, rawBody, received, target });
  if (why?.underTheSecret === true) {
    const ofSigned =
      why.signed === undefined ? [] : signing.secrets.flatMap((secret) => macSpellings(secret, why.signed));
    const withheld = 'right for what was signed, so it is not shown';
    return { why, right: [...right, ...ofSigned], withheld };
  }
  if (isRight) return { why: null, right, withheld: 'right, so it is not shown' };
  const near = received.some((value) => digests.some((digest) => holdsPart(value, digest)));
  return { why, right, withheld: near ? 'it holds a part of a right one, so it is not shown' : undefined };
}

function macSpellings(secret: string, bytes: Buffer | undefined): string[] {
  return spellings(
    createHmac('sha256', secret)
      .update(bytes ?? '')
      .digest(),
  );
}

function spellings(digest: Buffer): string[] {
  const base64 = digest.toString('base64');
  return [base64, base64.replace(/=+$/, ''), digest.toString('base64url'), digest.toString('hex')];
}

function holdsPart(value: string, digest: Buffer): boolean {
  return (
    sharesRun(value, digest.toString('base64'), COMMON_BASE64) ||
    sharesRun(value, digest.toString('base64url'), COMMON_BASE64) ||
    sharesRun(value, digest.toString('hex'), COMMON_HEX)
  );
}

function sharesRun(value: string, right: string, length: number): boolean {
  const [a, b] = [value.toLowerCase(), right.toLowerCase()];
  for (let at = 0; at + length <= b.length; at++) if (a.includes(b.slice(at, at + length))) return true;
  return false;
}
