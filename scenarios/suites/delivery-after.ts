import { fixedText } from '../changes/bytes.ts';
import { plain, withField } from '../changes/composing.ts';
import { signedWith } from '../changes/signing.ts';
import { accepted, handled, refused } from '../expectations.ts';
import { tracking } from '../samples.ts';
import type { Delivery, FlowScenario } from '../scenario.ts';

const valid: Delivery = {
  label: 'a valid delivery after it',
  change: { compose: plain },
  expect: accepted,
};

/** A delivery, and then a valid one on the same connection, with nothing in between. */
const before = (label: string, change: Delivery['change'], expect: Delivery['expect']): FlowScenario['flow'] => {
  return () => [[{ label, change, expect }], [valid]];
};

const base = { level: 'must', requirements: ['delivery-framing'] } as const;

/** What a delivery leaves behind on its connection. Specification: Delivery endpoint. */
export const deliveryAfter: readonly FlowScenario[] = [
  {
    ...base,
    id: 'delivery/after-broken',
    title: 'Accepts a right delivery after a broken one on the same connection',
    requirements: ['delivery-malformed'],
    flow: before('a broken body', { serialise: fixedText('{"id":"broken') }, handled),
    why: 'A parser that keeps its state with the connection reads the next body as the rest of the broken one.',
    fix: 'Make a new parser for every request.',
  },
  {
    ...base,
    id: 'delivery/after-invalid',
    title: 'Accepts a right delivery after one with invalid fields on the same connection',
    requirements: ['delivery-malformed'],
    flow: before(
      'a notification whose data is null',
      { compose: (kit) => withField(kit.notification(), 'data', null) },
      handled,
    ),
    why: 'Validators that keep the errors of their last run report them for the next delivery as well.',
    fix: 'Take the errors from the result of the call, and keep no validator with state between requests.',
  },
  {
    ...base,
    id: 'delivery/after-long',
    title: 'Accepts a short delivery after a long one on the same connection',
    flow: before(
      'a delivery of 9 kB',
      { compose: (kit) => tracking(kit, 'BUY', 'COMPLETED', 'A long report of the kiosk. '.repeat(320)) },
      accepted,
    ),
    why: 'A buffer that is used again and not cut to the length of the new body still ends with the old one.',
    fix: 'Hash and parse exactly the bytes of this request: the first n of the buffer, and not all of it.',
  },
  {
    ...base,
    id: 'delivery/after-forged',
    title: 'Accepts a right delivery after a forged one on the same connection',
    needs: ['hmac'],
    flow: before(
      'a forged delivery',
      { sign: signedWith('signed with another secret', (kit) => kit.bytes(32)) },
      refused,
    ),
    why: 'A proxy sends the deliveries of everybody over the same few connections: a refusal that sticks to one refuses the next sender.',
    fix: 'Judge every delivery by itself; keep no verdict with the connection.',
  },
];
