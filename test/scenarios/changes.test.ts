import { describe, expect, it } from 'vitest';
import {
  asciiOnly,
  having,
  keysReversed,
  keysSorted,
  lacking,
  respeltStrings,
  rewritten,
  spacedOut,
  spelt,
  withField,
  withMember,
  withoutField,
} from '../../scenarios/changes/bodies.ts';
import { editedHead, headerLineAdded, headerLines, requestLine } from '../../scenarios/changes/transmitting.ts';
import type { Transmission } from '../../scenarios/scenario.ts';
import { fakeKit, someCredentials } from './credential-check.ts';

const kit = fakeKit(someCredentials());

describe('composing', () => {
  const value = { a: { b: 1, c: [2] }, d: 3 };

  it('sets a field in a copy, deep or new', () => {
    expect(withField(value, 'a.b', null)).toEqual({ a: { b: null, c: [2] }, d: 3 });
    expect(withField(value, 'e', { f: 1 })).toEqual({ a: { b: 1, c: [2] }, d: 3, e: { f: 1 } });
    expect(value).toEqual({ a: { b: 1, c: [2] }, d: 3 });
  });

  it('leaves a field out of a copy', () => {
    expect(withoutField(value, 'a.b')).toEqual({ a: { c: [2] }, d: 3 });
    expect(withoutField(value, 'd')).toEqual({ a: { b: 1, c: [2] } });
    expect(value.a.b).toBe(1);
  });

  it.each(['x.y', 'd.y', 'a.c.y'])('rejects the path %s, on which there is no object', (path) => {
    expect(() => withField(value, path, 1)).toThrow(`A scenario changes`);
    expect(() => withoutField(value, path)).toThrow(
      expect.objectContaining({ code: 'SCENARIO_PATH', kind: 'internal' }),
    );
  });

  it('makes composers of both, with values from the kit', () => {
    const base = () => ({ a: 1, b: 2 });
    expect(having(base, 'a', (k) => k.now.getUTCFullYear())(kit)).toEqual({ a: 2026, b: 2 });
    expect(lacking(base, 'a')(kit)).toEqual({ b: 2 });
  });
});

describe('hand-written bytes', () => {
  it('writes a field as a token, as text and as raw bytes', () => {
    expect(spelt('a.n', '1.0')({ a: { n: 5, m: 1 } }).toString()).toBe('{"a":{"n":1.0,"m":1}}');
    expect(spelt('a.x', '[[]]')({ a: {} }).toString()).toBe('{"a":{"x":[[]]}}');
    expect(spelt('s', Buffer.of(0x22, 0xff, 0x22))({ s: '' })).toEqual(
      Buffer.concat([Buffer.from('{"s":"'), Buffer.of(0xff), Buffer.from('"}')]),
    );
    expect(spelt('s', '"$&"')({ s: '' }).toString()).toBe('{"s":"$&"}');
  });

  it('adds a member that JSON.stringify would not write', () => {
    expect(withMember('a', '"__proto__":{"x":1}')({ a: { b: 1 } }).toString()).toBe(
      '{"a":{"b":1,"__proto__":{"x":1}}}',
    );
    expect(withMember('', '"a":"$&"')({ a: 1 }).toString()).toBe('{"a":1,"a":"$&"}');
  });

  it('puts spaces between tokens and not in strings', () => {
    const spaced = spacedOut('{"a,:":[1,{"b{}":null}]}');
    expect(spaced).toContain('"a,:" : ');
    expect(spaced).toContain('"b{}" : ');
    expect(JSON.parse(spaced)).toEqual({ 'a,:': [1, { 'b{}': null }] });
    expect(rewritten((json) => `${json}\n`)({ a: 1 }).toString()).toBe('{"a":1}\n');
  });

  it('rewrites strings with escaped quotes', () => {
    const seen: string[] = [];
    respeltStrings('{"a\\"b":"c\\\\","d":1.5}', (token) => {
      seen.push(token);
      return token;
    });
    expect(seen).toEqual(['"a\\"b"', '"c\\\\"', '"d"']);
  });

  it('escapes non-ASCII characters by UTF-16 unit', () => {
    expect(asciiOnly('"\u00e9 \u{1f600} \u007f a"')).toBe('"\\u00e9 \\ud83d\\ude00 \\u007f a"');
  });

  it('sorts keys at every depth', () => {
    const value = { b: [{ d: 1, c: 2 }], a: null };
    expect(JSON.stringify(keysReversed(value))).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
    expect(JSON.stringify(keysSorted(value))).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
    expect(JSON.stringify(keysReversed({ a: 1, b: 2 }))).toBe('{"b":2,"a":1}');
    expect(JSON.stringify(keysSorted({ b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
  });
});

describe('malformed HTTP', () => {
  const request = Buffer.concat([
    Buffer.from('POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n'),
    Buffer.of(0x0d, 0x0a, 0x0d, 0xff),
  ]);
  const made = (transmission: Transmission) => {
    if (transmission.kind !== 'raw') throw new Error('not raw');
    return transmission.make(request, kit).toString('latin1');
  };
  const BODY = '\r\n\r\xff';

  it('changes the head and not the body', () => {
    expect(made(requestLine('l', (line) => line.replace('1.1', '9.9')))).toBe(
      `POST /hook HTTP/9.9\r\nHost: h\r\nContent-Length: 4\r\n\r\n${BODY}`,
    );
    expect(made(headerLines('l', 'content-length', (line) => [line, 'Content-Length: 5']))).toBe(
      `POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n${BODY}`,
    );
    expect(made(headerLines('l', 'Host', () => []))).toBe(`POST /hook HTTP/1.1\r\nContent-Length: 4\r\n\r\n${BODY}`);
    expect(made(headerLineAdded('l', () => 'X: \u0000'))).toBe(
      `POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nX: \u0000\r\n\r\n${BODY}`,
    );
    expect(made(editedHead('l', (lines) => lines))).toBe(request.toString('latin1'));
  });
});
