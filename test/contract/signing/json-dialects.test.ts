import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as dialects from '../../../contract/signing/json-dialects.ts';
import { lacks } from '../../setup/programs.ts';

const { parseJson, rewriteJson } = dialects;

const BODIES = [
  '{"n":[1.0,1e3,-0,-0.0,0.10,12345678901234567890,1e21,1e15,1e16,1e-4,1e-5,1E+2,' +
    '123456789.125e10,0.1234567890123456789]}',
  ' {"u":"https:\\/\\/x/\u00e9\u{1f600}\\ud83d\\u2028\\u007f<>&\\u0000\\n\\t\\b\\"\\\\", ' +
    '"b":{},"a":[], "a":[1,[2,{"z":null,"y":true}]]} ',
  '{"10":1,"9":2,"\u00e9":3,"a":{"c":1,"b":2}}',
  '"text"',
  '[]',
];

describe('the JSON dialects', () => {
  it.skipIf(lacks('python3'))('write as Python itself does', () => {
    const script = [
      'import json, sys',
      'for body in json.load(sys.stdin):',
      '    value = json.loads(body)',
      '    print(json.dumps(json.dumps(value)))',
      '    print(json.dumps(json.dumps(value, separators=(",", ":"))))',
      '    print(json.dumps(json.dumps(value, separators=(",", ":"), ensure_ascii=False)))',
      '    print(json.dumps(json.dumps(value, sort_keys=True)))',
    ].join('\n');
    const bodies = BODIES.map((body) => body.replace('\\ud83d', '')); // ensure_ascii=False cannot write half a pair.
    const output = execFileSync('python3', ['-c', script], { input: JSON.stringify(bodies), encoding: 'utf8' });
    const ours = bodies.flatMap((body) => [
      rewriteJson(body, dialects.PYTHON),
      rewriteJson(body, dialects.PYTHON_COMPACT_ASCII),
      rewriteJson(body, dialects.PYTHON_COMPACT),
      rewriteJson(body, { ...dialects.PYTHON, sortKeys: true }),
    ]);
    expect(ours).toEqual(
      output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
  });

  it('write as PHP does', () => {
    // The expected text is the output of json_encode(json_decode($body, true)) in PHP 8.2.
    expect(rewriteJson(BODIES[0]!, dialects.PHP)).toBe(
      '{"n":[1,1000,0,-0,0.1,1.2345678901234567e+19,1.0e+21,1000000000000000,10000000000000000,0.0001,1.0e-5,100,' +
        '1.23456789125e+18,0.12345678901234568]}',
    );
    expect(rewriteJson('{"s":"a/\u00e9\\u2028<","y":{},"m":9223372036854775807}', dialects.PHP)).toBe(
      '{"s":"a\\/\\u00e9\\u2028<","y":[],"m":9223372036854775807}',
    );
    expect(rewriteJson('{"s":"a/\u00e9\\u2028<"}', dialects.PHP_UNESCAPED)).toBe('{"s":"a/\u00e9\\u2028<"}');
  });

  it('write as Go does: sorted, and safe for HTML', () => {
    expect(rewriteJson('{"b":1.0,"a":"<&>/\u00e9"}', dialects.GO_MAP)).toBe(
      '{"a":"\\u003c\\u0026\\u003e/\u00e9","b":1}',
    );
  });

  it('sort keys by code point', () => {
    expect(rewriteJson('{"\uffee":1,"\u{1f600}":2,"a":{"c":1,"b":2}}', dialects.JAVASCRIPT_SORTED)).toBe(
      '{"a":{"b":2,"c":1},"\uffee":1,"\u{1f600}":2}',
    );
  });
});

const AS_IS: dialects.JsonDialect = { separators: [',', ':'], number: (source) => source, string: JSON.stringify };

describe('rewriteJson', () => {
  it('keeps what JSON.parse keeps, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 2, '\t'), (json, space) => {
        const text = JSON.stringify(JSON.parse(json), null, space);
        expect(JSON.stringify(JSON.parse(rewriteJson(text, AS_IS)))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('throws on text that is not JSON, and on what the platform cannot write', () => {
    for (const text of ['', '{', '{} x', "{'a':1}"]) expect(() => rewriteJson(text, AS_IS)).toThrow(SyntaxError);
    expect(() => rewriteJson('[1e400]', dialects.PHP)).toThrow(RangeError);
    expect(() => rewriteJson('"\\ud83d"', dialects.PYTHON_COMPACT)).toThrow(RangeError);
  });
});

describe('parseJson', () => {
  it('throws beyond a depth that the caller names', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(() => parseJson(nested(300), 200)).toThrow(RangeError);
    expect(parseJson(nested(150), 200)).toMatchObject({ kind: 'array' });
  });
});
