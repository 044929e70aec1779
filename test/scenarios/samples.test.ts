import { describe, expect, it } from 'vitest';
import {
  emittedNotification,
  type JsonObject,
  NOTIFIED_PAYMENT_METHOD_STATUSES,
  ORDER_STATUSES,
  REFUND_STATUSES,
  TRACKING_STATUSES,
} from '../../contract/index.ts';
import { deposit, order, paymentMethod, plainNotification, refund, tracking, wallet } from '../../scenarios/samples.ts';
import type { Kit } from '../../scenarios/scenario.ts';
import { withErrorCode } from '../../scenarios/suites/valid-values.ts';
import { fakeKit, someCredentials } from './credential-check.ts';

const kit: Kit = fakeKit(someCredentials());

const SAMPLES: Record<string, JsonObject> = {
  plain: plainNotification(kit),
  wallet: wallet(kit),
  'deposit on chain': deposit(kit),
  'deposit in the ledger': deposit(kit, {}),
  'payment failure': withErrorCode(kit, '313-701-S1', 'digital-payments'),
  'failure of an external sell': withErrorCode(kit, '352-254-E1', 'external-sell'),
};
for (const flow of ['BUY', 'SELL'] as const) {
  for (const status of ORDER_STATUSES) SAMPLES[`${flow} ${status}`] = order(kit, flow, status);
  for (const status of TRACKING_STATUSES) SAMPLES[`tracking ${flow} ${status}`] = tracking(kit, flow, status);
}
for (const status of REFUND_STATUSES) SAMPLES[`refund ${status}`] = refund(kit, status);
for (const status of NOTIFIED_PAYMENT_METHOD_STATUSES) SAMPLES[`card ${status}`] = paymentMethod(kit, status);

describe('the samples', () => {
  it.each(Object.entries(SAMPLES))('%s is valid by the contract of the sender', (_name, sample) => {
    expect(emittedNotification.safeParse(sample)).toMatchObject({ success: true });
  });

  it('have new ids and references', () => {
    const texts = [order(kit, 'BUY', 'CREATED'), order(kit, 'BUY', 'CREATED')].map(({ id, data }) => [id, data]);
    expect(texts[0]).not.toEqual(texts[1]);
  });

  it('keep the references that flows share', () => {
    expect(order(kit, 'SELL', 'FAILED', { transactionId: 't', code: '352-252-E1' }).data).toMatchObject({
      transactionId: 't',
      errorData: { code: '352-252-E1' },
    });
    expect(refund(kit, 'FAIL', { transactionId: 't', code: '204-004-S1' }).data).toMatchObject({
      transactionId: 't',
      errorData: { code: '204-004-S1' },
    });
    expect(paymentMethod(kit, 'DECLINED', { paymentMethodId: 'p', accountId: 'a', code: '313-702-S3' }).data).toEqual({
      status: 'DECLINED',
      paymentMethodId: 'p',
      accountId: 'a',
      errorCode: '313-702-S3',
    });
  });
});
