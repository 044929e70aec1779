/** Plays the catalogue against a bare receiver. */
import { randomBytes } from 'node:crypto';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { type RunOptions, run } from '../../../harness/run/index.ts';
import { receiverOf, subjectOf } from './subjects.ts';

export interface HeldOutRun {
  readonly name: string;
  /** The number of red scenarios. */
  readonly red: number;
  /** The faults that the report names, in their order, each with all its names. Lists of candidates are `one-of`. */
  readonly diagnosed: readonly (readonly string[])[];
  /** What the report says first. */
  readonly main: MainDiagnosis;
}

/** The first diagnosis of a report. */
export interface MainDiagnosis {
  /** Null for what was observed, which is not inferred, and when there is no diagnosis. */
  readonly posterior: number | null;
  /** Empty when a fault is named. */
  readonly candidates: readonly string[];
}

export function mainOf({ diagnosis: [first] }: Pick<ResultDocument, 'diagnosis'>): MainDiagnosis {
  return { posterior: first?.posterior ?? null, candidates: first?.candidates?.map(({ fault }) => fault) ?? [] };
}

/** Not more than the matrix waits. */
const LIMITS = { timeoutMs: 2000, recoveryMs: 2000 };

export async function playHeldOut(name: string, limits: RunOptions['limits'] = LIMITS): Promise<HeldOutRun> {
  const credentials = { secret: randomBytes(32).toString('base64'), apiKey: randomBytes(24).toString('base64url') };
  const receiver = receiverOf(subjectOf(name), credentials);
  const url = await receiver.start();
  try {
    const { secret, apiKey } = credentials;
    const document = await run({ partner: { url, signing: { secret }, apiKey: { value: apiKey } }, limits });
    const red = document.results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn').length;
    const diagnosed = document.diagnosis.map(({ fault, alike }) => [fault, ...alike]);
    return { name, red, diagnosed, main: mainOf(document) };
  } finally {
    receiver.stop();
  }
}
