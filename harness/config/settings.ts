/**
 * The settings of a run, one row each. Everything that lists settings is derived from this table: the flags and their
 * help, the environment variables, the schema of hookproof.yaml, the template that `init` writes, `config show`, the
 * reference page, and what `doctor` examines.
 *
 * Every `--help` loads this file, so it must not import zod or yaml.
 */
import { EFFECT_DECIMALS } from '../../contract/amounts.ts';
import { STACKS } from '../../contract/stacks.ts';
import type { ClientFixture, SampleKind } from '../../scenarios/index.ts';
import { EVIDENCE_LEVELS, PROFILES } from '../../scenarios/profiles.ts';
import { REPORTER_NAMES } from '../report/reporters.ts';

interface SettingRow {
  /** The key in hookproof.yaml, with groups joined by dots. */
  readonly path: string;
  /** The flag in commander's syntax: `--timeout <duration>`. */
  readonly flag?: string;
  readonly environment?: string;
  /**
   * The commands that accept the flag: those that send, those that run the catalogue, `certify`, or those that judge
   * without certifying.
   */
  readonly group: 'endpoint' | 'run' | 'certify' | 'judge';
  /** The meaning as a phrase, for the help of the flag, the schema and the template. */
  readonly description: string;
  /** The help text of the flag, if it differs from the description. For example, the flag of a secret names a file. */
  readonly flagHelp?: string;
  /** The text that the help, the schema and `config show` print if there is no value. */
  readonly unset?: string;
  /** The value in the template, which is written as YAML. */
  readonly example: unknown;
  /** A paragraph above the setting in the template. */
  readonly intro?: string;
  /** Whether the template sets the value; other settings are commented out. */
  readonly preset?: boolean;
  /** Whether the setting is only a flag, because it starts programs or differs between the jobs of one run. */
  readonly flagOnly?: boolean;
  /**
   * Who may set the value in `certify --partners`: the partner in its own file, the operator in the file of defaults,
   * or the operator with the flag. If absent, it cannot be set. Partners describe their endpoint; they must not decide
   * what their certificate is worth, where requests may go, or which files are read or written.
   */
  readonly setBy?: 'partner' | 'defaults' | 'flag';
}

type Typed =
  /** A URL or a header name of the partner. */
  | { readonly type: 'text'; readonly default?: string }
  /** A secret: read from a file, a variable or a reference, and never shown. `noun` is its name in messages. */
  | { readonly type: 'secret'; readonly noun: string }
  | { readonly type: 'headers' }
  /** Ids that the partner knows, or fields that its receiver needs, as `path=value`. */
  | { readonly type: 'ids'; readonly kind: SampleKind }
  | { readonly type: 'fields' }
  /** The name of a signing scheme; in the file, also a custom scheme. */
  | { readonly type: 'scheme' }
  /** Files or folders of bodies that the sender of a scheme sends. */
  | { readonly type: 'bodies' }
  /** A file of certificates or keys. */
  | { readonly type: 'pem' }
  // Settings of the run. `field` is the name in `RunSettings`; a default is written as the user would write it.
  | { readonly type: 'word'; readonly field: string; readonly noun: string; readonly words: readonly string[] }
  | { readonly type: 'number' | 'duration'; readonly field: string; readonly bounds: Bounds; readonly default?: string }
  /** A number of deliveries per second or minute. The value is the interval in milliseconds. */
  | { readonly type: 'rate'; readonly field: string; readonly bounds: Bounds }
  | { readonly type: 'switch' | 'words' | 'path' | 'paths' | 'command' | 'seed' | 'shard'; readonly field: string }
  | { readonly type: 'reporters' }
  /** The schedule of `hookproof operate`. */
  | {
      readonly type: 'schedule';
      readonly value: 'days' | 'count' | 'hours' | 'zone' | 'waits';
      readonly unset: string;
    };

/** The smallest and largest value; in milliseconds for durations. */
export type Bounds = readonly [min: number, max: number];
export type Setting = SettingRow & Typed;

const PEM = 'PEM or DER';

/** Describes the client certificate of each fixture. */
const FIXTURES: Readonly<Record<ClientFixture, string>> = {
  expired: 'that has expired',
  'not-yet-valid': 'that is not valid yet',
  'wrong-purpose': 'that is not meant for clients',
  revoked: 'that has been revoked',
  'other-subject': 'that is valid and issued to another subject',
};
export const FIXTURE_NAMES = Object.keys(FIXTURES) as readonly ClientFixture[];

/** The lists of ids, with what the ids in each identify. */
const SAMPLE_LISTS = [
  ['transactions', 'transaction', 'transactions', ['T-1001', 'T-1002']],
  ['customers', 'customer', 'customers', ['C-1']],
  ['accounts', 'account', 'accounts (customers in PAYMENT_METHOD notifications)', ['C-1']],
  ['payment-methods', 'payment-method', 'payment methods', ['P-1']],
  ['providers', 'provider', 'payment providers, from the operator', ['provider-1']],
] as const;

type SampleRow = SettingRow & { readonly type: 'ids'; readonly kind: SampleKind } & {
  readonly path: `samples.${(typeof SAMPLE_LISTS)[number][0]}`;
};

const SAMPLE_ROWS: readonly SampleRow[] = SAMPLE_LISTS.map(([key, kind, what, example]) => ({
  path: `samples.${key}`,
  type: 'ids',
  kind,
  group: 'endpoint',
  description: `ids of ${what} that the receiver knows`,
  example,
  ...(key === 'transactions' && {
    intro:
      'For a receiver that looks ids up and rejects unknown ones: ids that exist there. Checks that relate\n' +
      'several notifications need an id that no other check uses; with too few ids, they are inconclusive.',
  }),
}));

type FixtureRow = SettingRow &
  ({ readonly type: 'pem' } | { readonly type: 'secret'; readonly noun: string }) & {
    readonly path: `mtls.fixtures.${ClientFixture}.${'cert' | 'key' | 'passphrase'}`;
  };

function fixtureRows(name: ClientFixture): FixtureRow[] {
  const path = `mtls.fixtures.${name}` as const;
  const row = { group: 'endpoint', type: 'pem' } as const;
  return [
    {
      ...row,
      path: `${path}.cert`,
      description: `client certificate ${FIXTURES[name]}, ${PEM}`,
      example: `./${name}.pem`,
      ...(name === 'expired' && {
        intro:
          'Client certificates that only the CA of the client certificate can issue, for the checks that need them.\n' +
          'Without them, these checks are reported as not verified.',
      }),
    },
    {
      ...row,
      path: `${path}.key`,
      description: `private key of the client certificate, ${PEM}`,
      example: `./${name}.key`,
    },
    {
      ...row,
      path: `${path}.passphrase`,
      type: 'secret',
      noun: 'passphrase',
      description: 'passphrase of the private key',
      // One example is enough to show the option.
      example: name === 'expired' ? `\${env:EXPIRED_KEY_PASSPHRASE}` : undefined,
    },
  ];
}

export const SETTINGS = [
  {
    path: 'url',
    type: 'text',
    environment: 'HOOKPROOF_URL',
    group: 'endpoint',
    description: 'the endpoint that receives the notifications, https://host/path',
    example: 'https://partner.example/webhooks',
    intro: 'The endpoint that receives the notifications.',
    preset: true,
  },
  {
    path: 'hmac.secret',
    type: 'secret',
    noun: 'secret',
    flag: '--secret-file <file>',
    environment: 'HOOKPROOF_SECRET',
    group: 'endpoint',
    description: 'the HMAC secret; enables HMAC signatures',
    flagHelp: 'file with the HMAC secret, "-" for standard input; enables HMAC signatures',
    example: `\${env:WEBHOOK_SECRET}`,
    intro: 'The HMAC signature. Setting the secret enables it.',
    preset: true,
  },
  {
    path: 'hmac.next-secret',
    type: 'secret',
    noun: 'next secret',
    flag: '--next-secret-file <file>',
    environment: 'HOOKPROOF_NEXT_SECRET',
    group: 'run',
    description: 'the HMAC secret after the next rotation, for the suite rotation',
    flagHelp: 'file with the HMAC secret after the next rotation, for the suite rotation',
    example: `\${env:NEXT_WEBHOOK_SECRET}`,
  },
  {
    path: 'hmac.header',
    type: 'text',
    flag: '--signature-header <name>',
    environment: 'HOOKPROOF_SIGNATURE_HEADER',
    group: 'endpoint',
    description: 'name of the signature header',
    default: 'X-Service-Signature',
    example: 'X-Service-Signature',
  },
  {
    path: 'scheme',
    type: 'scheme',
    flag: '--scheme <name>',
    group: 'endpoint',
    // The sender belongs to the operator.
    setBy: 'defaults',
    description: 'the scheme in which the sender signs, or a group of settings that defines one (docs/schemes.md)',
    flagHelp: 'the scheme in which the sender signs, for example stripe or standard-webhooks',
    unset: 'service',
    example: 'stripe',
    intro: 'For the receiver of another service: how that service signs. `hookproof list --what schemes` lists them.',
  },
  {
    path: 'api-key.value',
    type: 'secret',
    noun: 'API key',
    flag: '--api-key-file <file>',
    environment: 'HOOKPROOF_API_KEY',
    group: 'endpoint',
    description: 'the API key; enables the API key',
    flagHelp: 'file with the API key, "-" for standard input; enables the API key',
    example: `\${file:./api-key.txt}`,
    intro: 'The API key. Setting the value enables it.',
  },
  {
    path: 'api-key.header',
    type: 'text',
    flag: '--api-key-header <name>',
    environment: 'HOOKPROOF_API_KEY_HEADER',
    group: 'endpoint',
    description: 'name of the API key header',
    default: 'X-API-Key',
    example: 'X-API-Key',
  },
  {
    path: 'headers',
    type: 'headers',
    flag: '--header <line>',
    group: 'endpoint',
    description: `custom headers on every delivery; a value may contain \${env:NAME} and \${file:PATH}`,
    flagHelp: "custom header on every delivery, 'Name: value'",
    example: { 'X-Tenant': 'acme', Authorization: `Bearer \${env:GATEWAY_TOKEN}` },
    intro: 'Custom headers on every delivery. Values may contain references.',
  },
  ...SAMPLE_ROWS,
  {
    path: 'samples.fields',
    type: 'fields',
    group: 'endpoint',
    description: 'fields that the receiver needs in every notification, each path=value',
    example: ['data.metadata.tenant=acme'],
  },
  {
    path: 'samples.deliveries',
    type: 'bodies',
    group: 'endpoint',
    // The sender belongs to the operator.
    setBy: 'defaults',
    description:
      'with a scheme: files or folders of bodies that the sender sends; NAME.headers has the headers of NAME',
    example: ['./deliveries'],
  },
  {
    path: 'tls.client-cert',
    type: 'pem',
    flag: '--client-cert <file>',
    environment: 'HOOKPROOF_CLIENT_CERT',
    group: 'endpoint',
    description: `client certificate, ${PEM}`,
    example: './client.pem',
    intro: `Mutual TLS (client-cert, client-key), and CAs to trust in addition to the system's (ca). ${PEM}.`,
  },
  {
    path: 'tls.client-key',
    type: 'pem',
    flag: '--client-key <file>',
    environment: 'HOOKPROOF_CLIENT_KEY',
    group: 'endpoint',
    description: `private key of the client certificate, ${PEM}`,
    example: './client.key',
  },
  {
    path: 'tls.passphrase',
    type: 'secret',
    noun: 'passphrase',
    environment: 'HOOKPROOF_CLIENT_KEY_PASSPHRASE',
    group: 'endpoint',
    description: 'passphrase of the private key',
    example: `\${env:CLIENT_KEY_PASSPHRASE}`,
  },
  {
    path: 'tls.ca',
    type: 'pem',
    flag: '--ca <file>',
    environment: 'HOOKPROOF_CA',
    group: 'endpoint',
    description: `CAs to trust in addition to the system's, ${PEM}`,
    example: './ca.pem',
  },
  ...FIXTURE_NAMES.flatMap(fixtureRows),
  {
    path: 'open',
    type: 'switch',
    field: 'open',
    flag: '--open',
    group: 'judge',
    description: 'the endpoint needs neither secret nor API key: do not check authentication',
    example: false,
  },
  {
    path: 'profile',
    type: 'word',
    field: 'profile',
    noun: 'a profile',
    words: PROFILES,
    flag: '--profile <name>',
    environment: 'HOOKPROOF_PROFILE',
    group: 'run',
    setBy: 'partner',
    description: 'profile whose features must all be configured',
    unset: 'none',
    example: 'staging',
    intro:
      'Which features must be configured: basic (HTTPS, API key), staging (HTTPS, HMAC), production (HTTPS, HMAC).\n' +
      'Without a profile, the features that are configured are checked.',
  },
  {
    path: 'revision',
    type: 'number',
    field: 'revision',
    bounds: [1, 9999],
    flag: '--revision <n>',
    group: 'run',
    setBy: 'defaults',
    description: 'with a profile: the revision of the set of checks to score against',
    unset: 'the newest',
    example: 2,
  },
  {
    path: 'effects.url',
    type: 'text',
    flag: '--effects <url>',
    environment: 'HOOKPROOF_EFFECTS_URL',
    group: 'run',
    setBy: 'partner',
    description: 'the effects window of the receiver, for the suite effects',
    unset: 'none',
    example: 'http://127.0.0.1:9101/effects',
    intro:
      'The effects window of a test environment, which says what the receiver did with each notification. The guide\n' +
      'describes it. It must not exist in production.',
  },
  {
    path: 'effects.token',
    type: 'secret',
    noun: 'token of the effects window',
    flag: '--effects-token-file <file>',
    environment: 'HOOKPROOF_EFFECTS_TOKEN',
    group: 'run',
    setBy: 'partner',
    description: 'the token of the effects window',
    flagHelp: 'file with the token of the effects window',
    example: `\${env:EFFECTS_TOKEN}`,
  },
  {
    path: 'effects.deadline',
    type: 'duration',
    field: 'effectsDeadlineMs',
    bounds: [100, 600_000],
    default: '10s',
    flag: '--effects-deadline <duration>',
    group: 'run',
    setBy: 'partner',
    description: 'how long the receiver may take to handle an accepted notification',
    example: '10s',
  },
  {
    path: 'effects.decimals',
    type: 'words',
    field: 'effectsDecimals',
    group: 'run',
    setBy: 'partner',
    description: 'assets that the receiver supports, each symbol=decimals, for the checks of amounts',
    unset: Object.entries(EFFECT_DECIMALS)
      .map((entry) => entry.join('='))
      .join(', '),
    example: ['BTC=8', 'ETH=18'],
  },
  {
    path: 'effects-command',
    type: 'command',
    field: 'effectsCommand',
    flag: '--effects-command <command>',
    group: 'run',
    description: 'a shell command that answers for the effects window',
    unset: 'none',
    example: './effects.sh',
    flagOnly: true,
  },
  {
    path: 'restart-command',
    type: 'command',
    field: 'restartCommand',
    flag: '--restart-command <command>',
    group: 'run',
    description: 'a shell command that kills the receiver and starts it again, for the checks across restarts',
    unset: 'none',
    example: './restart.sh',
    flagOnly: true,
  },
  {
    path: 'rotate-command',
    type: 'command',
    field: 'rotateCommand',
    flag: '--rotate-command <command>',
    group: 'run',
    description:
      'a shell command that has the receiver accept the secrets of $HOOKPROOF_ROTATION_STEP: old, both or new',
    unset: 'in a terminal, `run` and `certify` ask you to do it',
    example: './rotate.sh',
    flagOnly: true,
  },
  {
    path: 'command-env',
    type: 'words',
    field: 'commandVariables',
    flag: '--command-env <variable>',
    group: 'run',
    description: 'an environment variable to pass to commands; by default, only PATH, HOME and similar ones are passed',
    unset: 'none',
    example: ['DATABASE_URL'],
    flagOnly: true,
  },
  {
    path: 'log',
    type: 'paths',
    field: 'logs',
    flag: '--log <file>',
    group: 'run',
    description: 'a log of the receiver; it is read during the run and must not contain secrets',
    unset: 'none',
    example: ['./receiver.log'],
  },
  {
    path: 'suites',
    type: 'words',
    field: 'suites',
    flag: '--suite <name>',
    group: 'run',
    description: 'run only these suites',
    flagHelp: 'run only this suite',
    unset: 'all',
    example: ['valid', 'signature'],
    intro: 'Run only some checks; `hookproof list` lists all of them.',
  },
  {
    path: 'scenarios',
    type: 'words',
    field: 'scenarios',
    flag: '--scenario <id>',
    group: 'run',
    description: 'run only the checks with these ids',
    flagHelp: 'run only the check with this id',
    unset: 'all',
    example: ['signature/missing'],
  },
  {
    path: 'grep',
    type: 'words',
    field: 'greps',
    flag: '--grep <text>',
    group: 'run',
    description: 'run only checks whose id or title contains this text; * stands for any characters',
    unset: 'all',
    example: ['duplicate'],
  },
  {
    path: 'concurrency',
    type: 'number',
    field: 'concurrency',
    bounds: [1, 64],
    default: '8',
    flag: '--concurrency <n>',
    group: 'run',
    setBy: 'partner',
    description: 'deliveries in flight, 1 to 64; a value of 8 or more may grow up to eightfold for a slow endpoint',
    example: 8,
    intro: 'Pace and limits of the run.',
  },
  {
    path: 'timeout',
    type: 'duration',
    field: 'timeoutMs',
    bounds: [100, 600_000],
    default: '10s',
    flag: '--timeout <duration>',
    group: 'endpoint',
    description: 'time limit for one delivery: 500ms, 10s, 1m',
    example: '10s',
  },
  {
    path: 'recovery',
    type: 'duration',
    field: 'recoveryMs',
    bounds: [0, 600_000],
    default: '10s',
    flag: '--recovery <duration>',
    group: 'run',
    setBy: 'partner',
    description: 'how long to wait for a receiver that went down',
    example: '10s',
  },
  {
    path: 'max-rate',
    type: 'rate',
    field: 'intervalMs',
    bounds: [1, 3_600_000],
    flag: '--max-rate <rate>',
    environment: 'HOOKPROOF_MAX_RATE',
    group: 'run',
    setBy: 'defaults',
    description: 'maximum average rate of deliveries: 5/s, 100/m; simultaneous ones are still sent at once',
    unset: 'no limit',
    example: '100/m',
  },
  {
    path: 'wait',
    type: 'duration',
    field: 'waitMs',
    bounds: [0, 600_000],
    default: '0s',
    flag: '--wait <duration>',
    environment: 'HOOKPROOF_WAIT',
    group: 'run',
    setBy: 'defaults',
    description: 'how long to wait for an endpoint that is starting',
    example: '60s',
  },
  {
    path: 'max-time',
    type: 'duration',
    field: 'maxMs',
    bounds: [1_000, 86_400_000],
    flag: '--max-time <duration>',
    group: 'run',
    setBy: 'partner',
    description: 'end the run after this time',
    unset: 'depends on the number of checks',
    example: '30m',
  },
  {
    path: 'allow-private',
    type: 'words',
    field: 'allowPrivate',
    flag: '--allow-private <host>',
    group: 'certify',
    setBy: 'flag',
    description: 'hosts that may have a private address; only public addresses are allowed otherwise',
    flagHelp: 'a host that may have a loopback or private address; only public addresses are allowed otherwise',
    unset: 'none',
    example: ['staging.example'],
  },
  {
    path: 'seed',
    type: 'seed',
    field: 'seed',
    flag: '--seed <text>',
    group: 'run',
    setBy: 'defaults',
    description: 'repeat the values of an earlier run',
    unset: 'random',
    example: '1',
  },
  {
    path: 'strict',
    type: 'switch',
    field: 'strict',
    flag: '--strict',
    group: 'run',
    setBy: 'defaults',
    description: 'warnings fail the run',
    example: false,
  },
  {
    path: 'baseline',
    type: 'path',
    field: 'baseline',
    flag: '--baseline <file>',
    group: 'run',
    description: 'file of known failures that do not fail the run; create it with `hookproof baseline update`',
    unset: 'none',
    example: './known-failures.yaml',
  },
  {
    path: 'stack',
    type: 'word',
    field: 'stack',
    noun: 'a stack',
    words: STACKS,
    flag: '--stack <name>',
    group: 'run',
    setBy: 'partner',
    description: 'show fixes for this stack',
    unset: 'guessed from the answers',
    example: 'express',
  },
  {
    path: 'bail',
    type: 'switch',
    field: 'bail',
    flag: '--bail',
    group: 'run',
    description: 'stop after the first failure',
    example: false,
  },
  {
    path: 'evidence',
    type: 'switch',
    field: 'evidence',
    flag: '--evidence',
    group: 'run',
    setBy: 'defaults',
    description: 'also keep the requests and responses of passed checks',
    example: false,
  },
  {
    path: 'evidence-level',
    type: 'number',
    field: 'evidenceLevel',
    bounds: [0, EVIDENCE_LEVELS.length - 1],
    default: '0',
    flag: '--evidence-level <n>',
    group: 'certify',
    setBy: 'defaults',
    description:
      'evidence level that a certificate needs: 0 answers, 1 also effects, 2 also effects across restarts and the log',
    example: 1,
  },
  {
    path: 'operate.recheck-every',
    type: 'schedule',
    value: 'days',
    group: 'certify',
    setBy: 'defaults',
    description: 'how often `hookproof operate` runs each partner, 1d to 30d',
    unset: '1d',
    example: undefined,
  },
  {
    path: 'operate.certify-before',
    type: 'schedule',
    value: 'days',
    group: 'certify',
    setBy: 'defaults',
    description:
      'how long before the expiry of its certificate `hookproof operate` certifies a partner again, 1d to 30d',
    unset: '14d',
    example: undefined,
  },
  {
    path: 'operate.quiet-hours',
    type: 'schedule',
    value: 'hours',
    group: 'certify',
    setBy: 'defaults',
    description: 'time of day in which `hookproof operate` starts no run, such as `22:00-06:00`',
    unset: 'none',
    example: undefined,
  },
  {
    path: 'operate.time-zone',
    type: 'schedule',
    value: 'zone',
    group: 'certify',
    setBy: 'defaults',
    description: 'time zone of the quiet hours, such as `Europe/Berlin`',
    unset: 'UTC',
    example: undefined,
  },
  {
    path: 'operate.per-host',
    type: 'schedule',
    value: 'count',
    group: 'certify',
    setBy: 'defaults',
    description: 'partners of one host name that `hookproof operate` runs at the same time, 1 to 64',
    unset: '1',
    example: undefined,
  },
  {
    path: 'operate.retry-after',
    type: 'schedule',
    value: 'waits',
    group: 'certify',
    setBy: 'defaults',
    description: 'how long `hookproof operate` waits before each further attempt to reach a partner',
    unset: '1m, 5m, 30m',
    example: undefined,
  },
  {
    path: 'operate.notices.url',
    type: 'text',
    group: 'certify',
    setBy: 'partner',
    description:
      'URL to which `hookproof operate` sends notices; set it for a partner in its file, for the operator in the ' +
      'defaults',
    unset: 'none',
    example: undefined,
  },
  {
    path: 'operate.notices.secret',
    type: 'secret',
    noun: 'secret of the notices',
    group: 'certify',
    setBy: 'partner',
    description: 'the secret that notices are signed with',
    example: undefined,
  },
  {
    path: 'shard',
    type: 'shard',
    field: 'shard',
    flag: '--shard <i/n>',
    group: 'run',
    description: 'run the i-th of n parts',
    unset: 'none',
    example: '1/4',
    flagOnly: true,
  },
  {
    path: 'code',
    type: 'path',
    field: 'code',
    flag: '--code <file>',
    group: 'run',
    description: 'source file of the receiver, which SARIF reports name as the location of each finding',
    unset: 'none',
    example: 'src/webhook.ts',
  },
  {
    path: 'reporters',
    type: 'reporters',
    flag: '--reporter <name[=file]>',
    group: 'run',
    description: `reports, each name=file; name alone is standard output: ${REPORTER_NAMES.join(', ')}`,
    flagHelp: `report format: ${REPORTER_NAMES.join(', ')}; "-" is standard output`,
    example: ['human', 'json=run.json', 'junit=junit.xml'],
    intro: 'The reports.',
  },
  {
    path: 'output-dir',
    type: 'path',
    field: 'outputDir',
    flag: '-o, --output-dir <folder>',
    group: 'run',
    description: 'write run.json, junit.xml and report.html to this folder',
    unset: 'none',
    example: 'hookproof-run',
  },
] as const satisfies readonly Setting[];

type Row = (typeof SETTINGS)[number];
export type SettingPath = Row['path'];

const BY_PATH: ReadonlyMap<string, Setting> = new Map(SETTINGS.map((row) => [row.path, row]));

export function settingAt(path: SettingPath): Setting {
  const found = BY_PATH.get(path);
  if (found === undefined) throw new TypeError(`There is no setting ${path}`);
  return found;
}

/** Whether the partner's file or the file of defaults may set the value in `certify --partners`. */
export function isSetBy(by: 'partner' | 'defaults', { group, setBy }: Setting): boolean {
  return (group === 'endpoint' && setBy === undefined) || setBy === 'partner' || setBy === by;
}

type CamelCase<Text> = Text extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Text;
type NameOf<Flag> = Flag extends `${string}--${infer Rest}`
  ? CamelCase<Rest extends `${infer Name} ${string}` ? Name : Rest>
  : never;
type FlagValue<Type> = Type extends 'switch'
  ? boolean
  : Type extends 'words' | 'paths' | 'headers' | 'reporters'
    ? readonly string[]
    : string;

/** The command line flags as commander collects them. If a flag is not given, its value is absent or undefined. */
export type ConfigFlags = { readonly url?: string | undefined } & {
  readonly [One in Row as One extends { flag: string } ? NameOf<One['flag']> : never]?:
    | FlagValue<One['type']>
    | undefined;
};

/** Returns `--timeout` for `--timeout <duration>`. The URL has no flag, because it is an argument. */
export function flagOf({ path, flag }: Setting): string | undefined {
  return path === 'url' ? 'URL' : /--[a-z-]+/.exec(flag ?? '')?.[0];
}

/** Returns the key under which commander stores the flag's value; undefined without a flag. */
export function flagKeyOf(setting: Setting): keyof ConfigFlags | undefined {
  const name = flagOf(setting)?.toLowerCase().replace(/^--/, '');
  return name?.replace(/-[a-z]/g, (part) => part.slice(1).toUpperCase()) as keyof ConfigFlags | undefined;
}

type ValueOf<One> = One extends { type: 'switch' }
  ? boolean
  : One extends { type: 'words' | 'paths' }
    ? readonly string[]
    : One extends { type: 'word'; words: readonly (infer Word)[] }
      ? Word | null
      : One extends { type: 'number' | 'duration' | 'rate' }
        ? number | (One extends { default: string } ? never : null)
        : One extends { type: 'shard' }
          ? { readonly index: number; readonly of: number } | null
          : string | null;

/**
 * The settings of a run. Durations are in milliseconds, paths are absolute, and the index of a shard is counted from 1.
 * Null or an empty list means that the setting is not set.
 */
export type RunSettings = {
  readonly [One in Row as One extends { field: string } ? One['field'] : never]: ValueOf<One>;
};

/** Returns the default as `--help`, the schema and the template print it; undefined if there is none. */
export function defaultText(setting: Setting): string | undefined {
  return 'default' in setting && setting.default !== undefined ? setting.default : setting.unset;
}

/** Environment variables that other modules read. */
export const OTHER_VARIABLES = [
  'HOOKPROOF_CERTIFY_KEY',
  'HOOKPROOF_CERTIFY_KEY_PASSPHRASE',
  'HOOKPROOF_INBOX',
  'HOOKPROOF_TLS_KEY_PASSPHRASE',
];

/** The files written to an output directory. */
export const OUTPUT_FILES = { json: 'run.json', junit: 'junit.xml', html: 'report.html' } as const;

/** The configuration file that is read by default. */
export const CONFIG_FILE = 'hookproof.yaml';
