import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import wrapAnsi from 'wrap-ansi';
import { visible } from '../../../contract/visible.ts';
import { describeBytes } from '../../../harness/report/index.ts';
import { createLayout, displayWidth, truncate, wrap } from '../../../harness/report/layout.ts';
import { textBody } from './documents.ts';

describe('wrapping', () => {
  it('breaks at spaces, and inside a word that is wider than a line', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('abcdefghij kl', 4)).toEqual(['abcd', 'efgh', 'ij', 'kl']);
    expect(wrap('', 7)).toEqual(['']);
  });

  it('counts two columns for a wide character and none for a combining mark', () => {
    expect(displayWidth('漢字')).toBe(4);
    expect(displayWidth('e\u0301')).toBe(1);
    expect(wrap('漢字漢字', 5)).toEqual(['漢字', '漢字']);
    expect(truncate('漢字漢字', 5)).toBe('漢字…');
  });

  it('cuts a line of half a million emoji before it is laid out', () => {
    const text = '\u{1f600}'.repeat(250_000);
    const lines = createLayout({ columns: 80, color: false, unicode: true }).paragraph('x ', text);
    expect(truncate(text, 20).length).toBeLessThan(60);
    expect(lines.join('').length).toBeLessThan(10_000);
  });

  it('breaks plain text where wrap-ansi breaks it', () => {
    const words = fc.array(fc.string({ unit: fc.constantFrom('a', 'B', '7', '-', '…', '✓'), maxLength: 6 }));
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 12 }), (given, width) => {
        const text = given.join(' ');
        const broken = (atSpaces: boolean) =>
          wrapAnsi(text, width, { hard: true, wordWrap: atSpaces, trim: atSpaces }).split('\n');
        expect(wrap(text, width)).toEqual(broken(true));
        expect(displayWidth(text)).toBe(stringWidth(text));
        if (text.length > width + 1) expect(truncate(text, width, '')).toBe(broken(false)[0]);
      }),
    );
  });

  it('loses no character and keeps to the width', () => {
    const words = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '漢', 'e\u0301', '😀'), minLength: 1 }));
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 12 }), (given, width) => {
        const lines = wrap(given.join(' '), width);
        expect(lines.join('').replaceAll(' ', '')).toBe(given.join('').normalize());
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('visible text', () => {
  it('escapes characters that act on a display', () => {
    expect(visible('a\x1b[31m\n\r\t\x00\x9b\u202e\ufeff\u{e0001}\ud800z')).toBe(
      'a\\x1b[31m\\n\\r\\t\\x00\\x9b\\u202e\\ufeff\\u{e0001}\\ud800z',
    );
    expect(visible('Größe 漢字 😀')).toBe('Größe 漢字 😀');
  });

  it.each([
    [textBody(''), 'no body'],
    [textBody('x'), '1 byte: x'],
    [textBody('a\nb'), '3 bytes: a\\nb'],
    [{ length: 2, text: null, base64: '//4=', truncated: false }, '2 bytes, not text: base64 //4='],
    [{ length: 90_000, text: 'abc', base64: null, truncated: true }, '90000 bytes: abc…'],
    [{ length: 5, text: null, base64: null, truncated: true }, '5 bytes'],
  ])('describes the body %j as "%s"', (body, description) => {
    expect(describeBytes(body)).toBe(description);
  });

  it('truncates the description of a long body', () => {
    expect(describeBytes(textBody('x'.repeat(300)), 10)).toBe(`300 bytes: ${'x'.repeat(9)}…`);
  });
});
