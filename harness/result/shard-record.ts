/** What a shard knows beyond its results: shards are joined from it as if they had been one run. */
import * as z from 'zod';

const text = z.string();

export const shardRecord = z.strictObject({
  /** Whether the plain valid delivery was accepted, and why not; null where nothing was to be delivered. */
  gate: z
    .strictObject({
      open: z.boolean(),
      finding: z.strictObject({ fault: text, title: text, why: text, fix: text }).nullable(),
    })
    .nullable(),
  /** The stack that the user named; null when it is guessed. */
  stackGiven: z
    .enum(['express', 'fastify', 'django', 'flask', 'spring', 'rails', 'laravel', 'go', 'dotnet'])
    .nullable(),
  /** The entries of the baseline; null without one. */
  entries: z.array(z.strictObject({ scenario: text, reason: text, owner: text, expires: text })).nullable(),
  /** What the scenarios that look at a whole run are judged by. */
  seen: z.strictObject({
    answerTimesMs: z.array(z.number().nonnegative()),
    leaks: z.array(
      z.strictObject({
        leak: z.enum([
          'signature',
          'secret',
          'api-key',
          'stack-trace',
          'parser-detail',
          'error-message',
          'database-message',
          'debug-page',
        ]),
        scenario: text,
      }),
    ),
    outages: z.array(
      z.strictObject({ inFlight: z.array(text), culprit: text.nullable(), recovered: z.boolean(), sign: text }),
    ),
    failedControls: z.array(z.strictObject({ scenario: text, observed: text, again: z.boolean() })),
  }),
});
