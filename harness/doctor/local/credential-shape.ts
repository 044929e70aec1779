/**
 * What a secret or an API key looks like, without any of it in the answer. Pure: the texts are the same whatever the value is, but
 * for its length. Specification: Authentication.
 */
import type { FactsOf } from '../doctor-document.ts';
import type { DoctorFinding } from '../findings/finding.ts';
import { CHARACTER_CHECKS } from './character-checks.ts';
import { CONTENT_CHECKS } from './content-checks.ts';
import type { GivenCredential } from './credential-check.ts';
import { encodingOf } from './encoding.ts';

export interface CredentialShape {
  readonly facts: Omit<FactsOf<'secret'>, 'from'>;
  readonly findings: readonly DoctorFinding[];
}

/** The shape of a value that is not empty. */
export function credentialShape(kind: GivenCredential['kind'], value: string): CredentialShape {
  const given: GivenCredential = {
    kind,
    value,
    noun: kind === 'secret' ? 'The secret' : 'The API key',
    characters: [...value].length,
  };
  const encoding = encodingOf(value);
  return {
    facts: {
      characters: given.characters,
      bytes: Buffer.byteLength(value),
      looksLike: encoding === null ? [] : [...encoding.names],
      decodedBytes: encoding?.decodedBytes ?? null,
    },
    findings: [...CONTENT_CHECKS, ...CHARACTER_CHECKS].flatMap((check) => check(given) ?? []),
  };
}
