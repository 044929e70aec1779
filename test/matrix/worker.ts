/** One process of the matrix: is sent names of mutants one by one and answers with what the run said of each. */
import { outcomeOf } from '../../harness/diagnose/outcome.ts';
import { FAULTS } from '../../receiver/faults/index.ts';
import { material, tryFault } from './try-fault.ts';

/** What a worker says of one mutant (or of the right receiver, named `none` and `none-over-tls`). */
export interface Played {
  readonly name: string;
  readonly durationMs: number;
  readonly features: readonly string[];
  /** Scenario to outcome: only what is not a pass; `no verdict` where nothing was proved. */
  readonly outcomes: Readonly<Record<string, string>>;
  /** What applied. */
  readonly judged: readonly string[];
}

async function play(name: string, made: Awaited<ReturnType<typeof material>>): Promise<Played> {
  const fault = FAULTS.find((one) => one.name === name) ?? null;
  const document = await tryFault(fault, made, fault === null ? name === 'none-over-tls' : undefined);
  const outcomes: Record<string, string> = {};
  const judged: string[] = [];
  for (const result of document.results) {
    if (result.verdict === 'not-applicable') continue;
    judged.push(result.id);
    const outcome = outcomeOf(result);
    if (outcome !== null) outcomes[result.id] = outcome ?? 'no verdict';
  }
  return { name, durationMs: document.durationMs, features: document.target.features, outcomes, judged };
}

if (process.send !== undefined) {
  const made = material();
  process.on('message', async (name: string) => {
    try {
      process.send?.(await play(name, await made));
    } catch (error) {
      process.send?.({ name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
}
