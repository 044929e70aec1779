/**
 * One record of the operator's register: what happened to one partner, and when. Records are only ever added.
 *
 * Anyone who can write to the register could write that a partner is certified. So the two records that allow traffic,
 * `certified` and `override`, carry a grant: a DSSE envelope that contains the partner's name and is signed with the
 * key that signs certificates. Without a valid grant they allow nothing.
 */
import type { KeyObject } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { EVIDENCE_LEVELS, PROFILES } from '../../scenarios/index.ts';
import { canonicalJson, type Json } from '../certify/canonical-json.ts';
import { envelopeText, isSignedBy, parseJson, readEnvelope, signEnvelope } from '../certify/dsse.ts';
import { type FleetPartner, fleetPartner } from '../fleet.ts';

/**
 * - `certified`, `failed`, `refused`, `inconclusive`, `harness-error`: the outcome of a certification.
 * - `unchanged`, `drifted`, `unreachable`: the outcome of a recheck.
 * - `revoked`, `override`: a decision of the operator, with a reason.
 */
export const EVENTS = [
  'certified',
  'failed',
  'refused',
  'inconclusive',
  'harness-error',
  'unchanged',
  'drifted',
  'unreachable',
  'revoked',
  'override',
] as const;
export type RegisterEvent = (typeof EVENTS)[number];

/** The changes that a recheck can find. */
export const DRIFTS = ['endpoint-key-changed', 'not-publicly-trusted', 'canary-failed'] as const;

const { name, url, suites, diagnosis } = fleetPartner.shape;
const time = z.iso.datetime();
const digest = z.string().regex(/^[0-9a-f]{64}$/);

const record = z.strictObject({
  schemaVersion: z.literal(1),
  /** Identifies the record, so that copies of a register can be joined. */
  id: z.uuid(),
  partner: name,
  event: z.enum(EVENTS),
  at: time,
  /** The time for which the run was scheduled; null if it was started by hand. */
  due: time.nullable(),
  /** Origin and path of the endpoint; null for a decision of the operator. */
  url: url.nullable(),
  /** The run, identified by the start time in its report; null without a run. */
  run: z.strictObject({ startedAt: time }).nullable(),
  catalogue: z.string(),
  version: z.string(),
  /** The scored checks by suite, in the order of the catalogue. */
  suites,
  /** The first cause of the failures. */
  cause: diagnosis,
  /** The reason for the event, in one sentence: the first refusal, the drift, or the operator's reason. */
  reason: z.string().max(1000).nullable(),
  /** The change that a recheck found; null for other events, and in records of versions without this field. */
  drift: z.enum(DRIFTS).nullable().default(null),
  grant: z.string().max(10_000).nullable(),
});
export type RegisterRecord = z.infer<typeof record>;
export const registerRecord = record;

const grantStatement = z.strictObject({
  kind: z.enum(['certificate', 'override']),
  partner: name,
  url: z.string(),
  issuedAt: time,
  expiresAt: time,
  /** SHA-256 of the certificate. In an override, the certificate that the override reinstates. */
  certificate: digest,
  profile: z.enum(PROFILES),
  revision: z.int().positive(),
  evidenceLevel: z.literal(EVIDENCE_LEVELS),
  /** Absent for the scheme of the specification. */
  scheme: z.string().max(64).optional(),
  keyId: digest,
});
export type Grant = z.infer<typeof grantStatement>;

const GRANT_TYPE = 'application/vnd.hookproof.register-grant+json';

/** Signs a grant. Returns the text of a DSSE envelope, without a line end. */
export function signGrant(grant: Grant, privateKey: KeyObject): string {
  const payload = Buffer.from(canonicalJson(grantStatement.parse(grant) as Json));
  return envelopeText(signEnvelope(GRANT_TYPE, payload, privateKey)).trimEnd();
}

/**
 * Reads the grant of a record.
 *
 * @returns the grant, or the reason not to believe it, as the end of the sentence "the record …"
 */
export function readGrant(
  { grant, partner, event }: Pick<RegisterRecord, 'grant' | 'partner' | 'event'>,
  keys: ReadonlyMap<string, KeyObject>,
): Grant | string {
  if (grant === null) return 'has no signature';
  const envelope = readEnvelope(Buffer.from(`${grant}\n`));
  if (typeof envelope === 'string') return `has a signature that ${envelope}`;
  const key = keys.get(envelope.keyId);
  if (key === undefined) return `is signed with the key ${envelope.keyId}, which is not one of the trusted keys`;
  if (envelope.payloadType !== GRANT_TYPE || !isSignedBy(envelope, key)) return 'has a signature that is not valid';
  const { success, data } = grantStatement.safeParse(parseJson(envelope.payload));
  if (!success || data.keyId !== envelope.keyId) return 'has signed content that this version cannot read';
  if (data.partner !== partner) return `has a signature for the partner ${data.partner}`;
  if ((data.kind === 'certificate') !== (event === 'certified')) return 'has a signature for another event';
  return data;
}

type Given = Pick<RegisterRecord, 'partner' | 'event' | 'catalogue' | 'version'> & Partial<RegisterRecord>;

/** Creates a record. By default, the other fields are empty and the time is now. */
export function makeRecord(given: Given): RegisterRecord {
  return {
    schemaVersion: 1,
    id: randomUUID(),
    at: new Date().toISOString(),
    due: null,
    url: null,
    run: null,
    suites: {},
    cause: null,
    reason: null,
    drift: null,
    grant: null,
    ...given,
  };
}

/** Creates the record of a partner's finished certification; null if the partner was not run. */
export function recordOfPartner(
  partner: FleetPartner,
  about: Pick<RegisterRecord, 'catalogue' | 'version' | 'grant' | 'due'>,
): RegisterRecord | null {
  const { diagnosis: cause, name: named, outcome: event, refusals, startedAt, suites: counts, url: endpoint } = partner;
  if (event === 'not-run') return null;
  const [refusal] = refusals;
  return makeRecord({
    ...about,
    partner: named,
    event,
    url: endpoint === '' ? null : endpoint,
    run: startedAt === null ? null : { startedAt },
    suites: counts,
    cause,
    reason:
      refusal === undefined
        ? null
        : `${refusal.message}${/[.?!]$/.test(refusal.message) ? '' : '.'} ${refusal.fix}`.slice(0, 1000),
  });
}
