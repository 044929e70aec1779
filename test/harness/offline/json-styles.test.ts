import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as styles from '../../../harness/offline/json-styles.ts';
import { type JsonStyle, parseJsonText, writeJson } from '../../../harness/offline/json-text.ts';
import { lacks } from '../../setup/programs.ts';

function write(text: string, style: JsonStyle): string | undefined {
  const tree = parseJsonText(text);
  return tree && writeJson(tree, style);
}

const BODIES = [
  '{"n":[1.0,1e3,-0,-0.0,0.10,12345678901234567890,1e21,1e15,1e16,1e-4,1e-5,1E+2,123456789.125e10,0.1234567890123456789]}',
  ' {"u":"https:\\/\\/x/\u00e9\u{1f600}\\ud83d\\u2028\\u007f<>&\\u0000\\n\\t\\b\\"\\\\", "b":{},"a":[], "a":[1,[2,{"z":null,"y":true}]]} ',
  '{"10":1,"9":2,"\u00e9":3,"a":{"c":1,"b":2}}',
  '"text"',
  '[]',
];

describe('the JSON styles', () => {
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
      write(body, styles.PYTHON_DEFAULT),
      write(body, styles.PYTHON_COMPACT_ASCII),
      write(body, styles.PYTHON_COMPACT),
      write(body, { ...styles.PYTHON_DEFAULT, sortKeys: true }),
    ]);
    expect(ours).toEqual(
      output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
  });

  it('write as PHP does', () => {
    // What PHP 8.2 gives for json_encode(json_decode($body, true)).
    expect(write(BODIES[0]!, styles.PHP_DEFAULT)).toBe(
      '{"n":[1,1000,0,-0,0.1,1.2345678901234567e+19,1.0e+21,1000000000000000,10000000000000000,0.0001,1.0e-5,100,1.23456789125e+18,0.12345678901234568]}',
    );
    expect(write('{"s":"a/\u00e9\\u2028<","y":{},"m":9223372036854775807}', styles.PHP_DEFAULT)).toBe(
      '{"s":"a\\/\\u00e9\\u2028<","y":[],"m":9223372036854775807}',
    );
    expect(write('{"s":"a/\u00e9\\u2028<"}', styles.PHP_UNESCAPED)).toBe('{"s":"a/\u00e9\\u2028<"}');
  });

  it('write as Go does: sorted, and safe for HTML', () => {
    expect(write('{"b":1.0,"a":"<&>/\u00e9"}', styles.GO_MAP)).toBe('{"a":"\\u003c\\u0026\\u003e/\u00e9","b":1}');
  });

  it('sort keys by code point', () => {
    expect(write('{"\uffee":1,"\u{1f600}":2,"a":{"c":1,"b":2}}', styles.JAVASCRIPT_SORTED)).toBe(
      '{"a":{"b":2,"c":1},"\uffee":1,"\u{1f600}":2}',
    );
  });
});

describe('parseJsonText', () => {
  it('keeps what JSON.parse keeps, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 2, '\t'), (json, space) => {
        const text = JSON.stringify(JSON.parse(json), null, space);
        const written = write(text, { item: ',', colon: ':', number: (source) => source, string: JSON.stringify });
        expect(JSON.stringify(JSON.parse(written ?? ''))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('refuses what is not JSON, and what is nested beyond 200', () => {
    expect([parseJsonText(''), parseJsonText('{'), parseJsonText('{} x'), parseJsonText("{'a':1}")]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(parseJsonText(`${'['.repeat(300)}${']'.repeat(300)}`)).toBe(undefined);
    expect(parseJsonText(`${'['.repeat(150)}${']'.repeat(150)}`)).toBeDefined();
  });
});
