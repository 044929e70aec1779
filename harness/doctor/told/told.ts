/**
 * The settings that the doctor looks at itself: whoever calls a doctor may have a certificate, a key or a secret that `run` refuses
 * to start with. Flags win over the environment, and the environment over the configuration file, as in `run`.
 */
import type { ConfigFlags } from '../../config/index.ts';

/** A setting as it was given. */
export interface Told {
  readonly value: string;
  readonly layer: 'flag' | 'environment' | 'file';
  /** How texts call its place: `--client-cert`, `HOOKPROOF_CLIENT_CERT`, `hookproof.yaml: tls.client-cert`. */
  readonly where: string;
  /** The directory against which a relative path in it stands. */
  readonly base: string;
}

export type ToldName = 'url' | 'secret' | 'apiKey' | 'clientCert' | 'clientKey' | 'passphrase' | 'ca' | 'timeout';
export type AllTold = Readonly<Partial<Record<ToldName, Told>>>;

export interface Place {
  readonly name: ToldName;
  readonly flag: keyof ConfigFlags | null;
  readonly label: string;
  readonly variable: string | null;
  /** Keys in the configuration file. */
  readonly keys: readonly string[];
}

export const PLACES: readonly Place[] = [
  { name: 'url', flag: 'url', label: 'URL', variable: 'HOOKPROOF_URL', keys: ['url'] },
  {
    name: 'secret',
    flag: 'secretFile',
    label: '--secret-file',
    variable: 'HOOKPROOF_SECRET',
    keys: ['hmac', 'secret'],
  },
  {
    name: 'apiKey',
    flag: 'apiKeyFile',
    label: '--api-key-file',
    variable: 'HOOKPROOF_API_KEY',
    keys: ['api-key', 'value'],
  },
  {
    name: 'clientCert',
    flag: 'clientCert',
    label: '--client-cert',
    variable: 'HOOKPROOF_CLIENT_CERT',
    keys: ['tls', 'client-cert'],
  },
  {
    name: 'clientKey',
    flag: 'clientKey',
    label: '--client-key',
    variable: 'HOOKPROOF_CLIENT_KEY',
    keys: ['tls', 'client-key'],
  },
  {
    name: 'passphrase',
    flag: null,
    label: '',
    variable: 'HOOKPROOF_CLIENT_KEY_PASSPHRASE',
    keys: ['tls', 'passphrase'],
  },
  { name: 'ca', flag: 'ca', label: '--ca', variable: 'HOOKPROOF_CA', keys: ['tls', 'ca'] },
  { name: 'timeout', flag: 'timeout', label: '--timeout', variable: null, keys: ['timeout'] },
];

/** Where everything may be given. */
export interface Sources {
  readonly flags: ConfigFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly configFile?: string | undefined;
  /** What a variable stands for that took the place of a flag. */
  readonly piped: ReadonlyMap<string, string>;
}

/** The settings of the configuration file by name, with the directory of the file. */
export interface FileValues {
  readonly name: string;
  readonly base: string;
  readonly values: Readonly<Partial<Record<ToldName, string>>>;
}

/** Lays the layers over each other. An empty value stays: it is something to say. */
export function allTold({ flags, env, cwd, piped }: Sources, file: FileValues | null): AllTold {
  return Object.fromEntries(
    PLACES.flatMap(({ name, flag, label, variable, keys }): [ToldName, Told][] => {
      const flagged = flag === null ? undefined : flags[flag];
      if (typeof flagged === 'string') {
        return [[name, { value: flagged, layer: 'flag', where: label, base: cwd }]];
      }
      const set = variable === null ? undefined : env[variable];
      if (variable !== null && set !== undefined) {
        return [[name, { value: set, layer: 'environment', where: piped.get(variable) ?? variable, base: cwd }]];
      }
      const written = file?.values[name];
      if (file === null || written === undefined) return [];
      return [[name, { value: written, layer: 'file', where: `${file.name}: ${keys.join('.')}`, base: file.base }]];
    }),
  );
}
