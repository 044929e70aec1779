/** Receivers that look up ids, and samples that they know. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Partner } from '../../../harness/partner.ts';
import { run } from '../../../harness/run/index.ts';
import { scenariosOwning } from '../../../scenarios/index.ts';
import { urlsAndLimits } from '../../proofs/matrix/correct/urls-and-limits.ts';

const SECRET = randomBytes(32).toString('base64');
const API_KEY = randomBytes(24).toString('base64url');

const receiver = urlsAndLimits.find(({ name }) => name === 'unknown-ids-404')!;
const samples = receiver.samples!;

async function runWith(given: Partner['samples'], suites = ['valid', 'typo-key', 'delivery']) {
  const { url, close } = await receiver.start({ secret: SECRET, apiKey: API_KEY });
  onTestFinished(close);
  const partner = { url, signing: { secret: SECRET }, apiKey: { value: API_KEY }, ...(given && { samples: given }) };
  const document = await run({ partner, selection: { suites }, limits: { timeoutMs: 5000 } });
  const of = (...verdicts: string[]) => document.results.filter(({ verdict }) => verdicts.includes(verdict));
  return { document, of };
}

describe('a receiver that looks its ids up', () => {
  it('passes with samples that it knows', async () => {
    const { of } = await runWith(samples);
    expect(of('fail', 'inconclusive', 'harness-error').map(({ id, reason }) => `${id}: ${reason}`)).toEqual([]);
    const unknown = of('pass').find(({ id }) => id === 'delivery/unknown-transaction');
    expect(unknown?.reason).toMatch(/^answered 404, which is allowed/);
  });

  it('gets a finding that names the setting when it knows none of the samples', async () => {
    const { document, of } = await runWith(undefined);
    expect(of('fail').map(({ id }) => id)).toEqual(['valid/plain']);
    expect(document.diagnosis.map(({ fix }) => fix).join()).toContain('`samples`');
  });

  it('has inconclusive checks when a list is too short for those that need an unshared id', async () => {
    const transaction = samples.ids?.transaction?.slice(0, 3) ?? [];
    const { of } = await runWith({ ...samples, ids: { ...samples.ids, transaction } }, ['delivery']);
    expect(of('fail', 'harness-error')).toEqual([]);
    const lacking = of('inconclusive');
    expect(lacking.map(({ id }) => id).toSorted()).toEqual(
      scenariosOwning('transaction')
        .slice(2)
        .filter((id) => id.startsWith('delivery/'))
        .toSorted(),
    );
    expect(lacking[0]).toMatchObject({ decidedBy: 'samples-too-short' });
    expect(lacking[0]?.reason).toBe(
      `the list of samples for \`transaction\` has 3 ids; this check needs one that no other check uses, and ` +
        `${scenariosOwning('transaction').length + 1} are enough for all checks`,
    );
  });
});
