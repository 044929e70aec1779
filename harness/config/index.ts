/** The configuration of a run. For the command line; `jsonSchema` and `configTemplate` serve whoever writes the file. */
export {
  type ConfigFlags,
  PROFILES,
  type Profile,
  REPORTERS,
  type ReporterChoice,
  type ReporterName,
  type ResolvedConfig,
  type RunOptions,
  type ShownSetting,
} from './config.ts';
export { configTemplate } from './config-template.ts';
export { describeConfig } from './describe-config.ts';
export { durationOfFlag } from './duration-of-flag.ts';
export { jsonSchema } from './json-schema.ts';
export { type LoadOptions, loadConfig } from './load-config.ts';
export { loadReporters } from './load-reporters.ts';
export { nearestName } from './nearest-name.ts';
export { type Credential, type CredentialSource, readCredential } from './read-credential.ts';
export { readClientCa, readServerPair, type ServerPair } from './read-server-tls.ts';
export { BOUNDS, CONFIG_FILE, DEFAULTS, OUTPUT_FILES } from './settings.ts';
export { shardOfFlag } from './shard-of-flag.ts';
export { durationText } from './values.ts';
