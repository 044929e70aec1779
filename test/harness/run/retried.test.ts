/** The account of second tries: what passes at the second try has not passed at the first. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../../harness/run/index.ts';
import { type Blow, fragile } from './fragile.ts';

const SECRET = randomBytes(32).toString('base64');
const SUITE = 'raw-body';

/** A run of one suite against a receiver to which this happens at its 40th rightly signed delivery, and never again. */
async function runWith(blow: Blow) {
  let deliveries = 0;
  const endpoint = await fragile(SECRET, () => (++deliveries === 40 ? blow : 'none'));
  onTestFinished(() => endpoint.close());
  return run({
    partner: { url: endpoint.url, signing: { secret: SECRET } },
    selection: { suites: [SUITE] },
    limits: { concurrency: 4, timeoutMs: 2000, recoveryMs: 2000, backoffMs: 5 },
  });
}

describe('a run', () => {
  it('says nothing of second tries where there were none', async () => {
    expect(await runWith('none')).not.toHaveProperty('retried');
  });

  it('names the checks that passed only at the second try, because the receiver went away once', async () => {
    const { counts, retried = [], results } = await runWith('stop');
    expect({ fail: counts.fail, inconclusive: counts.inconclusive }).toEqual({ fail: 0, inconclusive: 0 });
    expect(retried.length).toBeGreaterThan(0);
    const verdicts = results.filter(({ id }) => retried.includes(id)).map(({ verdict }) => verdict);
    expect(new Set(verdicts)).toEqual(new Set(['pass']));
  });
});
