/** What the matrix plays the catalogue against: a mutant, the right receiver, or a receiver that is right and different. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { FAULTS, type Fault } from '../../receiver/faults/index.ts';
import { CORRECT_RECEIVERS, type CorrectReceiver } from './correct/index.ts';

export type Subject =
  | { readonly kind: 'fault'; readonly name: string; readonly overTls: boolean; readonly fault: Fault }
  | { readonly kind: 'correct'; readonly name: string; readonly overTls: boolean; readonly receiver: CorrectReceiver }
  | { readonly kind: 'right'; readonly name: string; readonly overTls: boolean };

const RIGHT: readonly Subject[] = [
  { kind: 'right', name: 'none', overTls: false },
  { kind: 'right', name: 'none-over-tls', overTls: true },
];

/** Whether a mutant shows only over TLS. */
function needsTls({ area, needs }: Fault): boolean {
  return area === 'tls' || area === 'mtls' || needs?.includes('https') === true || needs?.includes('mtls') === true;
}

function subjectOfFault(fault: Fault): Subject {
  return { kind: 'fault', name: fault.name, overTls: needsTls(fault), fault };
}

function subjectOfCorrect(receiver: CorrectReceiver): Subject {
  return { kind: 'correct', name: `correct:${receiver.name}`, overTls: receiver.tls === true, receiver };
}

export const SUBJECTS: readonly Subject[] = [
  ...RIGHT,
  ...CORRECT_RECEIVERS.map(subjectOfCorrect),
  ...FAULTS.map(subjectOfFault),
];

/** Throws when there is no such subject. */
export function findSubject(name: string): Subject {
  const found = SUBJECTS.find((subject) => subject.name === name || subject.name === `correct:${name}`);
  if (found === undefined) throw new Error(`there is no mutant and no receiver ${name}`);
  return found;
}

function isOnPath(program: string): boolean {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The programs that a subject lacks on this machine. */
export function missingPrograms(subject: Subject): readonly string[] {
  return subject.kind === 'correct' ? (subject.receiver.needs ?? []).filter((program) => !isOnPath(program)) : [];
}
