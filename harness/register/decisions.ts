/** Creates the records of an operator's decisions about a partner: revocations and overrides. Pure. */
import type { KeyObject } from 'node:crypto';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { visible } from '../../contract/visible.ts';
import { catalogueDigest } from '../../scenarios/index.ts';
import { keyIdOf } from '../certify/keys.ts';
import { version } from '../version.ts';
import { makeRecord, type RegisterRecord, signGrant } from './record.ts';
import type { Standing } from './standing.ts';

const MAX_REASON = 500;

/**
 * Returns the reason without leading or trailing whitespace.
 *
 * @throws HookproofError PARTNERS_REASON
 */
export function checkedReason(reason: string): string {
  const text = visible(reason.trim());
  if (text !== '' && text.length <= MAX_REASON) return text;
  throw new HookproofError('PARTNERS_REASON', `the reason must have 1 to ${MAX_REASON} characters`, {
    hint: 'Give a reason for the readers of the history: `--reason "leaked key, ticket 4711"`.',
  });
}

/**
 * Creates the record that revokes a partner's certificate. Only a new certificate lets the partner get traffic again.
 *
 * @throws HookproofError PARTNERS_DECISION, PARTNERS_REASON
 */
export function revocationOf({ certificate, partner }: Standing, reason: string): RegisterRecord {
  const checked = checkedReason(reason);
  if (certificate === null) throw nothingToDecide(partner, 'has no certificate to revoke');
  return makeRecord({ ...about(), partner, event: 'revoked', reason: checked });
}

interface OverrideTerms {
  readonly reason: string;
  /** Duration in milliseconds; if undefined, the override lasts until the certificate expires. */
  readonly ms: number | undefined;
  readonly privateKey: KeyObject;
}

/**
 * Creates the record that reinstates a certificate that a failure or a drift has suspended.
 *
 * @throws HookproofError PARTNERS_DECISION, PARTNERS_REASON
 */
export function overrideOf({ certificate, partner, state }: Standing, terms: OverrideTerms): RegisterRecord {
  const { ms = Number.POSITIVE_INFINITY, privateKey } = terms;
  const reason = checkedReason(terms.reason);
  if (certificate === null) throw nothingToDecide(partner, 'has no certificate: an override cannot replace one');
  if (state !== 'failing' && state !== 'drifted') {
    throw nothingToDecide(partner, `is ${state}: only a failure or a drift can be overridden`);
  }
  const now = Date.now();
  if (Date.parse(certificate.expiresAt) <= now) {
    const when = `expired on ${certificate.expiresAt.slice(0, 10)}`;
    throw new HookproofError('PARTNERS_DECISION', `the certificate of ${visible(partner)} ${when}`, {
      hint: 'An override lasts at most until the certificate expires: certify the partner again.',
    });
  }
  const expiresAt = new Date(Math.min(Date.parse(certificate.expiresAt), now + ms)).toISOString();
  const issuedAt = new Date(now).toISOString();
  const grant = { ...certificate, kind: 'override' as const, issuedAt, expiresAt, keyId: keyIdOf(privateKey) };
  return makeRecord({ ...about(), partner, event: 'override', reason, grant: signGrant(grant, privateKey) });
}

const about = () => ({ catalogue: catalogueDigest(), version });

function nothingToDecide(name: string, what: string): HookproofError {
  return new HookproofError('PARTNERS_DECISION', `${visible(name)} ${what}`, {
    hint: `\`hookproof partners ${visible(name)}\` shows its history.`,
  });
}
