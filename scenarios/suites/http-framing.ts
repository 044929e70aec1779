import { plain } from '../changes/composing.ts';
import { wrongKey } from '../changes/keying.ts';
import { signedWith } from '../changes/signing.ts';
import { accepted } from '../expectations.ts';
import { acceptedUnlessBusy, refusedLarge, refusedUnlessBusy } from '../payload-expectations.ts';
import { tracking } from '../samples.ts';
import type { Change, Delivery, FlowScenario, Kit, ProbeScenario, SignChange } from '../scenario.ts';

const BURST = 20;

/** One megabyte that is refused for its credentials, before anybody should need to read it. */
const oneMegabyte = (kit: Kit) => tracking(kit, 'BUY', 'COMPLETED', 'x'.repeat(1_000_000));

const otherSecret: SignChange = signedWith('signed with another secret', (kit) => kit.bytes(32));

/** A large refused delivery, and then a right one on the same connection when it is still open. */
function afterRefused(change: Change): readonly (readonly Delivery[])[] {
  return [
    [{ label: 'a refused delivery of 1 MB', change: { compose: oneMegabyte, ...change }, expect: refusedLarge }],
    [{ label: 'a valid delivery after it', change: { compose: plain }, expect: accepted }],
  ];
}

function several(label: string, change: Change, expect: Delivery['expect']): Delivery[] {
  return Array.from({ length: BURST }, (_, index) => ({ label: `${label} ${index + 1}`, change, expect }));
}

/** How requests are framed, what a connection is like afterwards, and many requests at once. */
export const httpFraming: readonly (ProbeScenario | FlowScenario)[] = [
  {
    id: 'http/chunked',
    title: 'Accepts a chunked body',
    level: 'should',
    requirements: ['delivery-framing'],
    change: { transmit: { kind: 'chunked', pieces: 3 } },
    // The service always sends Content-Length, and 411 asks for it in the words of HTTP.
    expect: { ...accepted, text: '200; 411 is recorded', note: [411] },
    why: 'The service sends Content-Length, but a proxy may turn it into chunks. CGI-like receivers then see an empty body and refuse it.',
    fix: 'Let the proxy buffer requests (proxy_request_buffering on), or read until the end of the stream and not by Content-Length.',
  },
  {
    id: 'http/expect-continue',
    title: 'Accepts a delivery that asks by Expect: 100-continue',
    level: 'should',
    requirements: ['delivery-framing'],
    change: { transmit: { kind: 'expect-continue' } },
    expect: accepted,
    why: 'Clients that are built on curl or .NET wait for 100 before they send the body; a server that is silent costs a second for each delivery.',
    fix: 'Use a server that answers Expect (most do), and do not refuse the header.',
  },
  {
    id: 'http/after-refused-signature',
    title: 'Accepts a right delivery after a large refused one on the same connection',
    level: 'must',
    requirements: ['delivery-framing'],
    needs: ['hmac'],
    flow: () => afterRefused({ sign: otherSecret }),
    why: 'An answer before the body was read leaves a megabyte on the connection; what follows is then read as part of it.',
    fix: 'Read or discard the whole body before you answer, or close the connection with the answer.',
  },
  {
    id: 'http/after-refused-key',
    title: 'Accepts a right delivery after a large one with a wrong API key on the same connection',
    level: 'must',
    requirements: ['delivery-framing'],
    needs: ['api-key'],
    flow: () => afterRefused({ address: wrongKey }),
    why: 'The key can be checked from the headers alone, which is where the body is most easily left unread.',
    fix: 'Send Connection: close with an early 401, or drain the request first.',
  },
  {
    id: 'http/burst',
    title: `Accepts ${BURST} deliveries at the same time`,
    level: 'must',
    requirements: ['repeat-burst'],
    alone: true,
    flow: () => [several('valid delivery', {}, acceptedUnlessBusy)],
    why: 'Notifications come in bursts. A handler with shared state, or a pool of five connections, answers some of them with 500.',
    fix: 'Keep the state of a request in the request, and do the work behind a queue.',
  },
  {
    id: 'http/burst-mixed',
    title: `Tells ${BURST} right deliveries from ${BURST} forged ones at the same time`,
    level: 'must',
    requirements: ['repeat-burst', 'hmac-invalid'],
    needs: ['hmac'],
    alone: true,
    flow: () => {
      const forged = several('forged delivery', { sign: otherSecret }, refusedUnlessBusy);
      return [
        several('valid delivery', {}, acceptedUnlessBusy).flatMap((delivery, index) => [
          delivery,
          forged[index] ?? delivery,
        ]),
      ];
    },
    why: 'If the raw body or the result of the check is kept in a variable that requests share, one delivery gets the verdict of another.',
    fix: 'Pass the body and the result along as values; no module-level or instance-level variables.',
  },
];
