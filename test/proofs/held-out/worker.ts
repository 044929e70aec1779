/** A process that plays bare receivers: receives their names and answers with the results of each. */
import { randomBytes } from 'node:crypto';
import { run } from '../../../harness/run/index.ts';
import { receiverOf, subjectOf } from './subjects.ts';

export interface HeldOutRun {
  readonly name: string;
  /** The number of red scenarios. */
  readonly red: number;
  /** The diagnoses of the report in their order, each with all its names. */
  readonly diagnosed: readonly (readonly string[])[];
}

/** Not more than the matrix waits. */
const LIMITS = { timeoutMs: 2000, recoveryMs: 2000 };

async function play(name: string): Promise<HeldOutRun> {
  const credentials = { secret: randomBytes(32).toString('base64'), apiKey: randomBytes(24).toString('base64url') };
  const receiver = receiverOf(subjectOf(name), credentials);
  const url = await receiver.start();
  try {
    const { secret, apiKey } = credentials;
    const document = await run({ partner: { url, signing: { secret }, apiKey: { value: apiKey } }, limits: LIMITS });
    const red = document.results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn').length;
    return { name, red, diagnosed: document.diagnosis.map(({ fault, alike }) => [fault, ...alike]) };
  } finally {
    receiver.stop();
  }
}

process.on('message', async ({ name }: { readonly name: string }) => {
  try {
    process.send?.(await play(name));
  } catch (error) {
    process.send?.({ name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
