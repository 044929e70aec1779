import { describe, expect, it } from 'vitest';
import type { FlowScenario, Observation, RunObservations } from '../../scenarios/scenario.ts';
import { deliverySuite } from '../../scenarios/suites/delivery.ts';
import { assemble, fakeKit, someCredentials } from './credential-check.ts';

const kit = fakeKit(someCredentials());
const flows = deliverySuite.scenarios.filter((one): one is FlowScenario => 'flow' in one);

/** Returns the bodies of a flow, group by group. */
function sent(
  id: string,
): { text: string; value: { id: string; type: string; at?: number; data: Record<string, unknown> } }[][] {
  const flow = flows.find((one) => one.id === `delivery/${id}`);
  if (flow === undefined) throw new Error(`no flow delivery/${id}`);
  return flow.flow(kit).map((group) =>
    group.map(({ change }) => {
      const text = assemble(change, kit).body.toString();
      return {
        text,
        value: text.endsWith('}') ? JSON.parse(text) : { id: /"id":"([^"]+)"/.exec(text)?.[1], type: '', data: {} },
      };
    }),
  );
}
const shape = (id: string) => sent(id).map((group) => group.length);
const states = (id: string) =>
  sent(id).map((group) =>
    group.map(({ value: { type, data } }) => {
      const metadata = (data.metadata ?? {}) as { orderStatus?: string };
      return [type, data.type ?? data.operation, metadata.orderStatus ?? data.status]
        .filter((part) => part !== undefined)
        .join(' ');
    }),
  );

describe('copies', () => {
  it.each([
    ['twice', [1, 1]],
    ['three-times', [1, 1, 1]],
    ['two-at-once', [2]],
    ['ten-at-once', [10]],
    ['deposit-twice', [1, 1]],
    ['wallet-twice', [1, 1]],
  ])('%s are the same bytes', (id, groups) => {
    expect(shape(id)).toEqual(groups);
    expect(
      new Set(
        sent(id)
          .flat()
          .map(({ text }) => text),
      ).size,
    ).toBe(1);
  });

  it('with the same id and other white space have the same value and other bytes', () => {
    const [first, second] = sent('same-id-other-layout').flat();
    expect(second?.value).toEqual(first?.value);
    expect(second?.text).not.toBe(first?.text);
  });

  it('have different ids when only the data or the second is the same', () => {
    const [first, second] = sent('other-id-same-data').flat();
    expect(second?.value.data).toEqual(first?.value.data);
    expect(second?.value.id).not.toBe(first?.value.id);
    const [created, pending] = sent('same-second').flat();
    expect(pending?.value).toMatchObject({
      at: created?.value.at,
      data: { transactionId: created?.value.data.transactionId },
    });
    expect(pending?.value.id).not.toBe(created?.value.id);
  });
});

describe('related deliveries', () => {
  it('are sent in the order of their scenario ids', () => {
    expect({
      'order-in-turn': states('order-in-turn'),
      'hash-follows': states('hash-follows'),
      'hash-before': states('hash-before'),
      'order-reversed': states('order-reversed'),
      'order-all-at-once': states('order-all-at-once'),
      refund: states('refund'),
      'refund-failed': states('refund-failed'),
      'refund-first': states('refund-first'),
      'refund-again': states('refund-again'),
      'late-after-failure': states('late-after-failure'),
      onboarding: states('onboarding'),
      'staged-then-declined': states('staged-then-declined'),
    }).toEqual({
      'order-in-turn': [
        ['CAAS BUY CREATED'],
        ['CAAS BUY PENDING'],
        ['CAAS BUY BLOCKCHAIN_ACCEPTED'],
        ['CAAS BUY CONFIRMED'],
        ['CAAS BUY COMPLETED'],
      ],
      'hash-follows': [['CAAS BUY BLOCKCHAIN_ACCEPTED'], ['CAAS BUY BLOCKCHAIN_ACCEPTED']],
      'hash-before': [['CAAS BUY CONFIRMED'], ['CAAS BUY BLOCKCHAIN_ACCEPTED']],
      'order-reversed': [
        ['CAAS BUY COMPLETED'],
        ['CAAS BUY BLOCKCHAIN_ACCEPTED'],
        ['CAAS BUY PENDING'],
        ['CAAS BUY CREATED'],
      ],
      'order-all-at-once': [
        ['CAAS BUY CREATED', 'CAAS BUY PENDING', 'CAAS BUY BLOCKCHAIN_ACCEPTED', 'CAAS BUY CONFIRMED'],
      ],
      refund: [['CAAS SELL FAILED'], ['REFUND SUCCESS']],
      'refund-failed': [['CAAS SELL FAILED'], ['REFUND FAIL']],
      'refund-first': [['REFUND SUCCESS'], ['CAAS SELL FAILED']],
      'refund-again': [['CAAS SELL PENDING'], ['REFUND FAIL'], ['REFUND SUCCESS']],
      'late-after-failure': [['CAAS SELL FAILED'], ['CAAS SELL PENDING']],
      onboarding: [['WALLET WALLET_CREATED', 'WALLET WALLET_CREATED', 'WALLET WALLET_CREATED']],
      'staged-then-declined': [['PAYMENT_METHOD STAGED'], ['PAYMENT_METHOD DECLINED'], ['PAYMENT_METHOD STAGED']],
    });
  });

  it('share their references and have different ids', () => {
    const about = (id: string, field: string) =>
      new Set(
        sent(id)
          .flat()
          .map(({ value }) => value.data[field]),
      ).size;
    for (const id of [
      'order-in-turn',
      'sell-in-turn',
      'hash-follows',
      'refund',
      'refund-failed',
      'refund-first',
      'refund-again',
      'cash-step',
      'late-after-failure',
      'older-after-newer',
    ]) {
      expect([id, about(id, 'transactionId')]).toEqual([id, 1]);
    }
    expect(about('onboarding', 'customerId')).toBe(1);
    expect(about('onboarding', 'walletAddress')).toBe(3);
    expect(about('wallets-at-one-address', 'customerId')).toBe(1);
    expect(about('wallets-at-one-address', 'walletAddress')).toBe(1);
    expect(about('wallets-at-one-address', 'chain')).toBe(2);
    expect(about('staged-then-declined', 'paymentMethodId')).toBe(1);
    expect(about('deposit-in-turn', 'partnerTransactionId')).toBe(1);
    expect(about('two-deposits', 'customerId')).toBe(1);
    expect(about('two-deposits', 'partnerTransactionId')).toBe(4);
    expect(
      new Set(
        sent('order-in-turn')
          .flat()
          .map(({ value }) => value.id),
      ).size,
    ).toBe(5);
  });

  it('bring the hash with the second notification', () => {
    const hashes = sent('hash-follows')
      .flat()
      .map(({ text }) => /"blockchainTransactionId":"([^"]*)"/.exec(text)?.[1]);
    expect(hashes).toEqual(['', expect.stringMatching(/^0x[0-9a-f]{64}$/)]);
  });
});

describe('poisoned ids', () => {
  const poisoned = flows.filter(({ id }) => id.startsWith('delivery/poisoned-'));

  it('are used by an invalid delivery and then by the valid one', () => {
    expect(poisoned).toHaveLength(10);
    for (const { id } of poisoned) {
      const deliveries = sent(id.slice('delivery/'.length)).flat();
      const [bad, right] = [deliveries[0], deliveries.at(-1)];
      expect([id, bad?.value.id]).toEqual([id, right?.value.id]);
      expect(right?.value.data).toMatchObject({ metadata: { orderStatus: 'COMPLETED' } });
    }
  });
});

describe('a forgery concurrent with the valid notification', () => {
  it('has the same id and other content', () => {
    const [[right, forged] = []] = sent('forged-beside-right');
    expect(forged?.value.id).toBe(right?.value.id);
    expect(forged?.text).not.toBe(right?.text);
  });
});

describe('deliveries on a used connection', () => {
  it('are plain valid ones, in sequence, so that they share a connection', () => {
    const after = flows.filter(({ id }) => id.startsWith('delivery/after-'));
    expect(after).toHaveLength(4);
    for (const { id } of after) {
      expect([id, shape(id.slice('delivery/'.length))]).toEqual([id, [1, 1]]);
      const right = sent(id.slice('delivery/'.length)).at(-1)?.[0];
      expect(right?.value.data).toMatchObject({ type: 'BUY', metadata: { orderStatus: 'COMPLETED' } });
    }
  });

  it('are much shorter than the long one', () => {
    const [long, short] = sent('after-long').flat();
    expect(long?.text.length).toBeGreaterThan(8192);
    expect(short?.text.length).toBeLessThan(2000);
  });
});

describe('availability', () => {
  const observe = (...outages: RunObservations['outages']): Observation => {
    const one = deliverySuite.scenarios.find(({ id }) => id === 'delivery/stays-up');
    if (one === undefined || !('observe' in one)) throw new Error('no observation');
    return one.observe({ answerTimesMs: [], leaks: [], failedControls: [], outages });
  };
  const sign = 'no answer: the connection was refused';

  it('passes without an outage', () => {
    expect(observe()).toEqual({ verdict: 'pass', observed: 'no outage', reason: '' });
  });

  it('fails and names the cause, whether the endpoint recovered or not', () => {
    const outage = {
      inFlight: ['malformed/null', 'malformed/array'],
      culprit: 'malformed/null',
      recovered: true,
      sign,
      looksDead: true,
    };
    expect(observe(outage)).toEqual({
      verdict: 'fail',
      observed: `1 outage: ${sign}`,
      reason: 'the endpoint stopped answering because of malformed/null',
      repeats: ['malformed/null'],
    });
    expect(observe({ ...outage, culprit: null }, outage, { ...outage, culprit: 'malformed/empty' })).toEqual({
      verdict: 'fail',
      observed: `3 outages, the first: ${sign}`,
      reason: 'the endpoint stopped answering because of malformed/null, malformed/empty',
      repeats: ['malformed/null', 'malformed/empty'],
    });
  });

  it('fails when the endpoint stays down, and reports what was in flight', () => {
    expect(
      observe({ inFlight: ['malformed/null', 'http/burst'], culprit: null, recovered: false, sign, looksDead: true }),
    ).toMatchObject({
      verdict: 'fail',
      reason: expect.stringContaining('deliveries in flight: malformed/null, http/burst'),
    });
  });

  it('names what was answered shortly before a receiver went down for good', () => {
    const outage = { inFlight: ['http/burst'], recent: ['valid/plain'], recovered: false, sign, looksDead: true };
    for (const culprit of [null, 'http/burst']) {
      expect(observe({ ...outage, culprit })).toMatchObject({
        reason: expect.stringContaining('or because of work for the delivery answered in the second before'),
        repeats: ['http/burst', 'valid/plain'],
      });
    }
  });

  it('is inconclusive when only the network or a gateway seems to be down', () => {
    const outage = { inFlight: ['http/burst'], culprit: null, recovered: false, sign, looksDead: false };
    expect(observe(outage).verdict).toBe('inconclusive');
    expect(observe({ ...outage, looksDead: true }).verdict).toBe('fail');
  });

  it('is inconclusive without a cause when the endpoint recovered or may be unreachable', () => {
    expect(observe({ inFlight: ['http/burst'], culprit: null, recovered: true, sign, looksDead: true }).verdict).toBe(
      'inconclusive',
    );
    expect(
      observe({
        inFlight: [],
        culprit: null,
        recovered: false,
        sign: 'no answer: the name does not resolve',
        looksDead: false,
      }).verdict,
    ).toBe('inconclusive');
  });
});
