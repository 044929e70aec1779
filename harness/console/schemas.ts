/** Schemas of the console's requests and responses, from which its OpenAPI document is generated. */
import * as z from 'zod';
import { fleetPartner } from '../fleet.ts';
import { EVENTS, registerRecord, STATES } from '../register/index.ts';

export const partnerName = fleetPartner.shape.name;

const time = z.iso.datetime();

export const partnerSummary = z
  .object({
    partner: partnerName,
    mayGetTraffic: z.boolean().meta({ description: 'Whether the partner may get traffic now.' }),
    state: z.enum(STATES),
    since: time.nullable().meta({ description: 'When the partner entered this state.' }),
    until: time.nullable().meta({ description: 'When the permission ends, unless it is revoked first.' }),
    url: z.string().nullable().meta({ description: 'Origin and path of the endpoint.' }),
    cause: z.string().nullable().meta({ description: 'The first cause of the failures of the last judged run.' }),
    reason: z.string().nullable().meta({ description: 'The reason for the state.' }),
    warnings: z.array(z.string()),
    profile: z.string().nullable(),
    revision: z.int().nullable(),
    lastEvent: z.string().nullable(),
    lastAt: time.nullable(),
    certifiedAt: time.nullable(),
  })
  .meta({ id: 'Partner' });
export type PartnerSummary = z.infer<typeof partnerSummary>;

export const totals = z.record(z.enum(STATES), z.int()).meta({ id: 'Totals' });
export type Totals = z.infer<typeof totals>;

const next = z.string().nullable().meta({ description: 'The value of `after` for the next page; null on the last.' });

export const partnerPage = z
  .object({
    at: time,
    complete: z.boolean().meta({ description: 'False while records that others have added are being read.' }),
    partners: z.array(partnerSummary),
    next,
  })
  .meta({ id: 'PartnerPage' });
export type PartnerPage = z.infer<typeof partnerPage>;

export const recordPage = z
  .object({
    partner: partnerName,
    // The history needs no grants.
    records: z.array(z.object(registerRecord.omit({ grant: true }).shape).meta({ id: 'Record' })),
    next,
  })
  .meta({ id: 'RecordPage' });
export type RecordPage = z.infer<typeof recordPage>;
export type ShownRecord = RecordPage['records'][number];

const SORTS = ['need', 'name', 'until', 'last', 'host', 'cause'] as const;
export type Sort = (typeof SORTS)[number];

/** For parameters that may be repeated: Express parses one value as a string, and several as an array. */
const several = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((given) => (Array.isArray(given) || given === undefined ? given : [given]), z.array(schema).optional());

const limit = z.coerce.number().int().min(1).max(200).default(50);
const after = z.string().max(500).optional();

export const listQuery = z.object({
  q: z
    .string()
    .max(200)
    .regex(/^[^\0]*$/)
    .default('')
    .meta({ description: 'Part of a name, a URL or a cause; letter case is ignored.' }),
  state: several(z.enum(STATES)).meta({ description: 'Only partners in one of these states.' }),
  within: z.coerce
    .number()
    .int()
    .min(1)
    .max(400)
    .optional()
    .meta({ description: 'Only partners whose permission ends within this number of days.' }),
  sort: z.enum(SORTS).default('need'),
  order: z.enum(['asc', 'desc']).default('asc'),
  limit,
  after,
});
export type ListQuery = z.infer<typeof listQuery>;

export const recordsQuery = z.object({ event: several(z.enum(EVENTS)), limit, after });
export type RecordsQuery = z.infer<typeof recordsQuery>;

export const expiringQuery = z.object({
  within: z.coerce.number().int().min(1).max(400).default(14),
  after,
});

export const trendsQuery = z.object({ weeks: z.coerce.number().int().min(1).max(104).default(12) });

const auditEntry = z
  .object({
    id: z.string(),
    at: time,
    who: z.string().meta({ description: 'The name of the token.' }),
    action: z.string(),
    partner: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof auditEntry>;
export const auditPage = z.object({ entries: z.array(auditEntry), next }).meta({ id: 'AuditPage' });
export const auditQuery = z.object({
  after: z
    .string()
    .regex(/^\d{1,18}$/)
    .optional(),
  limit,
});

const reason = z.string().meta({ description: 'The reason, which the history shows: 1 to 500 characters.' });
const days = z.preprocess(
  (given) => (given === '' ? undefined : given),
  z.coerce.number().int().min(1).max(398).optional(),
);

/** The input of each action. The token is in the Authorization header or, in a form, in the field `token`. */
export const ACTIONS = {
  revoke: z.object({ reason }),
  override: z.object({ reason, days: days.meta({ description: 'In days; default: until the certificate expires.' }) }),
  'run-now': z.object({ reason }),
  reschedule: z.object({ reason, at: z.iso.datetime({ local: true, offset: true }) }),
} as const;
export type ActionName = keyof typeof ACTIONS;

export const problem = z
  .object({ error: z.string(), message: z.string(), hint: z.string().optional() })
  .meta({ id: 'Problem' });
