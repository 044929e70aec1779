import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../harness/config/index.ts';
import { whyUnreadable } from '../../../harness/config/read-file.ts';
import { BEGIN_PRIVATE_KEY } from '../../certs/material.ts';
import { load, refusal, workspace } from './workspace.ts';

const KNOWN =
  'url, hmac, api-key, headers, tls, mtls, profile, revision, suites, scenarios, grep, concurrency, timeout, recovery, max-time, allow-private, seed, strict, baseline, stack, bail, evidence, reporters, output-dir';
const REFER = `Write \${env:NAME} for an environment variable, or \${file:PATH} for a file.`;
const QUOTES = 'Put the value in quotes.';
const RENAME = 'Rename it, or remove it.';
const PAIR = 'Write a setting as key: value.';

const REFUSED: Record<string, readonly [yaml: string, code: string, message: string, hint: string]> = {
  // Keys
  'an unknown key with no near name': [
    'url: https://a.example/\nfrobnicate: 1\n',
    'CONFIG_UNKNOWN_KEY',
    'hookproof.yaml:2:1: unknown key "frobnicate"',
    `Known keys: ${KNOWN}.`,
  ],
  'a mistyped key': [
    'timeuot: 10s\n',
    'CONFIG_UNKNOWN_KEY',
    'hookproof.yaml:1:1: unknown key "timeuot"; did you mean `timeout`?',
    RENAME,
  ],
  'a mistyped key in a group': [
    'hmac:\n  heder: X-Sig\n',
    'CONFIG_UNKNOWN_KEY',
    'hookproof.yaml:2:3: unknown key "heder" in hmac; did you mean `header`?',
    RENAME,
  ],
  'the name of a flag': [
    'signature-header: X-Sig\n',
    'CONFIG_UNKNOWN_KEY',
    'hookproof.yaml:1:1: unknown key "signature-header"; did you mean `hmac.header`?',
    RENAME,
  ],
  'a key of another group': [
    'hmac:\n  client-cert: x\n',
    'CONFIG_UNKNOWN_KEY',
    'hookproof.yaml:2:3: unknown key "client-cert" in hmac; did you mean `tls.client-cert`?',
    RENAME,
  ],
  'a key in flow style': [
    '{ url: "https://a.example/", tls: { caa: x } }\n',
    'CONFIG_UNKNOWN_KEY',
    'hookproof.yaml:1:37: unknown key "caa" in tls; did you mean `ca`?',
    RENAME,
  ],
  'a key that every object has': [
    '__proto__: { url: x }\n',
    'CONFIG_UNKNOWN_KEY',
    'hookproof.yaml:1:1: unknown key "__proto__"',
    `Known keys: ${KNOWN}.`,
  ],
  'a key that is long': [
    `${'k'.repeat(30)}: 1\n`,
    'CONFIG_UNKNOWN_KEY',
    'hookproof.yaml:1:1: unknown key',
    `Known keys: ${KNOWN}.`,
  ],
  'a key without a value': [
    'hmac: { hunter2 }\n',
    'CONFIG_UNKNOWN_KEY',
    'hookproof.yaml:1:9: unknown key without a value in hmac',
    'Known keys in hmac: secret, header.',
  ],
  'a known key without a value in braces': [
    'hmac: { header }\n',
    'CONFIG_EMPTY_VALUE',
    'hookproof.yaml:1:9: hmac.header: is empty',
    'Give it a value, or remove the key.',
  ],
  'a key that appears twice': [
    'url: https://a.example/\nurl: https://b.example/\n',
    'CONFIG_DUPLICATE_KEY',
    'hookproof.yaml:2:1: "url" appears twice',
    'Keep one of them.',
  ],
  // Values
  'a number for text': ['url: 1\n', 'CONFIG_VALUE', 'hookproof.yaml:1:6: url: must be text', QUOTES],
  'a number in a list of text': [
    'suites:\n  - valid\n  - 1\n',
    'CONFIG_VALUE',
    'hookproof.yaml:3:5: suites.1: must be text',
    QUOTES,
  ],
  'a number as a header': [
    'headers:\n  X-Version: 1.10\n',
    'CONFIG_VALUE',
    'hookproof.yaml:2:14: headers.X-Version: must be text',
    QUOTES,
  ],
  'a word for a switch': [
    'strict: yes\n',
    'CONFIG_VALUE',
    'hookproof.yaml:1:9: strict: must be true or false',
    'Write true or false, without quotes.',
  ],
  'text for a number': [
    'concurrency: "8"\n',
    'CONFIG_VALUE',
    'hookproof.yaml:1:14: concurrency: must be a whole number',
    'Write digits, without quotes.',
  ],
  'a number out of bounds': [
    'concurrency: 65\n',
    'CONFIG_VALUE',
    'hookproof.yaml:1:14: concurrency: "65" is not a whole number from 1 to 64',
    'Write digits only.',
  ],
  'a duration without a unit': [
    'timeout: 10\n',
    'CONFIG_VALUE',
    'hookproof.yaml:1:10: timeout: must be a duration with its unit',
    'Write a number and its unit: 500ms, 10s or 2m.',
  ],
  'a duration out of bounds': [
    'timeout: 11m\n',
    'CONFIG_VALUE',
    'hookproof.yaml:1:10: timeout: "11m" is out of range',
    'Choose a duration from 100ms to 10m.',
  ],
  'a word for a list': [
    'suites: valid\n',
    'CONFIG_VALUE',
    'hookproof.yaml:1:9: suites: must be a list',
    'Write [one, two], or one item a line after a dash; leave the key out for none.',
  ],
  'an empty list': [
    'suites: []\n',
    'CONFIG_VALUE',
    'hookproof.yaml:1:9: suites: must be a list',
    'Write [one, two], or one item a line after a dash; leave the key out for none.',
  ],
  'a word for a group': [
    'hmac: abc\n',
    'CONFIG_VALUE',
    'hookproof.yaml:1:7: hmac: must be a group of settings',
    'Indent them below it, one a line.',
  ],
  'a list for a group': [
    'headers: [a]\n',
    'CONFIG_VALUE',
    'hookproof.yaml:1:10: headers: must be a group of settings',
    'Indent them below it, one a line.',
  ],
  'a fraction as a seed': [
    'seed: 1.5\n',
    'CONFIG_VALUE',
    'hookproof.yaml:1:7: seed: must be text or a whole number',
    'A seed is 1 to 64 letters, digits, or any of . : _ -',
  ],
  'a group with nothing in it': [
    'hmac:\n  # secret: x\n',
    'CONFIG_EMPTY_VALUE',
    'hookproof.yaml:1:6: hmac: is empty',
    'Give it a value, or remove the key.',
  ],
  'an unknown reporter': [
    'reporters: [human, jsno=x]\n',
    'CONFIG_VALUE',
    'hookproof.yaml:1:20: reporters: "jsno" is not a reporter; did you mean "json"?',
    'Choose from human, html, json, junit, ctrf, github, ndjson, badge.',
  ],
  // Secrets
  'a literal secret': [
    'hmac:\n  secret: hunter2\n',
    'CONFIG_LITERAL_SECRET',
    'hookproof.yaml:2:11: hmac.secret: a secret must not be written into this file',
    REFER,
  ],
  'a literal API key that is a number': [
    'api-key:\n  value: 1234\n',
    'CONFIG_LITERAL_SECRET',
    'hookproof.yaml:2:10: api-key.value: a secret must not be written into this file',
    REFER,
  ],
  'a reference with more around it': [
    `hmac:\n  secret: \${env:A}x\n`,
    'CONFIG_LITERAL_SECRET',
    'hookproof.yaml:2:11: hmac.secret: a secret must not be written into this file',
    REFER,
  ],
  'a shell variable': [
    'hmac:\n  secret: $SECRET\n',
    'CONFIG_LITERAL_SECRET',
    'hookproof.yaml:2:11: hmac.secret: a secret must not be written into this file',
    REFER,
  ],
  'a literal credential in a header': [
    'headers:\n  authorization: Bearer abc\n',
    'CONFIG_LITERAL_SECRET',
    'hookproof.yaml:2:18: headers.authorization: authorization carries credentials, which must be given by reference',
    REFER,
  ],
  'a broken reference in a header': [
    `headers:\n  X-A: a \${b}\n`,
    'CONFIG_VALUE',
    'hookproof.yaml:2:8: headers.X-A: the value of X-A contains an invalid reference',
    REFER,
  ],
  'a reference in braces without quotes': [
    `hmac: { secret: \${env:A} }\n`,
    'CONFIG_SYNTAX',
    'hookproof.yaml:1:18: a reference inside { } needs quotes',
    `Write "\${env:NAME}" with the quotes, or put each key on a line of its own.`,
  ],
  'a key file that is PEM text': [
    `tls:\n  client-key: "${BEGIN_PRIVATE_KEY}"\n  client-cert: x\n`,
    'CONFIG_INVALID',
    `the configuration has 2 problems:
  hookproof.yaml:3:16: tls.client-cert: the file x does not exist
    Give the path of a PEM or DER file.
  hookproof.yaml:2:15: tls.client-key: is PEM text, expected the path of a file
    Save it to a file and give its path, or put it into the environment variable.`,
    'Nothing was sent. All problems are listed, so that you can fix them in one pass.',
  ],
  // Not our YAML
  'an empty file': [
    '',
    'CONFIG_FILE_EMPTY',
    'hookproof.yaml:1:1: contains no settings',
    'Write at least url: https://…, or remove the file.',
  ],
  'only comments': [
    '# url: x\n',
    'CONFIG_FILE_EMPTY',
    'hookproof.yaml:1:1: contains no settings',
    'Write at least url: https://…, or remove the file.',
  ],
  'a tab': [
    'hmac:\n\theader: x\n',
    'CONFIG_SYNTAX',
    'hookproof.yaml:2:1: a tab is used for indentation',
    'Indent with spaces.',
  ],
  prose: ['Please call me.\n', 'CONFIG_VALUE', 'hookproof.yaml:1:1: contains no settings', PAIR],
  'a list': ['- url\n', 'CONFIG_VALUE', 'hookproof.yaml:1:1: contains no settings', PAIR],
  'JSON that is cut off': [
    '{ "url": "https://a.example/"',
    'CONFIG_SYNTAX',
    'hookproof.yaml:1:30: something is not closed',
    'Look for a missing quote, bracket or colon before this place.',
  ],
  'two colons': [
    'url: https: //a\n',
    'CONFIG_SYNTAX',
    'hookproof.yaml:1:6: the indentation is inconsistent, or the line has two colons',
    'Quote a value that contains ": ".',
  ],
  'an at sign': [
    'url: @a\n',
    'CONFIG_SYNTAX',
    'hookproof.yaml:1:6: a value begins with a character that YAML reserves',
    QUOTES,
  ],
  'an escape': [
    'url: "\\q"\n',
    'CONFIG_SYNTAX',
    'hookproof.yaml:1:7: there is an unknown escape sequence',
    'Put the value in single quotes.',
  ],
  'a tag': ['url: !secret a\n', 'CONFIG_SYNTAX', 'hookproof.yaml:1:6: a value begins with !', QUOTES],
  'an alias of nothing': ['url: *secret\n', 'CONFIG_SYNTAX', 'hookproof.yaml:1:6: a value begins with *', QUOTES],
  'a second document': [
    'url: https://a.example/\n---\nurl: x\n',
    'CONFIG_SYNTAX',
    'hookproof.yaml:2:1: a second document begins',
    'Remove the line --- before it.',
  ],
  'a key that is a list': ['? [a]\n: b\n', 'CONFIG_SYNTAX', 'hookproof.yaml:1:3: a key is not plain text', PAIR],
  'an alias bomb': [
    'a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c]\n',
    'CONFIG_SYNTAX',
    'hookproof.yaml:2:8: aliases expand to too much',
    'Write the settings out.',
  ],
  'deep nesting': [
    '['.repeat(50_000),
    'CONFIG_SYNTAX',
    'hookproof.yaml:1:1: is nested more than 20 levels deep',
    'Settings are at most four levels deep.',
  ],
  'deep nesting in blocks': [
    '- '.repeat(50_000),
    'CONFIG_SYNTAX',
    'hookproof.yaml:1:1: is nested more than 20 levels deep',
    'Settings are at most four levels deep.',
  ],
};

describe('hookproof.yaml is refused for', () => {
  it.each(Object.entries(REFUSED))('%s', async (_, [yaml, code, message, hint]) => {
    expect(await refusal({ yaml })).toEqual({ code, message, hint });
  });

  it('several things at once, in the order of the file', async () => {
    const yaml =
      'hmac:\n  heder: x\n  secret: literal\nstrict: maybe\nurl: https://a.example/\nurl: https://b.example/\nx: 1\n';
    expect((await refusal({ yaml })).message).toBe(`the configuration has 5 problems:
  hookproof.yaml:6:1: "url" appears twice
    Keep one of them.
  hookproof.yaml:2:3: unknown key "heder" in hmac; did you mean \`header\`?
    Rename it, or remove it.
  hookproof.yaml:3:11: hmac.secret: a secret must not be written into this file
    ${REFER}
  hookproof.yaml:4:9: strict: must be true or false
    Write true or false, without quotes.
  hookproof.yaml:7:1: unknown key "x"
    Known keys: ${KNOWN}.`);
  });
});

describe('hookproof.yaml is read', () => {
  it('with Windows line ends, a byte order mark, comments and an alias', async () => {
    const yaml = '\uFEFFurl: https://a.example/ # here\r\nsuites: &some [valid]\r\nscenarios: *some\r\n';
    const config = await load({ yaml, flags: { url: undefined } });
    expect([config.partner.url, config.run.suites, config.run.scenarios]).toEqual([
      'https://a.example/',
      ['valid'],
      ['valid'],
    ]);
    expect([config.sources.url, config.sources.scenarios]).toEqual(['hookproof.yaml:1:6', 'hookproof.yaml:2:16']);
  });

  it('as JSON too', async () => {
    const config = await load({ yaml: '{"url": "https://a.example/", "concurrency": 2}', flags: { url: undefined } });
    expect(config.run.concurrency).toBe(2);
  });

  it('with a seed as it is written', async () => {
    for (const seed of ['007', '0x10', '12345678901', 'abc']) {
      expect((await load({ yaml: `seed: ${seed}\n` })).run.seed).toBe(seed);
    }
  });
});

describe('the configuration file', () => {
  const url = 'https://a.example/';

  it('is not needed, and must be there when it is named', async () => {
    expect((await load({})).configFile).toBeNull();
    expect(await refusal({ configFile: './none.yaml' })).toEqual({
      code: 'CONFIG_FILE',
      message: '--config: the file ./none.yaml does not exist',
      hint: 'Check the path; `hookproof init` writes a file to start from.',
    });
  });

  it('that is named is read in place of hookproof.yaml, and stands in messages by that name', async () => {
    const given = { yaml: 'nonsense: 1\n', files: { 'other.yaml': 'url: https://other.example/\n' } };
    expect((await load({ ...given, configFile: 'other.yaml', flags: { url: undefined } })).partner.url).toBe(
      'https://other.example/',
    );
    expect((await refusal({ files: { 'o.yaml': 'x: 1\n' }, configFile: './o.yaml' })).message).toBe(
      './o.yaml:1:1: unknown key "x"',
    );
  });

  it('is advised on when it has the other extension', async () => {
    expect((await load({ files: { 'hookproof.yml': 'nonsense: 1\n' } })).advice).toContain(
      'hookproof.yml is ignored; rename it to hookproof.yaml, or name it with --config.',
    );
  });

  it('is refused when it is a directory, not text, or too large', async () => {
    const cwd = workspace({ 'hookproof.yaml/x': '' });
    await expect(loadConfig({ flags: { url }, env: {}, cwd })).rejects.toMatchObject({
      code: 'CONFIG_FILE',
      message: 'the file hookproof.yaml is a directory',
    });
    const notText = 'hookproof.yaml is not UTF-8 text';
    for (const bytes of [Buffer.from([0xff, 0xfe, 0x41, 0]), Buffer.from('url: x\0')]) {
      expect((await refusal({ files: { 'hookproof.yaml': bytes } })).message).toBe(notText);
    }
    const line = `url: ${url}\n`;
    const filled = (size: number) => line + '#'.repeat(size - line.length);
    expect((await refusal({ files: { 'hookproof.yaml': filled(1024 * 1024 + 1) } })).message).toBe(
      'the file hookproof.yaml is larger than 1024 KiB',
    );
    expect((await load({ yaml: filled(1024 * 1024) })).partner.url).toBe(url);
  });

  it.each([
    ['EACCES', { reason: 'is not readable by this user', missing: false }],
    ['EIO', { reason: 'cannot be read (EIO)', missing: false }],
    ['ENOTDIR', { reason: 'does not exist', missing: true }],
  ])('that fails with %s says so', (code, expected) => {
    expect(whyUnreadable(Object.assign(new Error('x'), { code }))).toEqual(expected);
  });
});
