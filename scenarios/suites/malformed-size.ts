import { compact, type Serialiser, spelt, withField, withMember } from '../changes/bodies.ts';
import { unsigned } from '../changes/signing.ts';
import {
  accepted,
  acceptedOrRejected,
  acceptedUnlessStrict,
  anyAnswer,
  anyClearAnswer,
  documentAcceptedOrRejected,
  refused,
} from '../expectations.ts';
import { tracking } from '../samples.ts';
import type { Delivery, FlowScenario, Kit, Scenario } from '../scenario.ts';
import { family } from './family.ts';

const longText = (length: number) => 'The kiosk printed a long text. '.repeat(Math.ceil(length / 31)).slice(0, length);

/**
 * Creates a valid notification of about this many bytes. Its free text is extended, because the length of free text is
 * not limited.
 */
const ofSize = (bytes: number) => (kit: Kit) => tracking(kit, 'BUY', 'COMPLETED', longText(bytes));

/** Creates a valid notification of exactly this many bytes. */
const ofExactly = (bytes: number) => (kit: Kit) => {
  const larger = ofSize(bytes)(kit);
  const excess = compact(larger).length - bytes;
  return withField(larger, 'data.metadata.trackingStateDescription', longText(bytes - excess));
};

const nested = (depth: number): Serialiser => spelt('data.metadata.testDepth', '['.repeat(depth) + ']'.repeat(depth));

/** Large payloads. Specification: Limits (no maximum is stated). */
const sizes = family(
  {
    suite: 'malformed',
    verb: 'Accepts',
    level: 'should',
    requirements: ['delivery-size'],
    expect: acceptedOrRejected,
    mistake: 'valid-body-size-rejected',
  },
  {
    'size-16-kb': [
      'a notification of exactly 16 KiB',
      { compose: ofExactly(16_384) },
      {
        expect: acceptedUnlessStrict,
        note: 'It also fills buffers of 1 to 16 KiB exactly, where some reading loops wait forever.',
      },
    ],
    'size-99-kb': [
      'a notification of 99 kB, or rejects it',
      { compose: ofSize(99_000) },
      { note: 'It is just below the default limit of the common body parser for Node.' },
    ],
    'size-150-kb': [
      'a notification of 150 kB, or rejects it',
      { compose: ofSize(150_000) },
      { note: 'Express and others stop at 100 kB by default.' },
    ],
    'size-1-mb': [
      'a notification of 1 MB',
      { compose: ofSize(1_000_000) },
      'oversized-body-unhandled',
      {
        title: 'Handles a signed notification of 1 MB',
        requirements: ['delivery-size', 'delivery-malformed'],
        expect: documentAcceptedOrRejected,
      },
    ],
  },
);

const unknownNames = { level: 'should', expect: { ...anyClearAnswer, fail: ['closed'] } } as const;

/** Deeply nested payloads, many keys, and long keys and numbers. */
const excesses = family(
  {
    suite: 'malformed',
    verb: 'Handles',
    level: 'must',
    requirements: ['delivery-malformed'],
    expect: anyClearAnswer,
    mistake: 'deep-nesting-unhandled',
  },
  {
    'depth-200': ['200 nested arrays', { serialise: nested(200) }],
    'depth-2000': ['2,000 nested arrays', { serialise: nested(2000) }, { expect: anyAnswer }],
    'depth-20000': ['20,000 nested arrays', { serialise: nested(20_000) }, { expect: anyAnswer }],
    'depth-100000': [
      '100,000 nested arrays',
      { serialise: nested(100_000) },
      {
        expect: anyAnswer,
        note: 'A stack overflow in native code ends the process without an exception.',
      },
    ],
    'depth-objects': [
      '5,000 nested objects',
      { serialise: spelt('data.metadata.testDepth', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`) },
      { expect: anyAnswer, note: 'Mappers and merge functions recurse over the keys of objects only.' },
    ],
    'many-keys': [
      '5,000 unknown keys, among them an empty one and names with dots and dollar signs',
      {
        serialise: spelt(
          'data.metadata.testKeys',
          `{"":0,"a.b":1,"$set":2,"_id":3,${Array.from({ length: 4996 }, (_, at) => `"key${at}":${at}`).join(',')}}`,
        ),
      },
      'names-from-payload-keys',
      unknownNames,
    ],
    'long-key': [
      'a key of 20,000 characters',
      { serialise: withMember('data.metadata', `"${'k'.repeat(20_000)}":1`) },
      'names-from-payload-keys',
      { ...unknownNames, note: 'Validators also quote keys in error messages: truncate what you quote.' },
    ],
    'long-number': [
      'a number of 10,000 digits',
      { serialise: spelt('data.metadata.testNumber', '7'.repeat(10_000)) },
      'number-conversion-unchecked',
    ],
    'long-number-at': [
      'an `at` of 400 digits',
      { serialise: spelt('at', '9'.repeat(400)) },
      'time-conversion-unchecked',
    ],
  },
);

export const malformedSize: readonly Scenario[] = [...sizes, ...excesses];

/**
 * Returns flags that code reads from request and option objects. On a polluted prototype, they would be set for every
 * delivery.
 */
function flags(kit: Kit): string {
  const names = ['verified', 'authenticated', 'authorized', 'trusted', 'isValid', 'skipVerification'];
  return `{${names.map((name) => `"${name}":true`).join(',')},"testPolluted":"${kit.nonce(12)}"}`;
}

function polluting(kit: Kit, parent: string, member: (flags: string) => string): Delivery {
  return {
    label: 'the payload that tries to modify all objects',
    change: { serialise: withMember(parent, member(flags(kit))) },
    expect: anyClearAnswer,
  };
}

const valid: Delivery = { label: 'a plain valid delivery after it', change: {}, expect: accepted };
const forged: Delivery = {
  label: 'a delivery without a signature after it',
  change: { sign: unsigned },
  expect: refused,
};

type Payload = readonly [slug: string, what: string, parent: string, member: (flags: string) => string, note?: string];

const PAYLOADS: readonly Payload[] = [
  ['proto', '__proto__ in data', 'data', (object) => `"__proto__":${object}`],
  [
    'envelope',
    '__proto__ in the envelope',
    '',
    (object) => `"__proto__":${object}`,
    'Object.assign of the whole payload to a context object replaces the prototype of that object.',
  ],
  ['constructor', 'constructor.prototype', 'data', (object) => `"constructor":{"prototype":${object}}`],
];

/** Payloads that try to modify the prototype of all objects. The deliveries that follow show whether they succeeded. */
export const malformedPollution: readonly FlowScenario[] = PAYLOADS.map(([slug, what, parent, member, note]) => ({
  id: `malformed/pollution-${slug}`,
  title: `Verifies correctly after a payload with ${what}`,
  defect: `No longer verifies correctly after a payload with ${what}`,
  level: 'must',
  requirements: ['delivery-malformed', 'hmac-missing'],
  needs: ['hmac'],
  alone: true,
  flow: (kit) => [[polluting(kit, parent, member)], [valid, forged]],
  mistake: 'payload-merged-into-prototype',
  ...(note !== undefined && { note }),
}));
