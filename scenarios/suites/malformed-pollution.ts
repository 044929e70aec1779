import { withMember } from '../changes/bytes.ts';
import { unsigned } from '../changes/signing.ts';
import { accepted, refused } from '../expectations.ts';
import { survived } from '../payload-expectations.ts';
import type { Delivery, FlowScenario, Kit } from '../scenario.ts';

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
