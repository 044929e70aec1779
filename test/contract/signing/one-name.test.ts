import { describe, expect, it } from 'vitest';
import { explainSignature, SIGNING_MISTAKES, signatureOf } from '../../../contract/signing/index.ts';
import { explainRejection } from '../../../harness/diagnose/index.ts';
import { explainMismatch } from '../../../receiver/inspector/credential-findings.ts';
import { answered } from '../../harness/run/parts.ts';
import { fakeKit, someCredentials } from '../../scenarios/credential-check.ts';
import { API_KEY, bodyOf, URL, VECTORS } from './vectors.ts';

const KIT = fakeKit(someCredentials());

const NOTIFICATION = { id: 'n-1', type: 'CAAS', at: 1735787045, data: { type: 'BUY', memo: 'test memo' } };

/** The diagnosis of a receiver that accepts only the signatures that are made with this mistake. */
async function diagnosed(mistake: string, secret: string): Promise<string | undefined> {
  const made = SIGNING_MISTAKES.find(({ name }) => name === mistake);
  const partner = { url: URL, signing: { secret }, apiKey: { value: API_KEY } };
  const found = await explainRejection(
    partner,
    async ({ serialise, sign }) => {
      // The sender composes another notification until its signature suits the trial.
      for (let at = 0; serialise !== undefined && sign !== undefined; at++) {
        const body = serialise({ ...NOTIFICATION, at: NOTIFICATION.at + at }, KIT);
        const correct = signatureOf(body, secret);
        if (sign.suits?.(correct) === false) continue;
        const expected = made?.sign({ body, secret, apiKey: API_KEY, url: URL });
        return answered(sign.make(body, KIT) === expected ? 200 : 401);
      }
      return answered(401);
    },
    () => false,
  );
  return found?.fault;
}

describe.each(VECTORS)('$mistake', (vector) => {
  it('has one name in verify, in the inspector and in the diagnosis of a rejected delivery', async () => {
    const { mistake, secret, signature } = vector;
    const body = bodyOf(vector);
    const verified = explainSignature({ body, secret, header: signature, apiKey: API_KEY, url: URL });
    const inspected = await explainMismatch({
      rawBody: body,
      received: [signature],
      secrets: [secret],
      apiKeys: [API_KEY],
      urls: [URL],
    });
    expect({
      verify: verified.explanation?.fault,
      inspector: inspected?.mistakes.map(({ name }) => name).join('+'),
      diagnosis: await diagnosed(mistake, secret),
    }).toEqual({ verify: mistake, inspector: mistake, diagnosis: mistake });
  });
});
