/** The parse stage: prototypes are removed, everything else is kept, and the depth is limited. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNestedDeeper } from '../../../contract/parse-json.ts';
import { createReceiver, type DeliveryReport } from '../../../receiver/index.ts';
import { parse } from '../../../receiver/stages/payload.ts';
import { post } from '../deliveries.ts';

/** Returns the payload that the stage parses from a text, or its error. */
function parsed(text: string, maxDepth = 64): { payload: unknown } | { error: string } {
  const locals: Record<string, unknown> = { rawBody: Buffer.from(text) };
  let answer = '';
  const res = {
    locals,
    writeHead: () => {},
    end: (body: Buffer) => {
      answer = String(body);
    },
  };
  let passed = false;
  void parse(maxDepth)({} as never, res as never, () => {
    passed = true;
  });
  return passed ? { payload: locals.payload } : JSON.parse(answer);
}

/** Returns the depth by recursion on the value, unlike the receiver, which scans the text. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Generates other texts for the same JSON. */
const spelling = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => JSON.stringify(JSON.parse(text), null, 2),
  (text) => ` \n${text}\t`,
  (text) => text.replaceAll('/', '\\/'),
);
const dangerous = (name: string) => name === '__proto__' || name === 'constructor';
const spelt = fc.tuple(fc.json({ maxDepth: 6 }), spelling).map(([text, spell]) => spell(text));

describe('a payload', () => {
  it('equals the result of JSON.parse, in the same order of keys', () => {
    fc.assert(
      fc.property(spelt, (text) => {
        let named = false;
        const value = JSON.parse(text, (key, inner) => {
          if (dangerous(key)) named = true;
          return inner;
        });
        fc.pre(!named);
        const result = parsed(text) as { payload: unknown };
        expect(result.payload).toStrictEqual(value);
        expect(JSON.stringify(result.payload)).toBe(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['{"a":1,"a":2}'],
    ['{"n":12345678901234567890,"m":1e400,"z":-0}'],
    ['"a lone \\ud83d surrogate"'],
    ['{"2":1,"1":2,"constructor":"a text","prototype":{"x":1}}'],
    ['{"constructor":{"name":"no prototype in it"}}'],
    ['{"text":"\\"__proto__\\":{}","__proto":1,"proto__":2}'],
  ])('is not changed: %s', (text) => {
    expect(parsed(text)).toEqual({ payload: JSON.parse(text) });
  });

  it.each([
    ['at the top', '{"__proto__":{"x":1},"a":1}', '{"a":1}'],
    ['in a nested object', '{"a":[{"b":{"__proto__":{"x":1},"c":2}}]}', '{"a":[{"b":{"c":2}}]}'],
    ['as null', '{"__proto__":null,"a":1}', '{"a":1}'],
    ['twice', '{"__proto__":1,"a":1,"__proto__":{"x":1}}', '{"a":1}'],
    ['with an escape', '{"\\u005f_pr\\u006Fto__":{"x":1},"a":1}', '{"a":1}'],
    ['with white space', '{"__proto__"\n\t :{"x":1},"a":1}', '{"a":1}'],
    ['by the constructor', '{"constructor":{"prototype":{"x":1}},"a":1}', '{"a":1}'],
    ['by the constructor, escaped', '{"\\u0063onstructor":{"protot\\u0079pe":{"x":1}},"a":1}', '{"a":1}'],
    ['within each other', '{"__proto__":{"__proto__":{"x":1}},"a":{"constructor":{"prototype":{}}}}', '{"a":{}}'],
  ])('loses keys that reach a prototype: %s', (_where, text, left) => {
    // Without the stage, these keys would be there.
    expect(JSON.stringify(JSON.parse(text))).not.toBe(left);
    const { payload } = parsed(text) as { payload: object };
    expect(JSON.stringify(payload)).toBe(left);
    expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
  });

  it('keeps its raw bytes in the report', async () => {
    const reports: DeliveryReport[] = [];
    const receiver = createReceiver({ open: true, observers: [(report) => void reports.push(report)] });
    const text = '{"id":"p","type":"NEW","at":1700000000,"data":{"__proto__":{"x":1}, "a":1.0}}';
    expect((await post(receiver, text)).status).toBe(200);
    expect(reports[0]?.rawBody?.toString()).toBe(text);
    expect(JSON.stringify(reports[0]?.notification?.raw)).toBe(
      '{"id":"p","type":"NEW","at":1700000000,"data":{"a":1}}',
    );
  });

  it('is rejected with a byte order mark, which the library would skip', () => {
    expect(parsed('\uFEFF{}')).toEqual({ error: 'body-not-json' });
  });
});

describe('the depth of a payload', () => {
  it('is that of its value', () => {
    fc.assert(
      fc.property(spelt, fc.integer({ min: 1, max: 8 }), (text, limit) => {
        expect(isNestedDeeper(text, limit)).toBe(depthOf(JSON.parse(text)) > limit);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['brackets in strings', `{"a":"${'[{'.repeat(100)}","${'{'.repeat(100)}":1}`, 1],
    ['escaped quotes', `["\\"${'['.repeat(100)}","\\\\",["\\\\\\"${'['.repeat(100)}"]]`, 2],
    ['side by side', `[${'[],'.repeat(1000)}{}]`, 2],
    ['mixed', '[{"a":[{"b":[]}]}]', 5],
    ['no brackets', '"text"', 0],
  ])('ignores brackets that do not nest: %s', (_what, text, depth) => {
    expect(depthOf(JSON.parse(text))).toBe(depth);
    expect(isNestedDeeper(text, depth)).toBe(false);
    if (depth > 0) expect(isNestedDeeper(text, depth - 1)).toBe(true);
  });

  it('is checked before the text is parsed, without recursion', () => {
    expect(parsed('['.repeat(1_000_000))).toEqual({ error: 'body-too-deep' });
    expect(parsed(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)).toEqual({ error: 'body-too-deep' });
    expect(parsed(`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`)).toHaveProperty('payload');
    expect(parsed(`{"a":${'['.repeat(3)}`, 3)).toEqual({ error: 'body-too-deep' });
  });
});
