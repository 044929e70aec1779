/** Standings of a partner, derived from records in the same way as in the register. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { keyIdOf } from '../../../harness/certify/keys.ts';
import {
  type Grant,
  makeRecord,
  type RegisterEvent,
  type RegisterRecord,
  type Standing,
  signGrant,
  standingsOf,
} from '../../../harness/register/index.ts';

const operator = generateKeyPairSync('ed25519');
export const KEYS = [operator.publicKey];
export const CURRENT = 2;
/** Returns the time on a day of January 2026. The number may have a fraction. */
export const dayOf = (number: number) => new Date(Date.UTC(2026, 0, 1) + (number - 1) * 86_400_000);

export function on(day: number, event: RegisterEvent, parts: Partial<RegisterRecord> = {}): RegisterRecord {
  const url = 'https://acme.example/hooks';
  return makeRecord({
    ...{ catalogue: 'sha256:abc', version: '0.1.0', partner: 'acme', url, id: randomUUID() },
    ...{ event, at: dayOf(day).toISOString() },
    ...parts,
  });
}

export function granted(day: number, parts: Partial<Grant> = {}, more: Partial<RegisterRecord> = {}): RegisterRecord {
  const { kind = 'certificate' } = parts;
  const grant = signGrant(
    {
      kind,
      partner: 'acme',
      url: 'https://acme.example/hooks',
      issuedAt: dayOf(day).toISOString(),
      expiresAt: dayOf(day + 90).toISOString(),
      certificate: 'c'.repeat(64),
      profile: 'production',
      revision: CURRENT,
      evidenceLevel: 0,
      keyId: keyIdOf(operator.privateKey),
      ...parts,
    },
    operator.privateKey,
  );
  return on(day, kind === 'certificate' ? 'certified' : 'override', { grant, ...more });
}

/** Returns the standing after these records at noon on a day. Null without a record. */
export function standingOf(records: readonly RegisterRecord[], day: number): Standing | null {
  const at = new Date(dayOf(day).getTime() + 43_200_000);
  return standingsOf(records, { keys: KEYS, at, currentRevision: CURRENT })[0] ?? null;
}
