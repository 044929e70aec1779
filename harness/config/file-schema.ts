/** The shape of hookproof.yaml. It checks kinds of values; what they mean is checked with those of flags and variables. */
import * as z from 'zod';
import { STACKS } from '../diagnose/stack.ts';
import { FIXTURE_NAMES } from './client-fixtures.ts';
import { PROFILES, REPORTERS } from './config.ts';
import { WHOLE_REFERENCE } from './references.ts';
import { BOUNDS } from './settings.ts';
import { DURATION } from './values.ts';

/** What a value was meant to be; the message of every issue is one of these. */
export type Expected = 'text' | 'switch' | 'number' | 'duration' | 'list' | 'group' | 'reference' | 'seed';

const text = z.string({ error: 'text' satisfies Expected });
const group = { error: 'group' satisfies Expected };
const toggle = z.boolean({ error: 'switch' satisfies Expected });
const secret = z
  .string({ error: 'reference' satisfies Expected })
  .regex(WHOLE_REFERENCE, { error: 'reference' satisfies Expected });
const list = (item: z.ZodString = text) =>
  z.array(item, { error: 'list' satisfies Expected }).min(1, { error: 'list' satisfies Expected });
const duration = z
  .string({ error: 'duration' satisfies Expected })
  .meta({ pattern: DURATION.source, examples: ['10s', '500ms'] });

const fixture = (name: string) =>
  z
    .strictObject(
      {
        cert: text.describe(`File with the client certificate that is ${FIXTURE_WORDS.get(name) ?? name}, PEM or DER.`),
        key: text.describe('File with its private key, PEM or DER.'),
        passphrase: secret.describe(`The passphrase of the key, as \${env:NAME} or \${file:PATH}.`),
      },
      group,
    )
    .partial();
const FIXTURE_WORDS: ReadonlyMap<string, string> = new Map([
  ['not-yet-valid', 'not valid yet'],
  ['wrong-purpose', 'not meant for clients'],
  ['other-subject', 'right, and issued to somebody else'],
]);

/** The schema. Metadata such as `pattern` and `enum` is for editors and is checked elsewhere, with better messages. */
export const fileSchema = z
  .strictObject(
    {
      url: text.describe('The endpoint: https://host/path.'),
      hmac: z
        .strictObject(
          {
            secret: secret.describe(`The signature secret, as \${env:NAME} or \${file:PATH}. It turns HMAC on.`),
            header: text.describe('The header that carries the signature. Default: X-Service-Signature.'),
          },
          group,
        )
        .partial(),
      'api-key': z
        .strictObject(
          {
            value: secret.describe(`The API key, as \${env:NAME} or \${file:PATH}. It turns the API key on.`),
            header: text.describe('The header that carries the key. Default: X-API-Key.'),
          },
          group,
        )
        .partial(),
      headers: z
        .record(z.string(), text, group)
        .describe(`Custom headers on every delivery. A value may hold \${env:NAME} and \${file:PATH}.`),
      tls: z
        .strictObject(
          {
            'client-cert': text.describe('File with the client certificate, PEM or DER.'),
            'client-key': text.describe('File with its private key, PEM or DER.'),
            passphrase: secret.describe(`The passphrase of the key, as \${env:NAME} or \${file:PATH}.`),
            ca: text.describe("File with authorities to trust beside the system's."),
          },
          group,
        )
        .partial(),
      mtls: z
        .strictObject(
          {
            fixtures: z
              .strictObject(Object.fromEntries(FIXTURE_NAMES.map((name) => [name, fixture(name)])), group)
              .partial()
              .describe(
                "Client certificates that only the partner's authority can issue, for the checks that need them.",
              ),
          },
          group,
        )
        .partial(),
      profile: text.meta({ enum: [...PROFILES], description: 'Which features must be on.' }),
      revision: z.int({ error: 'number' satisfies Expected }).meta({
        minimum: BOUNDS.revision[0],
        maximum: BOUNDS.revision[1],
        description: 'The revision of the catalogue that says what is scored for the profile. Default: the newest.',
      }),
      suites: list().describe('Run these suites only.'),
      scenarios: list().describe('Run these scenarios only.'),
      grep: list().describe('Run scenarios whose id or title matches one of these regular expressions.'),
      concurrency: z.int({ error: 'number' satisfies Expected }).meta({
        minimum: BOUNDS.concurrency[0],
        maximum: BOUNDS.concurrency[1],
        description: 'Deliveries at the same time.',
      }),
      timeout: duration.describe('Time limit of one delivery, with its unit: 10s.'),
      recovery: duration.describe('How long to wait for an endpoint that went down.'),
      'max-time': duration.describe('The run ends after this at the latest.'),
      'allow-private': list().describe(
        'Hosts that may have private addresses where only public ones are allowed otherwise.',
      ),
      seed: z.union([z.string(), z.int()], { error: 'seed' satisfies Expected }).describe('Makes the same run again.'),
      strict: toggle.describe('Warnings fail the run.'),
      baseline: text.describe('File with the known failures, which do not fail the run.'),
      stack: text.meta({ enum: [...STACKS], description: 'The stack that fixes are told for.' }),
      bail: toggle.describe('Stop at the first failure.'),
      evidence: toggle.describe('Keep the exchanges of passed scenarios too.'),
      reporters: list().describe(`Each name or name=file, "-" is standard output. Names: ${REPORTERS.join(', ')}.`),
      'output-dir': text.describe('Directory for run.json, junit.xml and report.html.'),
    },
    group,
  )
  .partial();
