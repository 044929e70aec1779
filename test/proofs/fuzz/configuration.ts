/** Input of operators and partners: configuration files, flags, variables, baselines, arguments on the command line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { HookproofError } from '../../../contract/index.ts';
import { explain } from '../../../harness/cli/commands/explain.ts';
import { didYouMean } from '../../../harness/cli/did-you-mean.ts';
import { moment } from '../../../harness/cli/inbox/entry-filter.ts';
import { setPath } from '../../../harness/cli/set-fields.ts';
import { parseBaseline, renderBaseline } from '../../../harness/config/baseline-file.ts';
import { configTemplate } from '../../../harness/config/config-template.ts';
import {
  collectConfig,
  describeConfig,
  durationOfFlag,
  loadConfig,
  shardOfFlag,
} from '../../../harness/config/index.ts';
import { SETTINGS } from '../../../harness/config/settings.ts';
import { anyCharacter } from '../../setup/any-character.ts';
import { edited, editedJson, type FuzzTarget, fuzzTarget, must, orRefused, settled } from './target.ts';

/** Texts with a special meaning in YAML. */
const YAML_WORDS = [
  '\n',
  '\r',
  '\t',
  '\0',
  '  ',
  ': ',
  '- ',
  '? ',
  '? - ',
  '[',
  '{',
  ']',
  '}',
  ',',
  '"',
  "'",
  '|\n',
  '>-\n',
  '#',
  '---\n',
  '...\n',
  '%YAML 9.9\n---\n',
  '!!js/function x',
  '!!binary aGk=',
  '!!set {a, b}',
  '!<tag:a>',
  '&a ',
  '*a',
  '<<: *a\n',
  'a: &a [*a, *a]\n',
  '__proto__: ',
  'constructor: {prototype: {x: 1}}\n',
  '0x10',
  '1_000',
  '.inf',
  '2001-01-01',
  'null',
  '~',
  `\${env:X}`,
  `\${file:secret.txt}`,
  `\${`,
  '\ufeff',
  '\u2028',
  '\x85',
];

const KEYS = SETTINGS.map(({ path }) => path);
const FLAG_WORDS = ['1s', '-1', '0', '1/0', '', 'json=-', 'x', `\${env:X}`, 'X-A: b', '__proto__', 'true', '[', '\0'];

const groups = {
  url: 'https://partner.example/hooks',
  hmac: { secret: `\${file:secret.txt}`, header: 'X-Signature' },
  'api-key': { value: `\${env:KEY}` },
  headers: { 'X-Tenant': '7' },
  tls: { ca: 'secret.txt', 'client-cert': 'secret.txt', 'client-key': 'secret.txt' },
  mtls: { fixtures: { expired: { cert: 'secret.txt', key: 'secret.txt' } } },
  samples: { fields: { 'data.userId': 'x' } },
  suites: ['valid'],
  grep: ['a|b'],
  timeout: '5s',
  concurrency: 4,
  reporters: ['human', 'json=run.json'],
};

const text = fc.oneof(
  fc.constantFrom(
    configTemplate('https://partner.example/hooks').replaceAll(/^( *)# (?=(?!yaml-language-server)[\w-]+:|- )/gm, '$1'),
    configTemplate(),
    stringify(groups),
    `base: &a {x: &b [1, *a]}\nurl: *b\n`,
    'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\ne: [*d, *d, *d, *d]\n',
  ),
  editedJson(fc.constant(groups)).map((value) => stringify(value) ?? ''),
  editedJson(fc.constant(groups)).map((value) => JSON.stringify(value) ?? ''),
  fc.string({ unit: anyCharacter, maxLength: 60 }),
);

const flags = fc.dictionary(
  fc.constantFrom('timeout', 'profile', 'suite', 'header', 'seed', 'shard', 'reporter', 'secretFile', 'ca', 'grep'),
  fc.oneof(fc.constantFrom(...FLAG_WORDS), fc.string({ unit: anyCharacter, maxLength: 12 })),
  { maxKeys: 2 },
);
const LISTS: readonly string[] = ['suite', 'header', 'reporter', 'grep'];

const FILE = 'fuzz.yaml';

const config = fuzzTarget(
  {
    name: 'configuration',
    shows: 'hookproof.yaml, flags and variables: problems that name the line or the key, never another error',
    shortRuns: 60,
  },
  () => {
    const cwd = mkdtempSync(join(tmpdir(), 'hookproof-fuzz-'));
    writeFileSync(join(cwd, 'secret.txt'), 'a secret of 32 characters or more\n');
    return {
      input: fc.record({
        bytes: edited(
          text.map((given) => Buffer.from(given)),
          [...YAML_WORDS, ...KEYS],
        ),
        flags: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: flags }),
        env: fc.oneof(
          { weight: 3, arbitrary: fc.constant({}) },
          {
            weight: 1,
            arbitrary: fc.dictionary(
              fc.constantFrom('KEY', 'X', 'HOOKPROOF_URL', 'HOOKPROOF_TIMEOUT', 'HOOKPROOF_SECRET', 'HOOKPROOF_X'),
              fc.constantFrom(...FLAG_WORDS),
            ),
          },
        ),
      }),
      async check({ bytes, flags: given, env }) {
        writeFileSync(join(cwd, FILE), bytes);
        const all = Object.entries(given).map(([key, value]) => [key, LISTS.includes(key) ? [value] : value]);
        const options = { flags: Object.fromEntries(all), env, cwd, configFile: FILE };
        const { problems } = await collectConfig(options);
        for (const { path, message, hint } of problems) {
          const isPlaced = message.startsWith(`${FILE}:`) || message.includes(FILE) || (path !== null && path !== '');
          must(isPlaced || /^(?:--|HOOKPROOF_|no URL)/.test(message), `a problem without a place: ${message}`);
          must(hint !== '', `a problem without a hint: ${message}`);
        }
        const loaded = await settled(loadConfig(options));
        must(loaded instanceof HookproofError === problems.length > 0, 'problems, and a configuration all the same');
        if (!(loaded instanceof HookproofError)) describeConfig(loaded);
      },
      stop: () => rmSync(cwd, { recursive: true, force: true }),
    };
  },
);

const ENTRY = { scenario: 'signature/missing', reason: 'The gateway.', owner: 'payments', expires: '2099-12-31' };

const baseline = fuzzTarget(
  {
    name: 'baseline',
    shows: 'the file of known failures: entries, or BASELINE_INVALID with every problem',
    shortRuns: 200,
  },
  () => ({
    input: edited(
      fc
        .oneof(
          fc.constant(renderBaseline([ENTRY, { ...ENTRY, scenario: 'valid/plain' }], 'a.yaml')),
          editedJson(fc.constant({ version: 1, failures: [ENTRY] })).map((value) => JSON.stringify(value) ?? ''),
          fc.string({ unit: anyCharacter, maxLength: 40 }),
        )
        .map((given) => Buffer.from(given)),
      YAML_WORDS,
    ),
    check(bytes) {
      orRefused(
        () => parseBaseline(bytes.toString('utf8'), 'known.yaml'),
        (error) =>
          error instanceof HookproofError && error.code === 'BASELINE_INVALID' && /known\.yaml/.test(error.message),
      );
    },
  }),
);

const words = fuzzTarget(
  {
    name: 'words',
    shows: 'ids, assignments, times and durations on the command line: a value, or a usage error',
    shortRuns: 300,
  },
  () => ({
    input: edited(
      fc
        .constantFrom('signature/missing', 'data.metadata.orderStatus=PENDING', '10s', '1/4', '2026-01-31T12:00Z')
        .map(Buffer.from),
      ['.', '=', '/', '__proto__', 'constructor', 'toString', '[', '{"a":', '9', '-', ':', ' ', '\0', '\u202e', 'Ⅷ'],
    ),
    check(bytes) {
      const word = bytes.toString('utf8');
      explain(word);
      didYouMean(word, KEYS);
      const set = orRefused(() => setPath({}, word));
      must(set === undefined || Object.getPrototypeOf(set) === Object.prototype, 'an assignment changed a prototype');
      const limits = [1, 1000] as const;
      const ms = orRefused(() => durationOfFlag('--timeout', word, limits));
      must(ms === undefined || (ms >= limits[0] && ms <= limits[1]), `a duration of ${ms}`);
      const shard = orRefused(() => shardOfFlag(word));
      must(shard === undefined || (shard.index >= 1 && shard.index <= shard.of), `a shard ${JSON.stringify(shard)}`);
      const time = orRefused(() => moment(word, '--since', new Date(0)));
      must(time === undefined || !Number.isNaN(time.getTime()), 'a time that is none');
    },
  }),
);

export const CONFIGURATION_TARGETS: readonly FuzzTarget[] = [config, baseline, words];
