/** The sections of the signature secret and of the API key. */
import type { DoctorFinding, DoctorSection } from '../doctor-document.ts';
import { problem } from '../findings/finding.ts';
import { looked, skipped } from '../sections.ts';
import type { AllTold, Sources } from '../told/told.ts';
import type { GivenCredential } from './credential-check.ts';
import { credentialShape } from './credential-shape.ts';
import { credentialOf } from './read-credential.ts';

const WORDS = {
  secret: { noun: 'signature secret', told: 'secret' },
  'api-key': { noun: 'API key', told: 'apiKey' },
} as const;

interface Examined {
  readonly section: DoctorSection;
  /** For comparison and redaction alone. */
  readonly value: string | undefined;
}

export interface Credentials {
  readonly sections: readonly DoctorSection[];
  /** The value with which deliveries are signed. */
  readonly signingSecret: string | undefined;
  /** Values, for redaction. */
  readonly secrets: readonly string[];
}

/** Both, whether they are configured or not. */
export async function examineCredentials(told: AllTold, env: Sources['env']): Promise<Credentials> {
  const apiKey = await examine('api-key', told, env, []);
  const secret = await examine('secret', told, env, [apiKey.value?.trim()]);
  return {
    sections: [secret.section, apiKey.section],
    signingSecret: secret.value,
    secrets: [secret.value, apiKey.value].filter((value) => value !== undefined),
  };
}

async function examine(
  kind: GivenCredential['kind'],
  told: AllTold,
  env: Sources['env'],
  others: readonly (string | undefined)[],
): Promise<Examined> {
  const { noun, told: name } = WORDS[kind];
  const given = told[name];
  if (given === undefined) return { section: skipped(kind, 'none is configured'), value: undefined };
  const { value, findings } = await credentialOf(given, { noun, prefix: kind, env });
  if (value === undefined) return { section: looked(kind, null, findings), value };
  const shape = credentialShape(kind, value);
  const same = others.includes(value.trim()) ? [sameValue()] : [];
  const facts = { from: given.where, ...shape.facts };
  return { section: looked(kind, facts, [...same, ...findings, ...shape.findings]), value };
}

/** One value in both places protects nothing. */
function sameValue(): DoctorFinding {
  return problem(
    'secret-equals-api-key',
    'The signature secret and the API key are the same value. The key travels with every delivery, and whoever sees it can sign.',
    'Make a secret of its own: openssl rand -base64 32',
  );
}
