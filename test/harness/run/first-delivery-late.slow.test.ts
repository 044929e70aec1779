/** What a run reports about an endpoint that answers its first delivery late, or never. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Answer, found, played, type Receiver, SIGNING, verdicts } from './played.ts';

// On a busy machine, equal timers end at different times.
const BUSY = { retry: 10, concurrent: false };

describe.concurrent('an answer after a long time', () => {
  it('that is the same whatever is sent is a time-out, and no check is sent', BUSY, async () => {
    const receiver: Receiver = async () => {
      await delay(2200);
      return [202, 'still processing'];
    };
    const { document, requests } = await played(receiver, [], SIGNING, ['signature']);
    expect(document.diagnosis[0]?.fault).toBe('answers-by-timeout');
    expect(document.diagnosis[0]?.title).toMatch(/^The endpoint answers 202 \("still processing"\) after 2\.\d s/);
    expect(requests).toBe(5);
    expect(verdicts(document, 'fail')).toContain('signature/missing');
    expect(document.verdict).toBe('nonconformant');
  });

  it('that depends on the delivery is none', async () => {
    const receiver: Receiver = async ({ correct }) => {
      if (correct[0] === 200) await delay(2200);
      return correct[0] === 200 ? [202] : correct;
    };
    const { document } = await played(receiver, ['valid/plain', 'signature/missing']);
    expect(verdicts(document, 'pass')).toEqual(['signature/missing']);
    expect(document.diagnosis.map(({ fault }) => fault)).not.toContain('answers-by-timeout');
  });

  it('that rejects whatever is sent is a time-out as well', BUSY, async () => {
    const receiver: Receiver = async () => {
      await delay(2200);
      return [504];
    };
    const { document, requests } = await played(receiver);
    expect([document.diagnosis[0]?.fault, requests]).toEqual(['answers-by-timeout', 5]);
  });

  it('does not hide an accepted forgery', BUSY, async () => {
    const receiver: Receiver = async ({ given }) => {
      if (given === undefined) return [200];
      await delay(2200);
      return [504];
    };
    const { document } = await played(receiver, ['valid/plain', 'signature/missing']);
    expect(document.diagnosis.map(({ fault }) => fault)).toContain('answers-by-timeout');
    expect(verdicts(document, 'fail')).toContain('signature/missing');
  });

  it('that never comes hides none either', async () => {
    const receiver: Receiver = ({ given }) => (given === undefined ? [200] : new Promise<Answer>(() => {}));
    const { document } = await played(receiver, ['valid/plain', 'signature/missing']);
    expect(verdicts(document, 'fail')).toContain('signature/missing');
  });

  it('that a valid delivery never gets is code that waits', async () => {
    const silent: Receiver = ({ isValid }) => (isValid ? new Promise<Answer>(() => undefined) : [401]);
    expect(await found(silent)).toMatchObject({
      fault: 'never-answers-after-check',
      title: 'The endpoint answers a delivery with no signature (401), but never a valid one',
    });
  });
});
