import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BODY_MISTAKES, printedForm } from '../../../contract/signing/body-mistakes.ts';
import { KEY_MISTAKES } from '../../../contract/signing/key-mistakes.ts';
import { readBody } from '../../../contract/signing/mistake.ts';
import { lacks, type Program } from '../../setup/programs.ts';
import { SAMPLES } from '../samples.ts';

const ODD = JSON.stringify({
  id: 'n-1',
  at: 1_735_787_045,
  numbers: [0, -1, 7, 1.5, 0.1, 1e-5, 1e21, 1_000_000, 9_999_999],
  truth: [true, false, null],
  text: 'it\'s "quoted" \\ / \u00e9\u00ff \u2019 \u{1f600} \n & <b> #{x} #$y # ~*!()+%41',
  apostrophe: "'",
  invisible: '\u00a0\u00ad\u200b\u2028\u007f\u0000\u001b\u3000\ufeff',
  empty: ['', {}, []],
  10: { z: 1, a: 2 },
  nothing: null,
});
const BODIES = [
  ...Object.values(SAMPLES).map((notification) => JSON.stringify(notification)),
  ODD,
  ODD.replaceAll(
    '"numbers":[',
    '"numbers":[1.0,-0.0,12345678901234567890,0.001,0.00099,1e7,1e13,1e14,1e15,0.12345678901234567,123456.7,',
  ),
];

/**
 * Each program with its command, its script, and the mistake that produces each form that the script prints. A mistake
 * may concern a secret with the same text as the body.
 */
const PRINTERS: readonly (readonly [Program, command: readonly string[], script: string, names: readonly string[]])[] =
  [
    [
      'python3',
      ['python3'],
      'print.py',
      [
        'python-dict-body',
        'python-query-body',
        'python-bytes-body',
        'python-bytearray-body',
        'listed-bytes-body',
        'python-base64-lines-body',
        'html-escaped-secret-python',
        'path-encoded-secret',
        'form-encoded-secret-python',
        'json-escaped-secret-python',
      ],
    ],
    [
      'php',
      ['php'],
      'print.php',
      [
        'php-array-body',
        'php-serialize-body',
        'php-var-export-body',
        'php-print-r-body',
        'php-query-body',
        'php-base64-lines-body',
        'slashed-body',
        'html-escaped-body',
        'html-escaped-secret-double-quotes',
        'form-encoded-body',
        'raw-url-encoded-secret',
        'json-escaped-secret-php',
      ],
    ],
    [
      'ruby',
      ['ruby'],
      'print.rb',
      [
        'ruby-hash-body',
        'ruby-string-body',
        'listed-bytes-body',
        'base64-lines-body',
        'html-escaped-secret-ruby',
        'form-encoded-secret-python',
      ],
    ],
    [
      'go',
      ['go', 'run'],
      'print.go',
      [
        'go-map-body',
        'go-number-map-body',
        'go-bytes-body',
        'hex-body',
        'quoted-base64-body',
        'html-escaped-secret-go',
        'form-encoded-secret-python',
        'json-escaped-secret-go',
      ],
    ],
    [
      'java',
      ['java'],
      'Print.java',
      ['java-map-body', 'java-double-map-body', 'java-bytes-body', 'mime-base64-body', 'form-encoded-secret-java'],
    ],
  ];

/** Applies the mistake to a body, or to a secret with the same text. */
function ours(name: string, body: string): string {
  const input = readBody({ body: Buffer.from(body), secret: body });
  const key = KEY_MISTAKES.find((mistake) => mistake.name === name)?.key(input);
  const bytes = key ?? BODY_MISTAKES.find((mistake) => mistake.name === name)?.bytes(input);
  return Buffer.from(bytes ?? '').toString();
}

describe('the printed forms', () => {
  describe.each(PRINTERS)('of %s', (program, [command = '', ...args], script, names) => {
    it.skipIf(lacks(program))('are what the program prints', () => {
      // The programs get a JSON list, except Java, which gets lines.
      const input = program === 'java' ? BODIES.join('\n') : JSON.stringify(BODIES);
      const file = join(import.meta.dirname, 'printers', script);
      const output = execFileSync(command, [...args, file], { input, encoding: 'utf8' });
      const theirs: string[][] = JSON.parse(output);
      BODIES.forEach((body, at) => {
        const printed = names.map((name, form) => [name, Buffer.from(theirs[at]?.[form] ?? '', 'base64').toString()]);
        expect(names.map((name) => [name, ours(name, body)])).toEqual(printed);
      });
    });
  });
});

describe('printedForm', () => {
  it('takes no notification for a printed form', () => {
    for (const body of BODIES)
      for (const indent of [0, 2]) {
        expect(printedForm(Buffer.from(JSON.stringify(JSON.parse(body), null, indent)))).toBe(undefined);
      }
    for (const json of ['{}', '[]', 'null', 'false', '""', '"text"', '1', '[1,2]', '']) {
      expect(printedForm(Buffer.from(json))).toBe(undefined);
    }
  });

  it.each(BODY_MISTAKES.filter(({ form }) => form !== undefined))('recognises $name', (mistake) => {
    const body = Buffer.from(JSON.stringify(SAMPLES.buy));
    const printed = mistake.bytes(readBody({ body, secret: 'x' }));
    expect(printedForm(printed ?? body)?.name).toBe(mistake.name);
  });
});
