/** When a certificate is valid. RFC 5280, 4.1.2.5. */
import type { X509Certificate } from 'node:crypto';
import { EXPIRY_WARNING_DAYS } from '../../contract/index.ts';

export interface Validity {
  readonly notBefore: Date;
  /** The last moment at which it is valid. */
  readonly notAfter: Date;
}

export const DAY_MS = 86_400_000;

export type ValidityState = 'expired' | 'not-yet-valid' | 'expires-soon' | 'valid';

/** From Node, which knows it of every certificate that it can read. */
export function validityOf({ validFrom, validTo }: X509Certificate): Validity {
  return { notBefore: new Date(validFrom), notAfter: new Date(validTo) };
}

export function validityAt({ notBefore, notAfter }: Validity, now: Date): ValidityState {
  if (now > notAfter) return 'expired';
  if (now < notBefore) return 'not-yet-valid';
  return daysBetween(now, notAfter) < EXPIRY_WARNING_DAYS ? 'expires-soon' : 'valid';
}

/** Whether a certificate may be used at that moment. */
export function isInForce(certificate: X509Certificate, now: Date): boolean {
  const state = validityAt(validityOf(certificate), now);
  return state === 'valid' || state === 'expires-soon';
}

/** Whole days, rounded down; negative when `to` comes first. */
export function daysBetween(from: Date, to: Date): number {
  return Math.floor((to.getTime() - from.getTime()) / DAY_MS);
}
