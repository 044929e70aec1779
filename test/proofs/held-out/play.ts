/** Plays the catalogue against a bare receiver. */
import { randomBytes } from 'node:crypto';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { type RunOptions, run } from '../../../harness/run/index.ts';
import { receiverOf, subjectOf } from './subjects.ts';

export interface HeldOutRun {
  readonly name: string;
  /** The number of red scenarios. */
  readonly red: number;
  /** The causes in the report, in order, each with all its names. */
  readonly diagnosed: readonly (readonly string[])[];
  /** The mistake of the first cause. Null if the cause is not known. */
  readonly mistake: string | null;
}

export function namesIn({ diagnosis }: Pick<ResultDocument, 'diagnosis'>): Pick<HeldOutRun, 'diagnosed' | 'mistake'> {
  return { diagnosed: diagnosis.map(({ fault, alike }) => [fault, ...alike]), mistake: diagnosis[0]?.mistake ?? null };
}

/** Time limits, which do not exceed those of the matrix. */
const LIMITS = { timeoutMs: 2000, recoveryMs: 2000 };

export async function playHeldOut(name: string, limits: RunOptions['limits'] = LIMITS): Promise<HeldOutRun> {
  const credentials = { secret: randomBytes(32).toString('base64'), apiKey: randomBytes(24).toString('base64url') };
  const receiver = receiverOf(subjectOf(name), credentials);
  const url = await receiver.start();
  try {
    const { secret, apiKey } = credentials;
    const document = await run({ partner: { url, signing: { secret }, apiKey: { value: apiKey } }, limits });
    const red = document.results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn').length;
    return { name, red, ...namesIn(document) };
  } finally {
    receiver.stop();
  }
}
