/**
 * What a certification of many partners comes to: `fleet.json`, schema version 1. Everything in it is redacted, and nothing in it comes from
 * an endpoint but numbers and words of ours.
 */
import * as z from 'zod';

/** How it ended for one partner, the gravest first. */
export const OUTCOMES = ['harness-error', 'failed', 'refused', 'inconclusive', 'not-run', 'certified'] as const;

const text = z.string();
const whole = z.int().nonnegative();
const counts = z.strictObject({
  pass: whole,
  fail: whole,
  warn: whole,
  inconclusive: whole,
  notApplicable: whole,
  harnessError: whole,
});

const partner = z.strictObject({
  /** The name of the partner's file, without its ending. */
  name: text.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  /** Origin and path: a query may hold what is not for everybody. */
  url: text,
  profile: z.enum(['basic', 'staging', 'production']),
  revision: z.int().positive(),
  /** `failed`: the endpoint is in the way; `refused`: what was asked for or this machine is; `inconclusive`: no verdict. */
  outcome: z.enum(OUTCOMES),
  /** The verdict of the run; null where there is no result document. */
  verdict: z.enum(['conformant', 'nonconformant', 'inconclusive', 'harness-error']).nullable(),
  /** The scored checks; null as `verdict`. */
  counts: counts.nullable(),
  /** The same by suite, in the order of the catalogue. */
  suites: z.record(text, counts),
  /** What the endpoint behaves like: `hookproof explain FAULT` says more. */
  diagnosis: z.strictObject({ fault: text, title: text }).nullable(),
  certificate: z.strictObject({ issuedAt: text, expiresAt: text }).nullable(),
  /** Every reason why there is no certificate. */
  refusals: z.array(z.strictObject({ code: text, message: text, fix: text })),
  /** What lies in the folder of the partner, which has its name. */
  files: z.array(text.regex(/^[a-z.]{1,32}$/)),
  startedAt: text.nullable(),
  durationMs: z.number().nonnegative(),
  /** How it ended in the certification before this one; null when there was none, or when the partner is new. */
  previous: z.strictObject({ outcome: z.enum(OUTCOMES) }).nullable(),
});

export const fleetDocument = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('hookproof-fleet'),
  tool: z.strictObject({ name: z.literal('hookproof'), version: text }),
  catalogue: z.strictObject({ digest: text }),
  /** What was asked for all partners, and which partners there are: shards that differ in any of it do not belong together. */
  asked: z.strictObject({
    profile: text.nullable(),
    revision: text.nullable(),
    strict: z.boolean(),
    validForDays: whole,
    partners: whole,
    /** SHA-256 of the sorted names. */
    names: text,
  }),
  shard: z.strictObject({ index: z.int().positive(), of: z.int().positive() }).nullable(),
  startedAt: text,
  durationMs: z.number().nonnegative(),
  /** Whether every partner has come to its end. While it goes on, and after an interruption, it has not. */
  complete: z.boolean(),
  /** When the certification began that `previous` of the partners is about. */
  previous: z.strictObject({ startedAt: text }).nullable(),
  totals: z.strictObject(
    Object.fromEntries(OUTCOMES.map((name) => [name, whole])) as Record<(typeof OUTCOMES)[number], typeof whole>,
  ),
  partners: z.array(partner),
});

export type FleetDocument = z.infer<typeof fleetDocument>;
export type FleetPartner = z.infer<typeof partner>;
export type Outcome = (typeof OUTCOMES)[number];
export const fleetPartner = partner;
