/** One process that plays bare receivers: is sent their names, and answers with the results of each. */
import { randomBytes } from 'node:crypto';
import type { ScenarioResult } from '../../harness/result/result-document.ts';
import { run } from '../../harness/run/run.ts';
import { receiverOf, subjectOf } from './held-out-subject.ts';

export interface HeldOutRun {
  readonly name: string;
  readonly results: readonly Pick<ScenarioResult, 'id' | 'verdict' | 'observed'>[];
}

/** No more than the other matrix waits. */
const LIMITS = { timeoutMs: 2000, recoveryMs: 2000 };

async function play(name: string): Promise<HeldOutRun> {
  const credentials = { secret: randomBytes(32).toString('base64'), apiKey: randomBytes(24).toString('base64url') };
  const receiver = receiverOf(subjectOf(name), credentials);
  const url = await receiver.start();
  try {
    const { secret, apiKey } = credentials;
    const document = await run({ partner: { url, signing: { secret }, apiKey: { value: apiKey } }, limits: LIMITS });
    return { name, results: document.results.map(({ id, verdict, observed }) => ({ id, verdict, observed })) };
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
