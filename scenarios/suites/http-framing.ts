import { addHeaders, addQuery } from '../changes/addressing.ts';
import { plain } from '../changes/composing.ts';
import { editedHead, headerLines, requestLine } from '../changes/hostile-http.ts';
import { wrongKey } from '../changes/keying.ts';
import { signedWith } from '../changes/signing.ts';
import {
  accepted,
  acceptedUnlessBusy,
  notServed,
  refusedLarge,
  refusedUnlessBusy,
  servedOrRefused,
} from '../expectations.ts';
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

const FORTY = Array.from({ length: 40 }, (_, index) => [`X-Test-${index + 1}`, 'a'] as const);

const base = { level: 'should', requirements: ['delivery-framing'] } as const;

/** What well-formed HTTP allows and few clients do. It comes from old proxies, from scanners, and from the next version of a client. */
export const httpUnusual: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'http/version-1-0',
    title: 'Accepts a delivery in HTTP/1.0',
    change: { transmit: requestLine('the version HTTP/1.0', (line) => line.replace(/HTTP\/1\.1$/, 'HTTP/1.0')) },
    expect: accepted,
    why: 'Some proxies speak HTTP/1.0 to what is behind them unless they are told otherwise (nginx did so for many years).',
    fix: 'Accept HTTP/1.0, or set the version in the proxy (proxy_http_version 1.1).',
  },
  {
    ...base,
    id: 'http/upgrade-offered',
    title: 'Accepts a delivery that offers to change to a protocol that nobody knows',
    change: {
      transmit: headerLines('Connection: Upgrade, and an unknown protocol', 'Connection', () => [
        'Connection: Upgrade, close',
        'Upgrade: x-test/1',
      ]),
    },
    expect: accepted,
    why: 'Some HTTP clients offer an upgrade with every plain request. A WebSocket server on the same port then takes the delivery and drops it.',
    fix: 'Let the code for WebSockets take requests for its own path and protocol only; any other Upgrade header is ignored.',
  },
  {
    ...base,
    id: 'http/absolute-target',
    title: 'Serves or refuses a request whose target is a whole URL, and does not fail on it',
    requirements: ['delivery-hostile-http'],
    change: {
      transmit: editedHead('a whole URL in the request line', ([line = '', ...headers]) => {
        const host = headers.find((header) => /^host:/i.test(header))?.slice('host:'.length);
        return [line.replace(' ', ` http://${host?.trim()}`), ...headers];
      }),
    },
    expect: servedOrRefused,
    why: 'HTTP allows it, and scanners send it to find open proxies. A URL that is glued together from Host and target is none then, and throws.',
    fix: 'Take the path from the framework. When you build a URL yourself, give the target and a base to the constructor.',
  },
  {
    ...base,
    id: 'http/broken-query',
    title: 'Serves or refuses a request with a broken query, and does not fail on it',
    requirements: ['delivery-hostile-http'],
    change: { address: addQuery('a query that is not percent-encoded', () => 'a=%E0%A4%A&%') },
    expect: servedOrRefused,
    why: 'Decoding a broken escape throws in most languages, often in the router or the access log, where nobody guards it.',
    fix: 'Do not decode the query of a webhook at all, or answer 400 to one that cannot be decoded.',
  },
  {
    ...base,
    id: 'http/override-on-get',
    title: 'Does not accept a notification by GET that claims to be a POST',
    requirements: ['delivery-other-methods'],
    change: {
      address: {
        label: 'the method GET, and X-HTTP-Method-Override: POST',
        make: (head) => ({
          ...head,
          method: 'GET',
          headers: [...head.headers, ['X-HTTP-Method-Override', 'POST']],
        }),
      },
    },
    expect: notServed,
    why: 'Overriding is made for HTML forms. Here it leads past rules of firewalls and caches, which look at the real method.',
    fix: 'Leave method overriding off for this route, or let it change POST only.',
  },
  {
    ...base,
    id: 'http/header-repeated',
    title: 'Accepts an unknown header that comes in two lines',
    requirements: ['delivery-custom-headers'],
    change: {
      address: addHeaders('a header in two lines', () => [
        ['X-Test', 'a'],
        ['X-Test', 'b'],
      ]),
    },
    expect: accepted,
    why: 'Proxies repeat headers such as Via. Code that copies all headers finds a list where it expects a text.',
    fix: 'Touch the headers that you need and no others.',
  },
  {
    ...base,
    id: 'http/header-non-ascii',
    title: 'Serves or refuses a delivery with an unknown header that is not in ASCII, and does not fail on it',
    requirements: ['delivery-custom-headers'],
    change: { address: addHeaders('a header that is not in ASCII', () => [['X-Test', 'caf\u00e9']]) },
    expect: servedOrRefused,
    why: 'Proxies add names of people and places. Code that decodes all headers strictly throws, mostly in a log.',
    fix: 'Do not decode headers that you do not need, or replace what cannot be decoded.',
  },
  {
    ...base,
    id: 'http/forty-headers',
    title: 'Accepts a delivery with forty more headers',
    requirements: ['delivery-custom-headers'],
    change: { address: addHeaders('40 headers', () => FORTY) },
    expect: accepted,
    why: 'Each proxy on the way adds some, and custom headers come on top. A small table for headers is full then.',
    fix: 'Allow at least 100 headers.',
  },
];
