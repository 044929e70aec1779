import { describe, expect, it } from 'vitest';
import { readNotification } from '../../contract/index.ts';
import { accepted, anyClearAnswer, handled, refused } from '../../scenarios/expectations.ts';
import type { ProbeScenario } from '../../scenarios/scenario.ts';
import { malformedSuite } from '../../scenarios/suites/malformed.ts';
import { assemble, deliveriesOf, fakeKit, someCredentials } from './credential-check.ts';

const kit = fakeKit(someCredentials());
const probes = malformedSuite.scenarios.filter((one): one is ProbeScenario => 'change' in one);
const body = (slug: string) => {
  const found = probes.find(({ id }) => id === `malformed/${slug}`);
  if (found === undefined) throw new Error(`no scenario malformed/${slug}`);
  return assemble(found.change, kit).body;
};

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

describe('malformed payloads', () => {
  it('are not notifications by the contract, except for fields that it does not check', () => {
    const read = probes.filter(
      ({ change, expect: due }) => due === handled && readNotification(parsed(assemble(change, kit).body)).ok,
    );
    // Accepting these passes with a note. A receiver that needs the fields rejects them.
    expect(read.map(({ id }) => id)).toEqual([
      'malformed/refund-metadata-missing',
      'malformed/refund-amount-words',
      'malformed/wallet-operation-missing',
      'malformed/deposit-amount-fraction',
      'malformed/deposit-amount-hexadecimal',
    ]);
  });

  it('are not JSON where the JSON is broken', () => {
    const broken = [
      'truncated',
      'cut-in-half',
      'unquoted-keys',
      'single-quotes',
      'trailing-comma',
      'comments',
      'two-documents',
      'half-literal',
      'not-a-number',
      'leading-zero',
      'raw-newline-in-string',
      'empty',
      'only-white-space',
      'form-encoded',
      'xml',
      'binary',
      'utf-16',
    ];
    expect(broken.filter((slug) => parsed(body(slug)) !== undefined)).toEqual([]);
    expect(body('empty').length).toBe(0);
    expect(body('unsigned-empty').length).toBe(0);
  });

  it('are JSON where only the content is invalid', () => {
    const said = ['null', 'string', 'number', 'boolean', 'array', 'array-of-notifications', 'empty-object'];
    expect(said.map((slug) => parsed(body(slug)))).toEqual([
      null,
      'test',
      42,
      true,
      [],
      [expect.objectContaining({ type: 'CAAS' }), expect.objectContaining({ type: 'CAAS' })],
      {},
    ]);
    expect(
      ['id', 'type', 'at', 'data'].filter((field) => field in (parsed(body(`${field}-missing`)) as object)),
    ).toEqual([]);
  });

  it('keep hostile ids new and recognisable', () => {
    const ids = [
      'id-long',
      'id-very-long',
      'id-path',
      'id-quote',
      'id-newline',
      'id-null-character',
      'id-template',
    ].map((slug) => (parsed(body(slug)) as { id: string }).id);
    expect(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f-]{27}/.test(id))).toBe(true);
    expect(ids.slice(0, 2).map((id) => id.length)).toEqual([300, 10_000]);
    expect(ids.slice(2).map((id) => id.slice(36))).toEqual([
      '/../../../etc/passwd',
      "' OR '1'='1",
      '\r\nX-Test: injected\r\n\r\n',
      '\u0000',
      '\u0024{7*7}{{7*7}}%s%n',
    ]);
  });

  it('have the sizes and depths of their ids', () => {
    const sizes = ['size-16-kb', 'size-99-kb', 'size-150-kb', 'size-1-mb', 'unsigned-1-mb'].map(
      (slug) => body(slug).length,
    );
    [16_000, 99_000, 150_000, 1_000_000, 1024 * 1024].forEach((due, index) => {
      expect(sizes[index]).toBeGreaterThan(due);
      expect(sizes[index]).toBeLessThan(due + 800);
    });
    expect(sizes[0]).toBe(16_384);
    // The common body parser for Node stops at 100 kB, which it counts as 102,400 bytes.
    expect(sizes[1]).toBeLessThan(102_400);
    const depth = (slug: string) => body(slug).toString().split('[').length - 1;
    expect(['depth-200', 'depth-2000', 'depth-20000', 'depth-100000', 'unsigned-depth'].map(depth)).toEqual([
      200, 2000, 20_000, 100_000, 20_000,
    ]);
    expect(body('long-number').toString()).toMatch(/:7{10000}[,}]/);
    expect(body('long-number-at').toString()).toMatch(/"at":9{400},/);
    expect(
      Object.keys((parsed(body('many-keys')) as { data: { metadata: { testKeys: object } } }).data.metadata.testKeys),
    ).toHaveLength(5000);
  });
});

describe('prototype pollution', () => {
  const pollutions = malformedSuite.scenarios.flatMap((one) =>
    'flow' in one && one.id.startsWith('malformed/pollution-') ? [one] : [],
  );

  it('has three payloads, each followed by a valid and a forged delivery', () => {
    expect(pollutions.map(({ id }) => id)).toEqual([
      'malformed/pollution-proto',
      'malformed/pollution-envelope',
      'malformed/pollution-constructor',
    ]);
    for (const flow of pollutions) {
      expect(flow.flow(kit).map((group) => group.map(({ expect: expected }) => expected))).toEqual([
        [anyClearAnswer],
        [accepted, refused],
      ]);
    }
  });

  it('writes the names as own members, so that a parser sees them', () => {
    const [proto, envelope, inherited] = pollutions.map((one) =>
      assemble(deliveriesOf(one, kit)[0]!.change, kit).body.toString(),
    );
    const flag = { verified: true, testPolluted: expect.any(String) };
    const own = (text: string | undefined, ...path: string[]) =>
      path.reduce<unknown>(
        (value, key) => Object.getOwnPropertyDescriptor(value as object, key)?.value,
        JSON.parse(text ?? ''),
      );
    expect(own(proto, 'data', '__proto__')).toMatchObject(flag);
    expect(own(envelope, '__proto__')).toMatchObject(flag);
    expect(own(inherited, 'data', 'constructor', 'prototype')).toMatchObject(flag);
    expect('testPolluted' in {}).toBe(false);
  });
});

describe('deliveries that are cut off', () => {
  it('are thirty concurrent ones, exclusively, to exhaust any usual pool', () => {
    const [many] = malformedSuite.scenarios.filter(({ id }) => id === 'malformed/cut-off-many-times');
    if (many === undefined || !('flow' in many)) throw new Error('no such flow');
    expect(many.alone).toBe(true);
    const [group, ...others] = many.flow(kit);
    expect([group?.length, others.flat().map(({ change }) => change)]).toEqual([30, [{}]]);
    expect(new Set(group?.map(({ change }) => change.transmit?.kind))).toEqual(new Set(['cut-off']));
  });
});
