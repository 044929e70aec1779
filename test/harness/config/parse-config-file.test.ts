import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../harness/config/index.ts';
import { whyUnreadable } from '../../../harness/config/read-file.ts';
import { BEGIN_PRIVATE_KEY } from '../../certs/material.ts';
import { load, refusal, workspace } from './workspace.ts';

const KNOWN =
  'url, hmac, scheme, api-key, headers, samples, tls, mtls, open, profile, revision, effects, log, suites, ' +
  'scenarios, grep, ' +
  'concurrency, timeout, recovery, max-rate, wait, max-time, allow-private, seed, strict, baseline, stack, ' +
  'bail, evidence, evidence-level, operate, code, reporters, output-dir';
const REFER = `Write \${env:NAME} for an environment variable, or \${file:PATH} for a file.`;
const QUOTES = 'Put the value in quotes.';
const RENAME = 'Rename it, or remove it.';
const PAIR = 'Write a setting as `key: value`.';

const LIST = 'Write [one, two], or one item per line after a dash; leave the key out for none.';
const INDENT = 'Indent them below it, one per line.';
const GIVE = 'Give it a value, or remove the key.';
const AT_LEAST = 'Write at least `url: https://…`, or remove the file.';
const ALL_KEYS = `Known keys: ${KNOWN}.`;

const SCHEME = 'docs/schemes.md has an example. `hookproof list --what schemes` lists the built-in ones.';

/** A scheme with one line that replaces the usual one. */
function scheme(line: string): string {
  const [key = ''] = line.split(':');
  const usual = [
    'name: own',
    'headers: { X-S: "{signature}" }',
    'signed: "{body}"',
    'algorithm: sha256',
    'encoding: hex',
  ];
  const others = usual.filter((one) => !one.startsWith(`${key}:`));
  // The line is always the sixth.
  const padding = Array.from({ length: 4 - others.length }, () => '# ');
  const lines = [...padding, ...others.slice(0, 4), line, ...others.slice(4)];
  return `scheme:\n${lines.map((one) => `  ${one}\n`).join('')}`;
}

/** The rejected files by error code: the YAML, the message after the file name, and the hint. */
const REFUSED: Record<string, readonly (readonly [yaml: string, message: string, hint: string])[]> = {
  CONFIG_UNKNOWN_KEY: [
    ['url: https://a.example/\nfrobnicate: 1\n', '2:1: unknown key "frobnicate"', ALL_KEYS],
    ['timeuot: 10s\n', '1:1: unknown key "timeuot"; did you mean `timeout`?', RENAME],
    ['hmac:\n  heder: X-Sig\n', '2:3: unknown key "heder" in hmac; did you mean `header`?', RENAME],
    ['signature-header: X-Sig\n', '1:1: unknown key "signature-header"; did you mean `hmac.header`?', RENAME],
    ['hmac:\n  client-cert: x\n', '2:3: unknown key "client-cert" in hmac; did you mean `tls.client-cert`?', RENAME],
    ['{ url: "https://a.example/", tls: { caa: x } }\n', '1:37: unknown key "caa" in tls; did you mean `ca`?', RENAME],
    ['__proto__: { url: x }\n', '1:1: unknown key "__proto__"', ALL_KEYS],
    ['kkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: 1\n', '1:1: unknown key', ALL_KEYS],
    [
      'hmac: { hunter2 }\n',
      '1:9: unknown key without a value in hmac',
      'Known keys in hmac: secret, next-secret, header.',
    ],
  ],
  CONFIG_SCHEME: [
    [
      'scheme:\n  headers: { X-S: "{signature}" }\n  signed: "{body}"\n  algorithm: sha256\n',
      '1:1: scheme.encoding: is missing',
      SCHEME,
    ],
    [scheme('algorithm: md5'), '6:14: scheme.algorithm: must be sha1, sha256, sha512 or ed25519', SCHEME],
    [
      scheme('signed: "{timestamp}.{body}"'),
      '6:11: scheme.signed: contains {timestamp}, which no header sends',
      SCHEME,
    ],
    [
      scheme('signed: "{nonce}{body}"'),
      '6:11: scheme.signed: must contain only {body}, {timestamp}, {id}, {url}',
      SCHEME,
    ],
    [scheme('signature: v1'), '6:14: scheme.signature: must contain {value} once', SCHEME],
    [
      scheme('accepts: [200, 5xx]'),
      '6:18: scheme.accepts.1: must be a status such as 200, or one of 2xx and 4xx',
      SCHEME,
    ],
    [scheme('tolerance-seconds: 300'), '6:22: scheme.tolerance-seconds: needs a header with {timestamp}', SCHEME],
    [
      scheme('headers: { X-A: "{signature}", X-B: "{signature}" }'),
      '6:12: scheme.headers: contain {signature} 2 times; exactly one header must contain it',
      SCHEME,
    ],
    [
      scheme('headers: { Host: "{signature}" }'),
      '6:20: scheme.headers.Host: is a header that is set for each request',
      SCHEME,
    ],
    [
      scheme('older-signatures: { X-A: { algorithm: md5 } }'),
      '6:41: scheme.older-signatures.X-A.algorithm: must be sha1, sha256 or sha512',
      SCHEME,
    ],
    [
      scheme('older-signatures: { X-A: { algorithm: sha1 }, x-a: { algorithm: sha1 } }'),
      '6:21: scheme.older-signatures: contain the name of another header',
      SCHEME,
    ],
    [scheme('name: stripe'), '6:9: scheme.name: is the name of a built-in scheme', SCHEME],
    [
      scheme('tolerance-seconds: true'),
      '6:22: scheme.tolerance-seconds: must be a number of seconds from 1 to 2592000',
      SCHEME,
    ],
    [scheme('headers: { X-A: "{signature}", x-a: "a" }'), '6:12: scheme.headers: contain a name twice', SCHEME],
    [
      scheme('headers: { X-A: "{id}{signature}" }'),
      '3:11: scheme.signed: lacks {id}, which a header sends: anyone could change it',
      SCHEME,
    ],
  ],
  CONFIG_EMPTY_VALUE: [
    ['hmac: { header }\n', '1:9: hmac.header: is empty', GIVE],
    ['hmac:\n  # secret: x\n', '1:6: hmac: is empty', GIVE],
  ],
  CONFIG_DUPLICATE_KEY: [
    ['url: https://a.example/\nurl: https://b.example/\n', '2:1: "url" appears twice', 'Keep one of them.'],
  ],
  CONFIG_VALUE: [
    ['url: 1\n', '1:6: url: "1" is not text', QUOTES],
    ['suites:\n  - valid\n  - 1\n', '3:5: suites.1: "1" is not text', QUOTES],
    ['headers:\n  X-Version: 1.10\n', '2:14: headers.X-Version: the value is not text', QUOTES],
    ['strict: yes\n', '1:9: strict: "yes" is not true or false', 'Write true or false, without quotes.'],
    ['concurrency: "8"\n', '1:14: concurrency: "8" is not a whole number', 'Write digits, without quotes.'],
    ['concurrency: 65\n', '1:14: concurrency: "65" is not a whole number from 1 to 64', 'Write digits only.'],
    [
      'timeout: 10\n',
      '1:10: timeout: "10" is not a duration with its unit',
      'Write a number and a unit, for example 500ms, 10s or 2m.',
    ],
    ['timeout: 11m\n', '1:10: timeout: "11m" is out of range', 'Choose a duration from 100ms to 10m.'],
    ['suites: valid\n', '1:9: suites: "valid" is not a list', LIST],
    ['suites: []\n', '1:9: suites: the list is empty', LIST],
    ['hmac: abc\n', '1:7: hmac: the value is not a group of settings', INDENT],
    ['headers: [a]\n', '1:10: headers: a list is not a group of settings', INDENT],
    [
      'seed: 1.5\n',
      '1:7: seed: "1.5" is not text or a whole number',
      'A seed is 1 to 64 letters, digits, or any of . : _ -',
    ],
    [
      'reporters: [human, jsno=x]\n',
      '1:20: reporters: "jsno" is not a reporter; did you mean "json"?',
      'Choose from human, html, json, junit, ctrf, sarif, github, ndjson, badge.',
    ],
    [`headers:\n  X-A: a \${b}\n`, '2:8: headers.X-A: the value of X-A contains an invalid reference', REFER],
    ['Please call me.\n', '1:1: contains no settings', PAIR],
    ['- url\n', '1:1: contains no settings', PAIR],
  ],
  CONFIG_LITERAL_SECRET: [
    ['hmac:\n  secret: hunter2\n', '2:11: hmac.secret: a secret must not be written into this file', REFER],
    ['api-key:\n  value: 1234\n', '2:10: api-key.value: a secret must not be written into this file', REFER],
    [`hmac:\n  secret: \${env:A}x\n`, '2:11: hmac.secret: a secret must not be written into this file', REFER],
    ['hmac:\n  secret: $SECRET\n', '2:11: hmac.secret: a secret must not be written into this file', REFER],
    [
      'headers:\n  authorization: Bearer abc\n',
      '2:18: headers.authorization: authorization carries credentials, which must be given by reference',
      REFER,
    ],
  ],
  CONFIG_SYNTAX: [
    [
      `hmac: { secret: \${env:A} }\n`,
      '1:18: a reference inside { } needs quotes',
      `Write "\${env:NAME}" with the quotes, or put each key on a separate line.`,
    ],
    ['hmac:\n\theader: x\n', '2:1: a tab is used for indentation', 'Indent with spaces.'],
    [
      '{ "url": "https://a.example/"',
      '1:30: something is not closed',
      'Look for a missing quote, bracket or colon before this place.',
    ],
    [
      'url: https: //a\n',
      '1:6: the indentation is inconsistent, or the line has two colons',
      'Quote a value that contains ": ".',
    ],
    ['url: @a\n', '1:6: a value begins with a character that YAML reserves', QUOTES],
    ['url: "\\q"\n', '1:7: there is an unknown escape sequence', 'Put the value in single quotes.'],
    ['url: !secret a\n', '1:6: a value begins with !', QUOTES],
    ['url: *secret\n', '1:6: a value begins with *', QUOTES],
    ['url: https://a.example/\n---\nurl: x\n', '2:1: a second document begins', 'Remove the line `---` before it.'],
    ['? [a]\n: b\n', '1:3: a key is not plain text', PAIR],
    [
      'a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c]\n',
      '2:8: the aliases expand to too much text',
      'Write the settings out.',
    ],
  ],
  CONFIG_FILE_EMPTY: [
    ['', '1:1: contains no settings', AT_LEAST],
    ['# url: x\n', '1:1: contains no settings', AT_LEAST],
  ],
};

describe('hookproof.yaml is refused for', () => {
  for (const [code, rows] of Object.entries(REFUSED)) {
    it.each(rows)(`${code}: %j`, async (yaml, message, hint) => {
      expect(await refusal({ yaml })).toEqual({ code, message: `hookproof.yaml:${message}`, hint });
    });
  }

  it.each(['['.repeat(50_000), '- '.repeat(50_000), '? - '.repeat(50_000)])(
    'nesting that is too deep',
    async (yaml) => {
      expect(await refusal({ yaml })).toEqual({
        code: 'CONFIG_SYNTAX',
        message: 'hookproof.yaml:1:1: is nested more than 20 levels deep',
        hint: 'Settings are at most four levels deep.',
      });
    },
  );

  it.each([
    [Array.from({ length: 20_000 }, (_, at) => `a${at}:\n`).join(''), '1:1: a group with thousands of keys begins'],
    [`url: &a x\nsuites: [${'*a, '.repeat(20_000)}]\n`, 'there are too many aliases'],
  ])('what takes a parser longer than its length', async (yaml, what) => {
    const { code, message } = await refusal({ yaml });
    expect([code, message.endsWith(what)]).toEqual(['CONFIG_SYNTAX', true]);
  });

  it('PEM text instead of the path of a key, next to other problems', async () => {
    const yaml = `tls:\n  client-key: "${BEGIN_PRIVATE_KEY}"\n  client-cert: x\n`;
    expect((await refusal({ yaml })).message).toBe(`the configuration has 2 problems:
  hookproof.yaml:2:15: tls.client-key: is PEM text, expected the path of a file
    Save it to a file and give its path, or put it into the environment variable.
  hookproof.yaml:3:16: tls.client-cert: the file x does not exist
    Give the path of a PEM or DER file.`);
  });

  it('one error and still reads the rest, so that all problems are listed', async () => {
    const yaml = `hmac:\n  heder: x\n  secret: \${env:NOT_SET}\ntimeout: 11m\n`;
    const { message } = await refusal({ yaml });
    expect(message.match(/hookproof.yaml:\d+:\d+/g)).toEqual(
      ['2:3', '3:11', '4:10'].map((at) => `hookproof.yaml:${at}`),
    );
  });

  it('several errors at once, in the order of the file', async () => {
    const yaml =
      'hmac:\n  heder: x\n  secret: literal\nstrict: maybe\nurl: https://a.example/\nurl: https://b.example/\nx: 1\n';
    expect((await refusal({ yaml })).message).toBe(`the configuration has 5 problems:
  hookproof.yaml:2:3: unknown key "heder" in hmac; did you mean \`header\`?
    Rename it, or remove it.
  hookproof.yaml:3:11: hmac.secret: a secret must not be written into this file
    ${REFER}
  hookproof.yaml:4:9: strict: "maybe" is not true or false
    Write true or false, without quotes.
  hookproof.yaml:6:1: "url" appears twice
    Keep one of them.
  hookproof.yaml:7:1: unknown key "x"
    Known keys: ${KNOWN}.`);
  });
});

describe('hookproof.yaml is read', () => {
  it('with Windows line ends, a byte order mark, comments and an alias', async () => {
    const yaml = '\uFEFFurl: https://a.example/ # here\r\nsuites: &some [valid]\r\ngrep: *some\r\n';
    const config = await load({ yaml, flags: { url: undefined } });
    expect([config.partner.url, config.run.suites, config.run.greps]).toEqual([
      'https://a.example/',
      ['valid'],
      ['valid'],
    ]);
    expect([config.sources.url, config.sources.grep]).toEqual(['hookproof.yaml:1:6', 'hookproof.yaml:2:16']);
  });

  it('as JSON too', async () => {
    const config = await load({ yaml: '{"url": "https://a.example/", "concurrency": 2}', flags: { url: undefined } });
    expect(config.run.concurrency).toBe(2);
  });

  it('with an unchanged seed', async () => {
    for (const seed of ['007', '0x10', '12345678901', 'abc']) {
      expect((await load({ yaml: `seed: ${seed}\n` })).run.seed).toBe(seed);
    }
  });
});

describe('the configuration file', () => {
  const url = 'https://a.example/';

  it('is optional, and must exist when it is named', async () => {
    expect((await load({})).configFile).toBeNull();
    expect(await refusal({ configFile: './none.yaml' })).toEqual({
      code: 'CONFIG_FILE',
      message: '--config: the file ./none.yaml does not exist',
      hint: 'Check the path; `hookproof init` writes a file to start from.',
    });
  });

  it('that is named is read instead of hookproof.yaml, and messages use that name', async () => {
    const given = { yaml: 'nonsense: 1\n', files: { 'other.yaml': 'url: https://other.example/\n' } };
    expect((await load({ ...given, configFile: 'other.yaml', flags: { url: undefined } })).partner.url).toBe(
      'https://other.example/',
    );
    expect((await refusal({ files: { 'o.yaml': 'x: 1\n' }, configFile: './o.yaml' })).message).toBe(
      './o.yaml:1:1: unknown key "x"',
    );
  });

  it('causes an advice when it has the other extension', async () => {
    expect((await load({ files: { 'hookproof.yml': 'nonsense: 1\n' } })).advice).toContain(
      'hookproof.yml is ignored; rename it to hookproof.yaml, or name it with `--config`.',
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
      'the file hookproof.yaml is larger than 1 MiB',
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
