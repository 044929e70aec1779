import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signatureOf } from '../../../contract/signing/index.ts';
import { signingTrials } from '../../../harness/diagnose/signing-trials.ts';
import { newSecret } from '../../contract/signing/inputs.ts';

const VALUE = { id: 'n-1', type: 'CAAS', at: 1, data: { type: 'BUY', memo: 'test memo' } };

function trial(fault: string, secret = newSecret()) {
  const found = signingTrials({ secret }).find((one) => one.fault === fault);
  if (found === undefined) throw new Error(`there is no trial of ${fault}`);
  const body = found.serialise(VALUE);
  return { body: Buffer.from(body), signature: found.sign(body), secret };
}

describe('the signing trials', () => {
  it('start with the most likely mistakes, and explain each', () => {
    const trials = signingTrials({ secret: newSecret() });
    expect(trials.slice(0, 3).map(({ fault }) => fault)).toEqual(['hex', 'prefixed-hex', 'reserialised-json']);
    expect(trials.findIndex(({ likely }) => !likely)).toBeGreaterThan(20);
    expect(new Set(trials.map(({ fault }) => fault)).size).toBe(trials.length);
    for (const { title, why, fix } of trials)
      for (const text of [title, why, fix]) expect(text).toMatch(/^[A-Z`].+\.$/);
  });

  it('sign as a receiver with the mistake verifies', () => {
    const hex = trial('hex');
    expect(hex.signature).toBe(createHmac('sha256', hex.secret).update(hex.body).digest('hex'));
    const { body, signature, secret } = trial('reserialised-json');
    expect(signature).toBe(signatureOf(Buffer.from(JSON.stringify(JSON.parse(`${body}`))), secret));
  });

  it('send the notification as valid JSON with additional spaces, escapes and an unknown field', () => {
    const { body } = trial('reserialised-json');
    const { trial: unknown, ...sent } = JSON.parse(`${body}`);
    expect(sent).toEqual({ ...VALUE, data: { ...VALUE.data, memo: 'test/m\u00e9mo</e\u0301' } });
    expect(unknown).toEqual({ number: 1, empty: {}, none: null, blank: '', padded: ' #{a} ' });
  });

  it('omit mistakes that do not apply to the secret, or that need an API key or a URL', () => {
    const faults = signingTrials({ secret: 'word-'.repeat(8) }).map(({ fault }) => fault);
    // The secret is ASCII, without a prefix or whitespace.
    for (const fault of ['trimmed-secret', 'hex-decoded-secret', 'latin1-secret', 'url-body', 'api-key-as-secret']) {
      expect(faults).not.toContain(fault);
    }
  });
});
