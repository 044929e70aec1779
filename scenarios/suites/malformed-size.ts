import { fixedText, type Serialiser, spelt, withMember } from '../changes/bytes.ts';
import { unsigned } from '../changes/signing.ts';
import {
  accepted,
  acceptedOrLimited,
  acceptedOrOverLimit,
  acceptedUnlessStrict,
  refused,
  refusedLarge,
  refusedMalformed,
  survived,
} from '../expectations.ts';
import { tracking } from '../samples.ts';
import type { Delivery, FlowScenario, Kit, ProbeScenario } from '../scenario.ts';

const limits = { level: 'should', requirements: ['delivery-size'] } as const;
const robust = { level: 'must', requirements: ['delivery-malformed'], expect: survived } as const;

/** A valid notification of about this many bytes: what grows is the free text, which has no stated length. */
const ofSize = (bytes: number) => (kit: Kit) =>
  tracking(kit, 'BUY', 'COMPLETED', 'The kiosk printed a long text. '.repeat(Math.ceil(bytes / 31)).slice(0, bytes));

const nested = (depth: number): Serialiser => spelt('data.metadata.testDepth', '['.repeat(depth) + ']'.repeat(depth));

/** Large and deep payloads. Specification: Limits (the maximum is not shown). */
export const malformedSize: readonly ProbeScenario[] = [
  {
    ...limits,
    id: 'malformed/size-16-kb',
    title: 'Accepts a notification of 16 kB',
    level: 'must',
    change: { compose: ofSize(16_000) },
    expect: acceptedUnlessStrict,
    why: 'A long description or message reaches this size, and one refused delivery is one lost order.',
    fix: 'Raise the body limit of the framework and of the proxy; columns for free text should cut and not fail.',
  },
  {
    ...limits,
    id: 'malformed/size-99-kb',
    title: 'Accepts a notification of 99 kB',
    change: { compose: ofSize(99_000) },
    expect: acceptedUnlessStrict,
    why: 'It is just below the default limit of the common Node body parser, so only a limit that was set on purpose refuses it.',
    fix: 'Allow at least 256 kB.',
  },
  {
    ...limits,
    id: 'malformed/size-150-kb',
    title: 'Accepts a notification of 150 kB, or refuses it by its size',
    change: { compose: ofSize(150_000) },
    expect: acceptedOrOverLimit,
    why: 'Express and others stop at 100 kB unless they are told otherwise, which nobody notices until the first large one.',
    fix: "Set the limit yourself (express.raw({ type: () => true, limit: '256kb' }), client_max_body_size).",
  },
  {
    ...limits,
    id: 'malformed/size-1-mb',
    title: 'Accepts a signed notification of 1 MB, or refuses it by its size',
    level: 'must',
    change: { compose: ofSize(1_000_000) },
    expect: acceptedOrLimited,
    why: 'Somewhere there has to be a limit, and passing it must end in an answer and not in a full memory.',
    fix: 'Answer 413 beyond your limit, and keep the process up.',
  },
  {
    id: 'malformed/unsigned-1-mb',
    title: 'Refuses 1 MB without a signature',
    level: 'must',
    requirements: ['delivery-malformed-unsigned'],
    needs: ['hmac'],
    change: { compose: ofSize(1_000_000), sign: unsigned },
    expect: refusedLarge,
    why: 'Anybody can send large bodies. Reading without a limit before the check lets a few clients fill the memory.',
    fix: 'Limit the size before the body is read, and refuse a missing signature header without reading it at all.',
  },
  {
    ...robust,
    id: 'malformed/depth-200',
    title: 'Stays up on 200 nested arrays',
    change: { serialise: nested(200) },
    why: 'Some parsers stop at a depth of 100 and throw an error that no handler expects.',
    fix: 'Treat the depth error of the parser as a malformed payload.',
  },
  {
    ...robust,
    id: 'malformed/depth-2000',
    title: 'Stays up on 2,000 nested arrays',
    change: { serialise: nested(2000) },
    why: 'Python raises RecursionError here, which a catch for parser errors does not cover.',
    fix: 'Catch RecursionError (or its like) around the parser, and answer 400.',
  },
  {
    ...robust,
    id: 'malformed/depth-20000',
    title: 'Stays up on 20,000 nested arrays',
    change: { serialise: nested(20_000) },
    why: 'The parser may survive it while a validator, a deep copy or a logger that walks the value runs out of stack.',
    fix: 'Limit the depth right after parsing, before anything walks the value.',
  },
  {
    ...robust,
    id: 'malformed/depth-100000',
    title: 'Stays up on 100,000 nested arrays',
    change: { serialise: nested(100_000) },
    why: 'A stack overflow in native code ends the process, with no exception to catch.',
    fix: 'Limit the depth in the parser itself, or refuse such bodies by their size.',
  },
  {
    ...robust,
    id: 'malformed/depth-objects',
    title: 'Stays up on 5,000 nested objects',
    change: { serialise: spelt('data.metadata.testDepth', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`) },
    why: 'Objects take other paths than arrays: mappers and merge functions recurse over keys.',
    fix: 'Do not deep-merge or deep-copy payloads; pick the fields that you need.',
  },
  {
    id: 'malformed/unsigned-depth',
    title: 'Refuses 20,000 nested arrays without a signature like any other forged delivery',
    level: 'must',
    requirements: ['delivery-malformed-unsigned'],
    needs: ['hmac'],
    change: { serialise: fixedText('['.repeat(20_000)), sign: unsigned },
    expect: refusedMalformed,
    why: 'If the parser runs before the check, this is a way to stop the receiver that needs no secret.',
    fix: 'Verify first; an unverified body is never parsed.',
  },
  {
    ...robust,
    id: 'malformed/many-keys',
    title: 'Stays up on 5,000 unknown keys',
    change: {
      serialise: spelt(
        'data.metadata.testKeys',
        `{${Array.from({ length: 5000 }, (_, index) => `"key${index}":${index}`).join(',')}}`,
      ),
    },
    why: 'Code that makes a column, a metric or a log field for each key breaks the system behind the receiver.',
    fix: 'Do not index unknown keys; store the raw body as text if you keep it.',
  },
  {
    ...robust,
    id: 'malformed/long-key',
    title: 'Stays up on a key of 20,000 characters',
    change: { serialise: withMember('data.metadata', `"${'k'.repeat(20_000)}":1`) },
    why: 'Keys get into error messages of validators, and from there into logs and answers with size limits.',
    fix: 'Cut what you quote from a payload in messages.',
  },
  {
    ...robust,
    id: 'malformed/long-number',
    title: 'Stays up on a number of 10,000 digits',
    change: { serialise: spelt('data.metadata.testNumber', '7'.repeat(10_000)) },
    why: 'Languages with big integers convert it in quadratic time, or throw beyond a limit (4,300 digits in Python).',
    fix: 'Catch what the parser throws for numbers too, and limit the size of the body.',
  },
  {
    ...robust,
    id: 'malformed/long-number-at',
    title: 'Stays up on a time of 400 digits',
    change: { serialise: spelt('at', '9'.repeat(400)) },
    why: 'In a listed field the number goes on to a date or a 64-bit integer, where it becomes infinity or overflows.',
    fix: 'Check that `at` is a finite integer in a sensible range.',
  },
];

/** Flags that code looks up on request and option objects: on a polluted prototype they would be set for every delivery. */
function flags(kit: Kit): string {
  const names = ['verified', 'authenticated', 'authorized', 'trusted', 'isValid', 'skipVerification'];
  return `{${names.map((name) => `"${name}":true`).join(',')},"testPolluted":"${kit.nonce(12)}"}`;
}

function polluting(kit: Kit, parent: string, member: (flags: string) => string): Delivery {
  return {
    label: 'the delivery that tries to change every object',
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

/** Payloads that try to change the prototype of all objects, and deliveries that show whether they did. */
export const malformedPollution: readonly FlowScenario[] = [
  {
    ...base,
    id: 'malformed/pollution-proto',
    title: 'Still refuses and accepts as before after a payload with __proto__ in data',
    flow: (kit) => [[polluting(kit, 'data', (object) => `"__proto__":${object}`)], [valid], [forged]],
    why: 'A deep merge of the payload into another object writes these flags onto the prototype, and an unsigned delivery may then count as verified.',
    fix: 'Do not merge payloads into objects (lodash.merge, a spread in a loop); pick known fields, or use Object.create(null).',
  },
  {
    ...base,
    id: 'malformed/pollution-envelope',
    title: 'Still refuses and accepts as before after a payload with __proto__ in the envelope',
    flow: (kit) => [[polluting(kit, '', (object) => `"__proto__":${object}`)], [valid], [forged]],
    why: 'Object.assign of the whole payload onto a context object replaces the prototype of that object.',
    fix: 'Keep the payload in a field of the context, and do not assign its keys to it.',
  },
  {
    ...base,
    id: 'malformed/pollution-constructor',
    title: 'Still refuses and accepts as before after a payload with constructor.prototype',
    flow: (kit) => [[polluting(kit, 'data', (object) => `"constructor":{"prototype":${object}}`)], [valid], [forged]],
    why: 'Filters for __proto__ forget this second way to the same prototype.',
    fix: 'Refuse both names, or better, never copy keys of a payload by name.',
  },
];
