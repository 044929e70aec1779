import { describe, expect, it } from 'vitest';
import { readNotification } from '../../contract/index.ts';
import { accepted, refusedLarge } from '../../scenarios/expectations.ts';
import type { FlowScenario, ProbeScenario } from '../../scenarios/scenario.ts';
import { httpSuite } from '../../scenarios/suites/http.ts';
import { assemble, fakeKit, someCredentials } from './credential-check.ts';

const kit = fakeKit(someCredentials());
const probes = httpSuite.scenarios.filter((one): one is ProbeScenario => 'change' in one);
const flow = (id: string) => httpSuite.scenarios.find((one): one is FlowScenario => 'flow' in one && one.id === id)!;
const head = (id: string) => assemble(probes.find((one) => one.id === id)!.change, kit).head;

/** A well-formed request, as the harness passes it to a raw transmission. */
const REQUEST =
  'POST /hook HTTP/1.1\r\nHost: h.example\r\nContent-Type: application/json\r\nContent-Length: 27\r\nConnection: ' +
  'close\r\n\r\n{"the body":"is 27 bytes."}';

describe('the http suite', () => {
  it('sends Content-Type as the ids say', () => {
    const types = probes
      .filter(({ id }) => id.startsWith('http/content-type-'))
      .map(({ id }) => [
        id.slice('http/content-type-'.length),
        head(id)
          .headers.filter(([name]) => name === 'Content-Type')
          .map(([, value]) => value),
      ]);
    expect(Object.fromEntries(types)).toEqual({
      charset: ['application/json; charset=utf-8'],
      'charset-upper': ['application/json;charset=UTF-8'],
      quoted: ['application/json; charset="utf-8"'],
      upper: ['Application/JSON'],
      suffix: ['application/cloudevents+json'],
      missing: [],
      text: ['text/plain'],
      form: ['application/x-www-form-urlencoded'],
      multipart: ['multipart/form-data'],
      broken: ['application/json; ;charset'],
    });
  });

  it('sends header names as the ids say, and keeps the values', () => {
    const names = (id: string) => head(id).headers.map(([name]) => name);
    expect(names('http/signature-header-lower')).toContain('x-service-signature');
    expect(names('http/signature-header-upper')).toContain('X-SERVICE-SIGNATURE');
    expect(names('http/signature-header-mixed')).toContain('x-sErViCe-sIgNaTuRe');
    expect(names('http/headers-lower')).toEqual([
      'host',
      'content-type',
      'content-length',
      'x-service-signature',
      'x-api-key',
    ]);
  });

  it('uses each other method with the path and the credentials of a delivery', () => {
    const lines = probes
      .filter(({ id }) => /^http\/(method-|get-)/.test(id))
      .map(({ id }) => head(id))
      .map(({ method, target }) => `${method} ${target}`);
    expect(lines).toEqual(
      ['GET', 'GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'FROBNICATE'].map((method) => `${method} /hook`),
    );
    expect(assemble(probes.find(({ id }) => id === 'http/get-empty')!.change, kit).body.length).toBe(0);
  });

  it('sends a large invalid delivery, and then a valid one in a separate group', () => {
    for (const id of ['http/after-refused-signature', 'http/after-refused-key']) {
      const groups = flow(id).flow(kit);
      expect(groups.map((group) => group.map(({ expect: expected }) => expected))).toEqual([
        [refusedLarge],
        [accepted],
      ]);
      const bodies = groups.flat().map(({ change }) => assemble(change, kit).body);
      expect(bodies[0]!.length).toBeGreaterThan(1_000_000);
      expect(readNotification(JSON.parse(bodies[1]!.toString())).ok).toBe(true);
    }
  });

  it('changes the white space after the colons, and nothing else', () => {
    const groups = flow('http/header-spacing').flow(kit);
    const sent = groups.flat().map(({ change: { transmit } }) => {
      if (transmit?.kind !== 'raw') throw new Error('not raw');
      return transmit.make(Buffer.from(REQUEST), kit).toString('latin1');
    });
    const [head = '', body] = REQUEST.split('\r\n\r\n');
    expect(sent).toEqual(['', '   '].map((space) => `${head.replaceAll(': ', `:${space}`)}\r\n\r\n${body}`));
  });

  it('sends forgeries next to valid deliveries whose bodies arrive slowly', () => {
    const { alone, flow: of } = flow('http/forged-while-others-arrive');
    const [group = [], ...others] = of(kit);
    expect([alone, others.length, group.filter(({ change }) => change.transmit?.kind === 'held').length]).toEqual([
      true,
      0,
      12,
    ]);
    expect(group.filter(({ expect: due }) => !due.authentic).map(({ change }) => change.transmit)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('holds only the forgery while a valid delivery must be answered, exclusively', () => {
    const { alone, flow: of } = flow('http/while-a-body-is-unfinished');
    const groups = of(kit).map((group) =>
      group.map(({ change: { transmit }, expect: { authentic, pass } }) => ({ authentic, pass, transmit })),
    );
    const held = { kind: 'held', isPatient: true };
    expect([alone, groups]).toEqual([
      true,
      [
        [
          { authentic: false, pass: ['4xx', 'closed'], transmit: held },
          { authentic: true, pass: [200], transmit: undefined },
        ],
      ],
    ]);
  });

  it('sends bursts in one group, exclusively', () => {
    const burst = flow('http/burst');
    const mixed = flow('http/burst-mixed');
    expect([burst.alone, mixed.alone]).toEqual([true, true]);
    expect(burst.flow(kit).map((group) => group.map(({ expect: due }) => due.pass))).toEqual([Array(20).fill([200])]);
    expect(mixed.flow(kit).map((group) => group.map(({ expect: due }) => due.pass))).toEqual([
      Array(20)
        .fill([[200], [401]])
        .flat(),
    ]);
    expect(
      [burst, mixed].flatMap(({ flow: of }) => of(kit).flat()).every(({ expect: { warn } }) => warn?.includes('5xx')),
    ).toBe(true);
    const bodies = burst
      .flow(kit)
      .flat()
      .map(({ change }) => assemble(change, kit).body.toString());
    expect(new Set(bodies).size).toBe(20);
  });

  it('sends GET with a method override, and a malformed query, with valid credentials', () => {
    const overridden = head('http/override-on-get');
    expect([overridden.method, overridden.headers.at(-1)]).toEqual(['GET', ['X-HTTP-Method-Override', 'POST']]);
    expect(head('http/broken-query').target).toBe('/hook?a=%E0%A4%A&%');
    expect(() => decodeURIComponent(head('http/broken-query').target)).toThrow();
  });

  it('adds unusual headers and keeps the others', () => {
    const plain = assemble({}, kit).head.headers.map(([name]) => name);
    const added = ['http/header-repeated', 'http/forty-headers', 'http/header-non-ascii'].map((id) =>
      head(id).headers.slice(plain.length),
    );
    expect(added.map((headers) => headers.length)).toEqual([2, 40, 1]);
    expect(new Set(added[0]!.map(([name]) => name)).size).toBe(1);
    expect(new Set(added[1]!.map(([name]) => name)).size).toBe(40);
    expect(added[2]![0]![1]).toMatch(/[\x80-\xff]/);
  });

  it('changes one place of the request in each probe', () => {
    const broken = probes.flatMap(({ id, change: { transmit } }) =>
      transmit?.kind === 'raw'
        ? [[id.slice('http/'.length), transmit.make(Buffer.from(REQUEST), kit).toString('latin1')] as const]
        : [],
    );
    const [line, host, type, length, close, , body] = REQUEST.split('\r\n');
    const request = (...lines: (string | undefined)[]) => [...lines, '', body].join('\r\n');
    expect(Object.fromEntries(broken)).toEqual({
      'version-1-0': request('POST /hook HTTP/1.0', host, type, length, close),
      'absolute-target': request('POST http://h.example/hook HTTP/1.1', host, type, length, close),
      'garbage-request-line': request('%%% this is no request line %%% HTTP/1.1', host, type, length, close),
      'version-unknown': request('POST /hook HTTP/9.9', host, type, length, close),
      'two-content-lengths': request(line, host, type, length, 'Content-Length: 5', close),
      'content-length-and-chunked': request(line, host, type, length, close, 'Transfer-Encoding: chunked').replace(
        body ?? '',
        `1b\r\n${body}\r\n0\r\n\r\n`,
      ),
      'content-length-words': request(line, host, type, 'Content-Length: 27abc', close),
      'content-length-negative': request(line, host, type, 'Content-Length: -5', close),
      'content-length-huge': request(line, host, type, 'Content-Length: 4294967312', close),
      'content-length-short': request(line, host, type, 'Content-Length: 17', close),
      'chunk-size-broken': request(line, host, type, 'Transfer-Encoding: chunked', close).replace(
        body ?? '',
        `zz\r\n${body}\r\n0\r\n\r\n`,
      ),
      'null-in-header': request(line, host, type, length, close, 'X-Test: a\u0000b'),
      'header-without-colon': request(line, host, type, length, close, 'this line has no colon'),
      'space-before-colon': request(line, host, type, length, close, 'X-Test : a'),
      'host-missing': request(line, type, length, close),
    });
  });
});
