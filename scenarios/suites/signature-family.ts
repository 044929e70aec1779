/** Helpers for the families of signature checks. */
import { quote } from '../../contract/shell-word.ts';
import { derived, joined, type SigningScheme, type SigningSubject } from '../changes/signing.ts';
import { refused } from '../expectations.ts';
import type { Change, Delivery, SignChange } from '../scenario.ts';

/**
 * Returns the fields of a family of signatures that a correct receiver rejects with 401, because the requirements of
 * the scheme about these subjects demand it.
 */
export function rejected({ feature, requirements }: SigningScheme, ...subjects: readonly SigningSubject[]) {
  return {
    suite: 'signature',
    verb: 'Rejects',
    level: 'must',
    requirements: subjects.map((subject) => requirements[subject]),
    needs: [feature],
    expect: refused,
  } as const;
}

/** Sends this value as the signature. `shell` is a command that derives the same value from the body. */
export function sending(make: SignChange['make'], shell?: string) {
  return (label: string): Change => ({ sign: { label, make, ...(shell !== undefined && { shell }) } });
}

/** Sends what `from` derives from the valid signature. `command` does the same in a shell. */
export function piped(
  { shell }: SigningScheme,
  from: (valid: string) => string,
  command: string,
  suits?: (valid: string) => boolean,
) {
  return (label: string): Change => ({ sign: derived(label, from, `${shell} | ${command}`, suits) });
}

/** Sends the valid signature with a text before and after it. */
export function enclosed({ shell }: SigningScheme, before: string, after: string) {
  const print = (text: string) => (text === '' ? [] : [`printf %s ${quote(text)}`]);
  const command = joined(...print(before), shell, ...print(after));
  return (label: string): Change => ({ sign: derived(label, (valid) => before + valid + after, command) });
}

/** Sends one delivery for each of these signatures, one after another. */
export function oneByOne(changes: readonly SignChange[], expect = refused): { flow: () => Delivery[][] } {
  return { flow: () => changes.map((sign) => [{ label: sign.label, change: { sign }, expect }]) };
}
