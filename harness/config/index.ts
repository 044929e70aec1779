/** The configuration of a run, for the command line. */
export { PROFILES, type Profile } from '../../scenarios/profiles.ts';
export { configTemplate, SCHEMA_FILE } from './config-template.ts';
export type { Given, Input } from './given.ts';
export {
  type CollectedConfig,
  collectConfig,
  describeConfig,
  type LoadOptions,
  loadConfig,
  loadReporters,
  type ResolvedConfig,
} from './load-config.ts';
export { loadSchedule, type Schedule } from './load-schedule.ts';
export { type Advice, type Problem, throwIfAny } from './problems.ts';
export type { NoticeDestination } from './resolve-notices.ts';
export { type Credential, type CredentialSource, readCredential, variablePrefix } from './secrets.ts';
export { CONFIG_FILE, type ConfigFlags, OUTPUT_FILES, SETTINGS, type SettingPath } from './settings.ts';
export { readClientCa, readServerPair, type ServerPair, type TlsMaterial } from './tls-material.ts';
export { daysOfFlag, durationOfFlag, durationText, jsonOr, numberOfFlag, shardOfFlag } from './values.ts';

/** Returns the JSON Schema of hookproof.yaml for editors. Loads zod only when called. */
export async function jsonSchema(): Promise<Record<string, unknown>> {
  return (await import('./file-schema.ts')).fileJsonSchema();
}
