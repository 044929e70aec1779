import { describe, expect, it } from 'vitest';
import {
  emittedNotification,
  HookproofError,
  kindOf,
  ORDER_STATUSES,
  PAYMENT_METHOD_STATUSES,
} from '../../../contract/index.ts';
import {
  type CustomerOnboarded,
  type DepositConfirmed,
  notificationsFor,
  type OrderAcceptedByBlockchain,
  type OrderFailed,
  type OrderStatusChanged,
  type OrderTrackingReported,
  type PaymentMethodStatusChanged,
  type RefundOutcome,
  type ServiceEvent,
} from '../../../harness/sender/index.ts';

const NOW = new Date('2026-02-03T04:05:06.789Z');
const SECONDS = 1_770_091_506;

function idAt(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
}

function notify(event: ServiceEvent) {
  let made = 0;
  return notificationsFor(event, {
    now: () => NOW,
    newId: () => {
      made += 1;
      return idAt(made);
    },
  });
}

function rejection(event: ServiceEvent): HookproofError {
  try {
    notify(event);
  } catch (error) {
    if (error instanceof HookproofError) return error;
    throw error;
  }
  throw new Error('the event was accepted');
}

const order = {
  providerId: 'provider-1',
  transactionId: 'transaction-1',
  blockchainData: { currency: 'ETH', chain: 'ETHEREUM' },
};
const error = { code: '352-252-E1', message: 'The partner said no.' };
const refunded: RefundOutcome = {
  status: 'SUCCESS',
  blockchainTransactionId: '0xrefund',
  amount: '0.5',
  currency: 'ETH',
};

describe('orders', () => {
  const plain = ORDER_STATUSES.filter(
    (status): status is OrderStatusChanged['status'] => status !== 'BLOCKCHAIN_ACCEPTED' && status !== 'FAILED',
  );

  it.each(plain)('a change to %s leads to one notification', (status) => {
    for (const orderType of ['BUY', 'SELL'] as const) {
      expect(notify({ event: 'order-status-changed', orderType, status, ...order })).toEqual([
        {
          id: idAt(1),
          type: 'CAAS',
          at: SECONDS,
          data: {
            type: orderType,
            providerId: 'provider-1',
            transactionId: 'transaction-1',
            metadata: { orderStatus: status, blockchainData: order.blockchainData },
            errorData: null,
          },
        },
      ]);
    }
  });

  it.each(['BLOCKCHAIN_ACCEPTED', 'FAILED'])(
    'a change to %s is rejected, because it has a separate event',
    (status) => {
      const event = {
        event: 'order-status-changed',
        orderType: 'BUY',
        status,
        ...order,
      } as unknown as OrderStatusChanged;
      expect(rejection(event)).toMatchObject({ code: 'EVENT_INVALID', message: expect.stringContaining(status) });
    },
  );

  it('acceptance by the blockchain is notified without the hash and then with it', () => {
    const event: OrderAcceptedByBlockchain = {
      event: 'order-accepted-by-blockchain',
      orderType: 'BUY',
      blockchainTransactionId: '0xhash',
      ...order,
      blockchainData: { ...order.blockchainData, blockchainTransactionId: '0xhash' },
    };
    const data = notify(event).map((notification) => [notification.id, notification.data]);
    const common = { type: 'BUY', providerId: 'provider-1', transactionId: 'transaction-1', errorData: null };
    const orderStatus = 'BLOCKCHAIN_ACCEPTED';
    expect(data).toEqual([
      [idAt(1), { ...common, metadata: { orderStatus, blockchainData: order.blockchainData } }],
      [
        idAt(2),
        {
          ...common,
          metadata: { orderStatus, blockchainData: { ...order.blockchainData, blockchainTransactionId: '0xhash' } },
        },
      ],
    ]);
    expect(rejection({ ...event, blockchainTransactionId: '' }).message).toMatch(/has no hash/);
  });
});

describe('failed orders', () => {
  const failed = (rest: Partial<OrderFailed> = {}): OrderFailed => ({
    event: 'order-failed',
    orderType: 'SELL',
    error,
    ...order,
    ...rest,
  });
  const failure = (blockchainData: object = order.blockchainData) => ({
    id: idAt(1),
    type: 'CAAS',
    at: SECONDS,
    data: {
      type: 'SELL',
      providerId: 'provider-1',
      transactionId: 'transaction-1',
      metadata: { orderStatus: 'FAILED', blockchainData },
      errorData: error,
    },
  });

  it('without an external sell lead to one notification', () => {
    expect(notify(failed())).toEqual([failure()]);
  });

  it('with a refund lead to the failure and then the refund', () => {
    const externalSell = { cryptoReceived: true, refundWalletAddress: '0xback', refund: refunded };
    expect(notify(failed({ externalSell }))).toEqual([
      failure({ ...order.blockchainData, refundWalletAddress: '0xback' }),
      {
        id: idAt(2),
        type: 'REFUND',
        at: SECONDS,
        data: {
          providerId: 'provider-1',
          transactionId: 'transaction-1',
          status: 'SUCCESS',
          metadata: { blockchainTransactionId: '0xrefund', amount: '0.5', currency: 'ETH', walletAddress: '0xback' },
          errorData: null,
        },
      },
    ]);
  });

  it.each([
    ['no crypto was received', { cryptoReceived: false, refundWalletAddress: '0xback' }],
    ['no refund wallet was given', { cryptoReceived: true }],
    ['neither', { cryptoReceived: false }],
  ])('lead to no refund if %s, and reject one', (_what, externalSell) => {
    expect(notify(failed({ externalSell })).map(kindOf)).toEqual(['CAAS_SELL']);
    expect(rejection(failed({ externalSell: { ...externalSell, refund: refunded } })).message).toMatch(
      /without a reason/,
    );
  });

  it('are rejected if the refund outcome is missing or the order is a buy', () => {
    const externalSell = { cryptoReceived: true, refundWalletAddress: '0xback' };
    expect(rejection(failed({ externalSell })).message).toMatch(/does not contain its outcome/);
    expect(rejection(failed({ orderType: 'BUY', externalSell: { cryptoReceived: false } })).message).toMatch(
      /on a buy order/,
    );
  });
});

describe('order tracking', () => {
  const tracking: OrderTrackingReported = {
    event: 'order-tracking-reported',
    orderType: 'SELL',
    providerId: 'provider-1',
    transactionId: 'transaction-1',
    physicalSite: true,
    providerTransactionId: 'p-1',
    providerTransactionRef: 'ref-1',
    status: 'EXPIRED',
    description: 'The user did not come.',
  };

  it('is notified for a provider with a physical site', () => {
    expect(notify(tracking)).toEqual([
      {
        id: idAt(1),
        type: 'CAAS',
        at: SECONDS,
        data: {
          type: 'ORDER_TRACKING',
          providerId: 'provider-1',
          transactionId: 'transaction-1',
          metadata: {
            orderType: 'SELL',
            providerTransactionId: 'p-1',
            providerTransactionRef: 'ref-1',
            providerTransactionStatus: 'EXPIRED',
            trackingStateDescription: 'The user did not come.',
          },
          errorData: null,
        },
      },
    ]);
  });

  it('is not notified for any other provider', () => {
    expect(notify({ ...tracking, physicalSite: false })).toEqual([]);
  });
});

describe('payment methods', () => {
  const change = (status: PaymentMethodStatusChanged['status']): PaymentMethodStatusChanged => ({
    event: 'payment-method-status-changed',
    status,
    paymentMethodId: 'card-1',
    accountId: 'customer-1',
    errorCode: '313-702-S3',
  });

  it('are notified if they are declined, with the reason, or staged, without one', () => {
    const sent = PAYMENT_METHOD_STATUSES.map((status) => [status, notify(change(status))]);
    const envelope = { id: idAt(1), type: 'PAYMENT_METHOD', at: SECONDS };
    const data = { paymentMethodId: 'card-1', accountId: 'customer-1' };
    expect(Object.fromEntries(sent)).toEqual({
      CREATED: [],
      STAGED: [{ ...envelope, data: { status: 'STAGED', ...data } }],
      VERIFIED: [],
      DECLINED: [{ ...envelope, data: { status: 'DECLINED', ...data, errorCode: '313-702-S3' } }],
      DELETED: [],
    });
  });

  it('cannot be declined without a reason', () => {
    const { errorCode: _left, ...without } = change('DECLINED');
    expect(rejection(without).message).toMatch(/errorCode/);
  });
});

describe('custodial wallets', () => {
  const onboarded: CustomerOnboarded = {
    event: 'customer-onboarded',
    customerId: 'customer-1',
    walletFeature: true,
    wallets: [
      { walletAddress: '0xone', assetId: 'ETH', chain: 'ETHEREUM' },
      { walletAddress: 'two', assetId: 'BTC', chain: 'BITCOIN' },
    ],
  };

  it('lead to one notification each', () => {
    const data = { operation: 'WALLET_CREATED', customerId: 'customer-1' };
    const envelope = { type: 'WALLET', at: '2026-02-03T04:05:06.789Z' };
    expect(notify(onboarded)).toEqual([
      { id: idAt(1), ...envelope, data: { ...data, walletAddress: '0xone', assetId: 'ETH', chain: 'ETHEREUM' } },
      { id: idAt(2), ...envelope, data: { ...data, walletAddress: 'two', assetId: 'BTC', chain: 'BITCOIN' } },
    ]);
  });

  it('are not notified without the feature, and not without wallets', () => {
    expect(notify({ ...onboarded, walletFeature: false })).toEqual([]);
    expect(notify({ ...onboarded, wallets: [] })).toEqual([]);
  });
});

describe('deposits', () => {
  const deposit: DepositConfirmed = {
    event: 'deposit-confirmed',
    status: 'COMPLETED',
    partnerTransactionId: 'deposit-1',
    customerId: 'customer-1',
    sourceAddress: '0xfrom',
    destinationAddress: '0xto',
    asset: { amount: '125000000000000000', currency: 'ETH' },
    via: { ledger: 'blockchain', blockchainTransactionId: '0xhash' },
  };
  const metadata = {
    sourceAddress: '0xfrom',
    destinationAddress: '0xto',
    asset: { amount: '125000000000000000', currency: 'ETH' },
  };

  it('on a blockchain carry the hash', () => {
    expect(notify(deposit)).toEqual([
      {
        id: idAt(1),
        type: 'CAAS_BLOCKCHAIN',
        at: '2026-02-03T04:05:06.789Z',
        data: {
          type: 'RECEIVE',
          status: 'COMPLETED',
          partnerTransactionId: 'deposit-1',
          customerId: 'customer-1',
          metadata: { ...metadata, blockchainTransactionId: '0xhash' },
        },
      },
    ]);
    expect(rejection({ ...deposit, via: { ledger: 'blockchain', blockchainTransactionId: '' } }).message).toMatch(
      /no hash/,
    );
  });

  it('inside the custodial ledger may lack it', () => {
    const [inside] = notify({ ...deposit, via: { ledger: 'custodial' } });
    expect(inside?.data).toStrictEqual({ ...(notify(deposit)[0]?.data as object), metadata });
  });

  it('are rejected if the amount is not in atomic units', () => {
    const event = { ...deposit, asset: { amount: '1.5', currency: 'ETH' } };
    expect(rejection(event)).toMatchObject({
      code: 'EVENT_INVALID',
      message: expect.stringMatching(/deposit-confirmed.*data\.metadata\.asset\.amount/),
    });
  });
});

describe('any event', () => {
  it('gets a new UUID and the current time by default', () => {
    const event: ServiceEvent = { event: 'order-status-changed', orderType: 'BUY', status: 'CREATED', ...order };
    const earliest = Math.floor(Date.now() / 1000);
    const [one, two] = [...notificationsFor(event), ...notificationsFor(event)];
    expect(one?.id).not.toBe(two?.id);
    expect(one?.at).toBeGreaterThanOrEqual(earliest);
    expect([one, two].map((notification) => emittedNotification.safeParse(notification).success)).toEqual([true, true]);
  });
});

describe('the message and hint of a rejection', () => {
  const rejectionText = (event: unknown) => {
    const { code, message, hint } = rejection(event as ServiceEvent);
    expect(code).toBe('EVENT_INVALID');
    return `${message} ${hint}`;
  };
  const failed = { event: 'order-failed', orderType: 'SELL', error, ...order };

  it('name an unknown kind of event', () => {
    expect(rejectionText({ event: 'x' })).toBe(
      'The event has an unknown kind. Set the field `event` to one of the kinds in ServiceEvent.',
    );
  });

  it('name the event for a status that has its own', () => {
    expect(rejectionText({ event: 'order-status-changed', orderType: 'BUY', status: 'FAILED', ...order })).toBe(
      'The event order-status-changed has the status FAILED. Use order-accepted-by-blockchain for ' +
        'BLOCKCHAIN_ACCEPTED, and order-failed for FAILED.',
    );
  });

  it('ask for the hash of an accepted order', () => {
    expect(rejectionText({ event: 'order-accepted-by-blockchain', orderType: 'BUY', ...order })).toBe(
      'The event order-accepted-by-blockchain has no hash. Raise the event once the hash is known, and set ' +
        'blockchainTransactionId.',
    );
  });

  it('name the contradiction in a failed order', () => {
    expect(rejectionText({ ...failed, orderType: 'BUY', externalSell: { cryptoReceived: false } })).toBe(
      'The event order-failed has externalSell on a buy order. Remove externalSell.',
    );
    expect(rejectionText({ ...failed, externalSell: { cryptoReceived: true, refundWalletAddress: '0xback' } })).toBe(
      'The event order-failed requires a refund but does not contain its outcome. Raise the event once the ' +
        'refund has succeeded or failed, and set externalSell.refund.',
    );
    expect(
      rejectionText({ ...failed, externalSell: { cryptoReceived: true, refundWalletAddress: '', refund: refunded } }),
    ).toBe(
      'The event order-failed has a refund without a reason for one. Remove externalSell.refund, or set ' +
        'cryptoReceived and refundWalletAddress.',
    );
  });

  it('ask for the hash of a deposit', () => {
    const deposit = { event: 'deposit-confirmed', via: { ledger: 'blockchain' } };
    expect(rejectionText(deposit)).toBe(
      'The event deposit-confirmed is on a blockchain but has no hash. Set via.blockchainTransactionId, or set ' +
        'via.ledger to custodial.',
    );
  });

  it('name the fields that make a notification invalid', () => {
    const event = { event: 'order-status-changed', orderType: 'BUY', status: 'CREATED', ...order };
    const text = rejectionText({ ...event, providerId: 7 });
    expect(text).toMatch(/^The event order-status-changed does not yield a valid notification: data\.providerId: /);
    expect(text).toContain('. Correct the fields of the event ');
    expect(rejectionText({ ...event, providerId: 7, transactionId: 8 })).toMatch(
      /: data\.providerId: [^;]+; data\.transactionId: [^;]+$/,
    );
    const [declined] = PAYMENT_METHOD_STATUSES.filter((status) => status === 'DECLINED');
    expect(rejectionText({ event: 'payment-method-status-changed', status: declined, paymentMethodId: 'p' })).toMatch(
      /does not yield a valid notification: data/,
    );
  });
});

describe('the data of a failed order', () => {
  const failed = { event: 'order-failed', orderType: 'SELL', error, ...order } as const;

  it('names the refund wallet, if one was given', () => {
    const blockchainData = (externalSell: NonNullable<OrderFailed['externalSell']>) =>
      notify({ ...failed, externalSell }).map(({ data }) => (data as { metadata: object }).metadata);
    const orderStatus = 'FAILED';
    expect(blockchainData({ cryptoReceived: false, refundWalletAddress: '0xback' })).toEqual([
      { orderStatus, blockchainData: { ...order.blockchainData, refundWalletAddress: '0xback' } },
    ]);
    expect(blockchainData({ cryptoReceived: true, refundWalletAddress: '' })).toEqual([
      { orderStatus, blockchainData: order.blockchainData },
    ]);
  });

  it('carries only amount, wallet and error of a failed refund', () => {
    const refund: RefundOutcome = {
      status: 'FAIL',
      amount: '0.5',
      currency: 'ETH',
      error: { ...error, more: 1 } as never,
    };
    const externalSell = { cryptoReceived: true, refundWalletAddress: '0xback', refund };
    const event = { event: 'order-failed', orderType: 'SELL', error: { ...error, more: 1 }, ...order, externalSell };
    const [failure, second] = notify(event as ServiceEvent);
    expect((failure?.data as { errorData: object } | undefined)?.errorData).toEqual(error);
    expect(second).toEqual({
      id: idAt(2),
      type: 'REFUND',
      at: SECONDS,
      data: {
        providerId: 'provider-1',
        transactionId: 'transaction-1',
        status: 'FAIL',
        metadata: { amount: '0.5', currency: 'ETH', walletAddress: '0xback' },
        errorData: error,
      },
    });
  });
});
