/** What the checks of a credential share. */
import type { DoctorFinding } from '../findings/finding.ts';

export interface GivenCredential {
  readonly kind: 'secret' | 'api-key';
  readonly value: string;
  /** "The secret", "The API key". */
  readonly noun: string;
  /** As people count them: code points. */
  readonly characters: number;
}

/** What it says is the same whatever the value is, but for its length. */
export type CredentialCheck = (given: GivenCredential) => DoctorFinding | null;

export const codeFor = ({ kind }: GivenCredential, what: string) => `${kind}-${what}`;

export const COPY_AGAIN = 'Copy the value again from where it was agreed, and nothing around it.';
