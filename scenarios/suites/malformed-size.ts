import { compact, type Serialiser, spelt, withField, withMember } from '../changes/bodies.ts';
import { unsigned } from '../changes/signing.ts';
import {
  accepted,
  acceptedOrRejected,
  acceptedUnlessStrict,
  answeredAsSigned,
  refused,
  survived,
} from '../expectations.ts';
import { tracking } from '../samples.ts';
import type { Delivery, FlowScenario, Kit, ProbeScenario } from '../scenario.ts';

const limits = { level: 'should', requirements: ['delivery-size'] } as const;
const robust = { level: 'must', requirements: ['delivery-malformed'], expect: survived } as const;

const longText = (length: number) => 'The kiosk printed a long text. '.repeat(Math.ceil(length / 31)).slice(0, length);

/** A valid notification of about this many bytes. The free text grows, because its length is not limited. */
const ofSize = (bytes: number) => (kit: Kit) => tracking(kit, 'BUY', 'COMPLETED', longText(bytes));

/** A valid notification of exactly this many bytes. */
const ofExactly = (bytes: number) => (kit: Kit) => {
  const larger = ofSize(bytes)(kit);
  const excess = compact(larger).length - bytes;
  return withField(larger, 'data.metadata.trackingStateDescription', longText(bytes - excess));
};

const nested = (depth: number): Serialiser => spelt('data.metadata.testDepth', '['.repeat(depth) + ']'.repeat(depth));

/** Large and deeply nested payloads. Specification: Limits (no maximum is stated). */
export const malformedSize: readonly ProbeScenario[] = [
  {
    ...limits,
    id: 'malformed/size-16-kb',
    title: 'Accepts a notification of exactly 16 KiB',
    change: { compose: ofExactly(16_384) },
    expect: acceptedUnlessStrict,
    why:
      'A long description or message can reach this size. It also fills buffers of 1 to 16 KiB exactly, and code ' +
      'that takes a full buffer for a sign of more waits forever.',
    fix:
      'Raise the body limit of the framework and the proxy, and truncate free text for its column. Read as many ' +
      'bytes as Content-Length says.',
  },
  {
    ...limits,
    id: 'malformed/size-99-kb',
    title: 'Accepts a notification of 99 kB, or rejects it',
    change: { compose: ofSize(99_000) },
    expect: acceptedOrRejected,
    why: 'It is just below the default limit of the common body parser for Node.',
    fix: 'Allow at least 256 kB.',
  },
  {
    ...limits,
    id: 'malformed/size-150-kb',
    title: 'Accepts a notification of 150 kB, or rejects it',
    change: { compose: ofSize(150_000) },
    expect: acceptedOrRejected,
    why: 'Express and others stop at 100 kB by default, which shows only with the first large notification.',
    fix: "Set the limit yourself (express.raw({ type: () => true, limit: '256kb' }), client_max_body_size).",
  },
  {
    ...limits,
    id: 'malformed/size-1-mb',
    title: 'Handles a signed notification of 1 MB without a crash',
    level: 'must',
    requirements: ['delivery-size', 'delivery-malformed'],
    change: { compose: ofSize(1_000_000) },
    expect: answeredAsSigned,
    why: 'There has to be a limit, and exceeding it must lead to an answer instead of an out-of-memory error.',
    fix: 'Answer 413 above your limit, without a crash.',
  },
  {
    ...robust,
    id: 'malformed/depth-200',
    title: 'Handles 200 nested arrays',
    change: { serialise: nested(200) },
    why: 'Some parsers stop at a depth of 100 with an error that no handler expects.',
    fix: 'Treat the depth error of the parser as a malformed payload.',
  },
  {
    ...robust,
    id: 'malformed/depth-2000',
    title: 'Handles 2,000 nested arrays',
    change: { serialise: nested(2000) },
    why: 'Python raises RecursionError, which a handler for parser errors does not cover.',
    fix: 'Catch RecursionError (or its equivalent) around the parser, and answer 400.',
  },
  {
    ...robust,
    id: 'malformed/depth-20000',
    title: 'Handles 20,000 nested arrays',
    change: { serialise: nested(20_000) },
    why: 'The parser may succeed, but a validator, a deep copy or a logger that walks the value overflows the stack.',
    fix: 'Limit the depth right after parsing, before anything walks the value.',
  },
  {
    ...robust,
    id: 'malformed/depth-100000',
    title: 'Handles 100,000 nested arrays',
    change: { serialise: nested(100_000) },
    why: 'A stack overflow in native code ends the process without an exception.',
    fix: 'Limit the depth in the parser itself, or reject such bodies by their size.',
  },
  {
    ...robust,
    id: 'malformed/depth-objects',
    title: 'Handles 5,000 nested objects',
    change: { serialise: spelt('data.metadata.testDepth', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`) },
    why: 'Mappers and merge functions recurse over the keys of objects.',
    fix: 'Do not deep-merge or deep-copy payloads: read the fields that you need.',
  },
  {
    ...robust,
    id: 'malformed/many-keys',
    title: 'Handles 5,000 unknown keys, among them an empty one and names with dots and dollar signs',
    change: {
      serialise: spelt(
        'data.metadata.testKeys',
        `{"":0,"a.b":1,"$set":2,"_id":3,${Array.from({ length: 4996 }, (_, at) => `"key${at}":${at}`).join(',')}}`,
      ),
    },
    why:
      'Code that creates a column, a metric or a log field per key overloads the systems behind the receiver. ' +
      'Document databases and search indexes reject empty names, and read dots and dollar signs as operators.',
    fix: 'Do not index unknown keys. If you keep the raw body, store it as text.',
  },
  {
    ...robust,
    id: 'malformed/long-key',
    title: 'Handles a key of 20,000 characters',
    change: { serialise: withMember('data.metadata', `"${'k'.repeat(20_000)}":1`) },
    why: 'Validators quote keys in error messages, which end up in logs and answers with size limits.',
    fix: 'Truncate what you quote from a payload.',
  },
  {
    ...robust,
    id: 'malformed/long-number',
    title: 'Handles a number of 10,000 digits',
    change: { serialise: spelt('data.metadata.testNumber', '7'.repeat(10_000)) },
    why: 'Languages with big integers convert it in quadratic time, or fail above a limit (4,300 digits in Python).',
    fix: 'Catch errors of the parser for numbers too, and limit the size of the body.',
  },
  {
    ...robust,
    id: 'malformed/long-number-at',
    title: 'Handles an at of 400 digits',
    change: { serialise: spelt('at', '9'.repeat(400)) },
    why: 'A date or a 64-bit integer made of this number becomes infinity or overflows.',
    fix: 'Check that `at` is a finite integer in a sensible range.',
  },
];

/** Flags that code reads from request and option objects: on a polluted prototype they are set for every delivery. */
function flags(kit: Kit): string {
  const names = ['verified', 'authenticated', 'authorized', 'trusted', 'isValid', 'skipVerification'];
  return `{${names.map((name) => `"${name}":true`).join(',')},"testPolluted":"${kit.nonce(12)}"}`;
}

function polluting(kit: Kit, parent: string, member: (flags: string) => string): Delivery {
  return {
    label: 'the payload that tries to modify all objects',
    change: { serialise: withMember(parent, member(flags(kit))) },
    expect: survived,
  };
}

const valid: Delivery = { label: 'a plain valid delivery after it', change: {}, expect: accepted };
const forged: Delivery = {
  label: 'a delivery without a signature after it',
  change: { sign: unsigned },
  expect: refused,
};

const base = {
  level: 'must',
  requirements: ['delivery-malformed', 'hmac-missing'],
  needs: ['hmac'],
  alone: true,
} as const;

/** Payloads that try to modify the prototype of all objects, and deliveries that show whether they did. */
export const malformedPollution: readonly FlowScenario[] = [
  {
    ...base,
    id: 'malformed/pollution-proto',
    title: 'Verifies correctly after a payload with __proto__ in data',
    defect: 'No longer verifies correctly after a payload with __proto__ in data',
    flow: (kit) => [[polluting(kit, 'data', (object) => `"__proto__":${object}`)], [valid, forged]],
    why:
      'A deep merge of the payload writes these flags to the prototype, and an unsigned delivery may count as ' +
      'verified.',
    fix:
      'Do not merge payloads into objects (lodash.merge, a spread in a loop): read known fields, or use ' +
      'Object.create(null).',
  },
  {
    ...base,
    id: 'malformed/pollution-envelope',
    title: 'Verifies correctly after a payload with __proto__ in the envelope',
    defect: 'No longer verifies correctly after a payload with __proto__ in the envelope',
    flow: (kit) => [[polluting(kit, '', (object) => `"__proto__":${object}`)], [valid, forged]],
    why: 'Object.assign of the whole payload to a context object replaces the prototype of that object.',
    fix: 'Keep the payload in a field of the context, and do not assign its keys to it.',
  },
  {
    ...base,
    id: 'malformed/pollution-constructor',
    title: 'Verifies correctly after a payload with constructor.prototype',
    defect: 'No longer verifies correctly after a payload with constructor.prototype',
    flow: (kit) => [[polluting(kit, 'data', (object) => `"constructor":{"prototype":${object}}`)], [valid, forged]],
    why: 'Filters for __proto__ miss this second way to the same prototype.',
    fix: 'Reject both names, or never copy keys of a payload by name.',
  },
];
