import { describe, expect, it } from 'vitest';
import { FOREIGN_SCHEMES, type Scheme } from '../../../contract/signing/index.ts';
import { type ResultDocument, run } from '../../../harness/index.ts';
import { SCHEME_MUTANTS, type SchemeMutant, startFaultyReceiver } from '../../../mutants/index.ts';
import type { SuiteName } from '../../../scenarios/index.ts';
import { freePort } from '../../endpoints/listen.ts';
import { secretOf } from '../../mutants/scheme-requests.ts';
import { inTurn } from '../../setup/turn.ts';

/** Runs the checks of a scheme against the reference receiver, or against a mutant of it. */
async function played(
  scheme: Scheme,
  mutant: SchemeMutant | null,
  suites?: readonly SuiteName[],
): Promise<ResultDocument> {
  const secret = secretOf(scheme);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/hooks`;
  const signing = { secrets: [secret], scheme, publicUrl: url };
  const receiver = await startFaultyReceiver(mutant, { signing, port });
  try {
    return await run({ partner: { url, signing: { secret, scheme } }, ...(suites && { selection: { suites } }) });
  } finally {
    await receiver.close();
  }
}

/** Mutants that a run does not find, and why it need not. */
const UNSEEN: Readonly<Record<string, string>> = {
  'missing-signature-is-400': 'a scheme leaves the status of a rejection to the receiver',
};

const found = ({ results }: ResultDocument) =>
  results.filter(({ verdict }) => !['pass', 'not-applicable'].includes(verdict)).map(({ id, reason }) => [id, reason]);

describe('a run in a scheme', () => {
  it.each(inTurn(FOREIGN_SCHEMES, 3).map((scheme) => [scheme.name, scheme] as const))(
    'of %s finds nothing in the reference receiver',
    async (name, scheme) => {
      const document = await played(scheme, null);
      expect(found(document)).toEqual([]);
      expect(document).toMatchObject({ verdict: 'conformant', target: { scheme: name } });
      expect(document.counts.pass).toBeGreaterThan(350);
    },
  );

  it('does not call forged what only the sender can sign', async () => {
    const [scheme, mutant] = [
      FOREIGN_SCHEMES[0],
      SCHEME_MUTANTS.find(({ name }) => name === 'future-messages-accepted'),
    ];
    if (scheme === undefined || mutant === undefined) throw new Error('no such mutant');
    const { diagnosis } = await played(scheme, mutant, ['valid', 'scheme']);
    expect(diagnosis[0]?.title).toMatch(/: accepts deliveries that must be rejected \(3 of \d+\)$/);
  });

  // Each mutant in one of its schemes, mutants in a row in different ones. Each commit plays a third.
  it.each(
    inTurn(
      SCHEME_MUTANTS.map((mutant, at) => {
        const schemes = FOREIGN_SCHEMES.filter(mutant.suits);
        return [mutant.name, schemes[at % schemes.length]?.name ?? '', mutant] as const;
      }),
      3,
    ),
  )('finds the mutant %s in the scheme of %s', async (_, name, mutant) => {
    const scheme = FOREIGN_SCHEMES.find((one) => one.name === name);
    if (scheme === undefined) throw new Error(`no scheme ${name}`);
    const { results } = await played(scheme, mutant, ['valid', 'signature', 'raw-body', 'scheme']);
    const ids = results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn').map(({ id }) => id);
    if (mutant.name in UNSEEN) expect(ids).toEqual([]);
    else expect(ids).not.toEqual([]);
  });
});
