import { Agent } from 'node:http';
import { describe, expect, it } from 'vitest';
import { FOREIGN_SCHEMES, type Scheme } from '../../contract/signing/index.ts';
import { FAULTS, SCHEME_MUTANTS, type SchemeMutant, startFaultyReceiver } from '../../mutants/index.ts';
import { PUBLIC_URL, requestsIn, secretOf, send } from './scheme-requests.ts';

/** Returns the names of the requests that a receiver answers with another status than a correct one. */
async function differences(mutant: SchemeMutant | null, scheme: Scheme): Promise<string[]> {
  const secret = secretOf(scheme);
  const signing = { secrets: [secret], scheme, publicUrl: PUBLIC_URL };
  const receiver = await startFaultyReceiver(mutant, { signing });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const found: string[] = [];
  try {
    for (const [name, sent] of Object.entries(requestsIn(scheme, secret))) {
      const status = await send(receiver.url, agent, sent);
      if (status !== sent.status) found.push(`${name}: ${status}`);
    }
  } finally {
    agent.destroy();
    await receiver.close();
  }
  return found;
}

describe.each(FOREIGN_SCHEMES.map((scheme) => [scheme.name, scheme] as const))(
  'in the scheme of %s',
  (_name, scheme) => {
    it('the reference receiver answers every request as it must', async () => {
      expect(await differences(null, scheme)).toEqual([]);
    });

    it.each(SCHEME_MUTANTS.filter(({ suits }) => suits(scheme)).map((mutant) => [mutant.name, mutant] as const))(
      '%s answers a request with another status',
      async (_mutant, mutant) => {
        expect(await differences(mutant, scheme)).not.toEqual([]);
      },
    );
  },
);

it('has one name for each mutant, which is that of a fault only if it is the same', () => {
  const names = SCHEME_MUTANTS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const faults = new Map(FAULTS.map((fault) => [fault.name, fault.title]));
  for (const { name, title } of SCHEME_MUTANTS) expect(faults.get(name) ?? title).toBe(title);
});
