/** The table of settings: the key in the configuration file, the flag and the environment variable of each. */
import { FIXTURE_KEYS, FIXTURE_NAMES } from './client-fixtures.ts';
import type { ConfigFlags } from './config.ts';

export interface Setting {
  /** The key in the configuration file; `shard` is the one setting that is not in the file. */
  readonly path: string;
  readonly flag?: keyof ConfigFlags;
  /** The flag as the user writes it. */
  readonly label?: string;
  readonly environment?: string;
}

export const SETTINGS = [
  { path: 'url', flag: 'url', label: 'URL', environment: 'HOOKPROOF_URL' },
  { path: 'hmac.secret', flag: 'secretFile', label: '--secret-file', environment: 'HOOKPROOF_SECRET' },
  {
    path: 'hmac.header',
    flag: 'signatureHeader',
    label: '--signature-header',
    environment: 'HOOKPROOF_SIGNATURE_HEADER',
  },
  { path: 'api-key.value', flag: 'apiKeyFile', label: '--api-key-file', environment: 'HOOKPROOF_API_KEY' },
  { path: 'api-key.header', flag: 'apiKeyHeader', label: '--api-key-header', environment: 'HOOKPROOF_API_KEY_HEADER' },
  { path: 'headers', flag: 'header', label: '--header' },
  { path: 'tls.client-cert', flag: 'clientCert', label: '--client-cert', environment: 'HOOKPROOF_CLIENT_CERT' },
  { path: 'tls.client-key', flag: 'clientKey', label: '--client-key', environment: 'HOOKPROOF_CLIENT_KEY' },
  { path: 'tls.passphrase', environment: 'HOOKPROOF_CLIENT_KEY_PASSPHRASE' },
  { path: 'tls.ca', flag: 'ca', label: '--ca', environment: 'HOOKPROOF_CA' },
  ...FIXTURE_NAMES.flatMap((name) => FIXTURE_KEYS.map((key) => ({ path: `mtls.fixtures.${name}.${key}` as const }))),
  { path: 'profile', flag: 'profile', label: '--profile', environment: 'HOOKPROOF_PROFILE' },
  { path: 'revision', flag: 'revision', label: '--revision' },
  { path: 'suites', flag: 'suite', label: '--suite' },
  { path: 'scenarios', flag: 'scenario', label: '--scenario' },
  { path: 'grep', flag: 'grep', label: '--grep' },
  { path: 'concurrency', flag: 'concurrency', label: '--concurrency' },
  { path: 'timeout', flag: 'timeout', label: '--timeout' },
  { path: 'recovery', flag: 'recovery', label: '--recovery' },
  { path: 'max-time', flag: 'maxTime', label: '--max-time' },
  { path: 'allow-private', flag: 'allowPrivate', label: '--allow-private' },
  { path: 'seed', flag: 'seed', label: '--seed' },
  { path: 'strict', flag: 'strict', label: '--strict' },
  { path: 'baseline', flag: 'baseline', label: '--baseline' },
  { path: 'stack', flag: 'stack', label: '--stack' },
  { path: 'bail', flag: 'bail', label: '--bail' },
  { path: 'evidence', flag: 'evidence', label: '--evidence' },
  { path: 'shard', flag: 'shard', label: '--shard' },
  { path: 'reporters', flag: 'reporter', label: '--reporter' },
  { path: 'output-dir', flag: 'outputDir', label: '--output-dir' },
] as const satisfies readonly Setting[];

export type SettingPath = (typeof SETTINGS)[number]['path'];

/** Smallest and largest allowed value; durations in milliseconds. */
export const BOUNDS = {
  concurrency: [1, 64],
  timeout: [100, 600_000],
  recovery: [0, 600_000],
  revision: [1, 9999],
  maxTime: [1_000, 86_400_000],
} as const;

export const DEFAULTS = { concurrency: 8, timeoutMs: 10_000, recoveryMs: 10_000 } as const;

/** The files that an output directory gets. */
export const OUTPUT_FILES = { json: 'run.json', junit: 'junit.xml', html: 'report.html' } as const;

/** The largest secret, the largest file of certificates (a whole trust store fits) or key, and the largest configuration file, in bytes. */
export const MAX_SECRET_BYTES = 64 * 1024;
export const MAX_PEM_BYTES = 1024 * 1024;
export const MAX_CONFIG_BYTES = 1024 * 1024;

/** The configuration file that is read without being named. */
export const CONFIG_FILE = 'hookproof.yaml';
