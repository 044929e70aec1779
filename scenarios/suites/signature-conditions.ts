import { both, setHeader, withoutHeader } from '../changes/addressing.ts';
import { literal, unsigned } from '../changes/signing.ts';
import { refused } from '../expectations.ts';
import { deposit, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
import type { Delivery, FlowScenario, Kit, ProbeScenario } from '../scenario.ts';

const base = { level: 'must', requirements: ['hmac-every-delivery'], needs: ['hmac'], expect: refused } as const;

/** A signature of the right form that is right for nothing. */
const madeUp = (kit: Kit) => literal(kit.bytes(32).toString('base64'), 'a made-up signature of the right form');

function forged(kit: Kit, label: string, compose: (kit: Kit) => ReturnType<Kit['notification']>): Delivery {
  const event = compose(kit);
  return { label, change: { compose: () => event, sign: madeUp(kit) }, expect: refused };
}

const flagged = (kit: Kit) => ({ ...kit.notification(), livemode: false, sandbox: true, test: true });
/** As small as a notification can be: the envelope of a type that nobody knows. */
const tiny = (kit: Kit) => ({ id: kit.newId(), type: 'TEST', at: Math.floor(kit.now.getTime() / 1000), data: {} });

/** Whatever a delivery carries and however it is framed, it is verified. */
export const conditions: readonly (ProbeScenario | FlowScenario)[] = [
  {
    ...base,
    id: 'signature/wrong-on-every-kind',
    title: 'Refuses a wrong signature on a notification of every kind',
    flow: (kit) => [
      [
        forged(kit, 'a tracking notification', (own) => tracking(own, 'SELL', 'COMPLETED')),
        forged(kit, 'a refund', (own) => refund(own, 'SUCCESS')),
        forged(kit, 'a payment method', (own) => paymentMethod(own, 'STAGED')),
        forged(kit, 'a wallet', (own) => wallet(own)),
        forged(kit, 'a deposit', (own) => deposit(own)),
      ],
    ],
    why: 'A check that a later type has lost shows in unsigned deliveries only while the header is still asked for.',
    fix: 'Call the same verification for all types, on the route; the report names the kind that was let through.',
  },
  {
    ...base,
    id: 'signature/wrong-on-early-order',
    title: 'Refuses a wrong signature on an order that is not final yet',
    flow: (kit) => [
      [
        forged(kit, 'a buy that was created', (own) => order(own, 'BUY', 'CREATED')),
        forged(kit, 'a sell that is pending', (own) => order(own, 'SELL', 'PENDING')),
      ],
    ],
    why: 'A forged status on the way shows the customer another address to pay into.',
    fix: 'Verify before the status is read, and not only where the money is booked.',
  },
  {
    ...base,
    id: 'signature/unsigned-test-flag',
    title: 'Refuses an unsigned delivery that calls itself a test in its body',
    flow: (kit) => [
      [
        {
          label: 'unsigned, with livemode, sandbox and test in the body',
          change: { compose: () => flagged(kit), sign: unsigned },
          expect: refused,
        },
      ],
    ],
    why: 'The flag stands in the body that the signature protects, so that a forger sets it as he likes.',
    fix: 'Take the environment from your configuration, and sign test deliveries like all others.',
  },
  {
    ...base,
    id: 'signature/unsigned-tiny',
    title: 'Refuses an unsigned delivery with a very small body',
    flow: (kit) => {
      const event = tiny(kit);
      return [[{ label: 'an unsigned envelope', change: { compose: () => event, sign: unsigned }, expect: refused }]];
    },
    why: 'A lower limit, meant for pings of a monitor, is a way in for all that is short enough.',
    fix: 'Give pings a route of their own, and verify on this one whatever the length is.',
  },
  {
    ...base,
    id: 'signature/unsigned-with-charset',
    title: 'Refuses an unsigned delivery whose Content-Type has a charset',
    change: {
      address: both(
        'no signature header, and a Content-Type with a charset',
        setHeader('Content-Type', 'application/json; charset=utf-8'),
        withoutHeader('signature', 'no signature header'),
      ),
    },
    why: 'Where the check hangs on the parser of one exact type, every other spelling of it comes in unverified.',
    fix: 'Verify the raw bytes in a step of its own, before the Content-Type decides anything.',
  },
  {
    ...base,
    id: 'signature/unsigned-chunked',
    title: 'Refuses an unsigned delivery in chunks',
    flow: () => [
      [
        {
          label: 'unsigned, with Transfer-Encoding: chunked',
          change: { sign: unsigned, transmit: { kind: 'chunked', pieces: 2 } },
          expect: { ...refused, text: '401, or 411 from a server that takes no chunks', note: [411] },
        },
      ],
    ],
    why: 'Without Content-Length some checks see a body of length 0, and find nothing to verify.',
    fix: 'Read the body to its end first, and verify what was read.',
  },
];
