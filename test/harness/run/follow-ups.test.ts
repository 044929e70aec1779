import { describe, expect, it } from 'vitest';
import { judge } from '../../../harness/judge/index.ts';
import type { Assembled } from '../../../harness/run/assemble.ts';
import type { Lane } from '../../../harness/run/lane.ts';
import { isSending, planScenarios } from '../../../harness/run/plan.ts';
import { tryScenario } from '../../../harness/run/trial.ts';
import type { Attempt } from '../../../harness/transport/index.ts';
import { clientMaterial } from '../../certs/client-material.ts';
import { answered, contextOf, partnerAt } from './parts.ts';

const CLIENT = await clientMaterial('right');

/** Tries one scenario. Returns its judgement and the requests other than the plain valid one. */
async function play(id: string, answer: (request: Assembled['prepared'], raw: Buffer | null) => Attempt) {
  const partner = { ...partnerAt(), tls: { clientCert: CLIENT.cert } };
  const selection = { suites: [], scenarios: [id], greps: [], shard: null };
  const features = ['hmac', 'api-key', 'https', 'mtls'] as const;
  const [planned] = planScenarios({ features, isExposed: false }, selection).filter(isSending);
  const context = contextOf(partner);
  const forged: Assembled['prepared'][] = [];
  const ids: unknown[] = [];
  const lane: Lane = {
    send: async ({ prepared, change, raw, value }) => {
      if (Object.keys(change).length === 0) return answered(200);
      forged.push(prepared);
      ids.push((value as { id?: unknown } | null)?.id);
      return answer(prepared, raw);
    },
    close: () => {},
  };
  const trial = await tryScenario(context, lane, planned!, null);
  const { failedControls } = context.facts.seen;
  return { forged, sent: forged.length, ids, failedControls, ...judge('must', trial) };
}

const has = ({ headers }: Assembled['prepared'], name: string) => headers.some(([other]) => other === name);

describe('the hints of one delivery', () => {
  const id = 'signature/unsigned-skip-headers';

  it('are not sent one by one when the delivery is rejected', async () => {
    const { forged, verdict } = await play(id, () => answered(401));
    expect([forged.length, verdict]).toEqual([1, 'pass']);
  });

  it('are sent one by one after an acceptance until one is accepted, which is named', async () => {
    const { forged, verdict, delivery } = await play(id, (request) =>
      answered(has(request, 'X-Test-Mode') ? 200 : 401),
    );
    expect([verdict, delivery]).toEqual(['fail', 'X-Test-Mode: true']);
    const withTheOne = forged.filter((request) => has(request, 'X-Test-Mode'));
    expect([withTheOne.length, forged.at(-1)]).toEqual([2, withTheOne[1]]);
  });

  it('fail together when none of them is enough', async () => {
    const { verdict, delivery } = await play(id, (request) =>
      answered(has(request, 'X-Test-Mode') && has(request, 'X-Bypass') ? 200 : 401),
    );
    expect([verdict, delivery]).toEqual(['fail', 'probe']);
  });
});

describe('another URL', () => {
  const id = 'signature/unsigned-query-skip';

  it('may serve a page to every request', async () => {
    const { forged, verdict, decidedBy } = await play(id, () => answered(200, '<h1>Welcome, visitor 7</h1>'));
    expect([forged.length, verdict, decidedBy]).toEqual([3, 'pass', 'allowed-answer']);
  });

  it.each([
    ['a random path answers differently', (request: Assembled['prepared']) => request.target.includes('hooks')],
    ['a request without a body answers differently', (request: Assembled['prepared']) => request.body.length > 0],
  ])('fails when %s', async (_name, isAccepted) => {
    const { verdict, decidedBy } = await play(id, (request) => answered(isAccepted(request) ? 200 : 404));
    expect([verdict, decidedBy]).toEqual(['fail', 'forgery-accepted']);
  });

  it('passes with a redirect', async () => {
    expect((await play(id, () => answered(301))).verdict).toBe('pass');
  });
});

it.each([
  [200, 'pass', 'allowed-answer'],
  [401, 'fail', 'forgery-accepted'],
])(
  'distinguishes a server that folds all header names (%i) from a receiver that reads two',
  async (status, verdict, by) => {
    const id = 'signature/in-underscore-name';
    const found = await play(id, (request) => answered(has(request, 'X_API_Key') ? status : 200));
    expect([found.verdict, found.decidedBy]).toEqual([verdict, by]);
  },
);

it('allows a page for GET, but not the acceptance of a notification', async () => {
  const id = 'signature/missing-by-get';
  expect((await play(id, () => answered(200, 'The webhook is running.'))).verdict).toBe('pass');
  expect((await play(id, ({ body }) => answered(body.length > 0 ? 200 : 400))).verdict).toBe('fail');
});

it('compares a huge Content-Length with a small one after a 5xx, and says nothing when both get it', async () => {
  const id = 'http/content-length-huge';
  const play500 = (isBroken: (raw: string) => boolean) =>
    play(id, (_request, raw) => answered(isBroken(raw?.toString('latin1') ?? '') ? 500 : 400));
  const always = await play500(() => true);
  expect([always.sent, always.verdict, always.decidedBy]).toEqual([2, 'pass', 'allowed-answer']);
  const allocating = await play500((raw) => /Content-Length: \d{9}/.test(raw));
  expect([allocating.sent, allocating.verdict]).toEqual([2, 'fail']);
  expect((await play500(() => false)).sent).toBe(1);
});

describe('a valid delivery that is rejected', () => {
  const id = 'valid/sell-completed';

  it('is sent again with another id, and is intermittent when it is accepted then', async () => {
    let requests = 0;
    const { sent, ids, verdict, decidedBy, failedControls } = await play(id, () =>
      answered(++requests === 1 ? 500 : 200),
    );
    expect([sent, new Set(ids).size, verdict, decidedBy]).toEqual([2, 2, 'inconclusive', 'intermittent']);
    expect(failedControls).toEqual([{ scenario: id, observed: '500', recovered: true, outcome: '500', isProbe: true }]);
  });

  it('is sent again with a new transaction, which a receiver that has stored the first one does not know', async () => {
    const stored = new Set<string>();
    const { verdict } = await play(id, ({ body }) => {
      const { transactionId } = JSON.parse(Buffer.from(body).toString()).data;
      if (stored.has(transactionId)) return answered(200);
      stored.add(transactionId);
      return answered(500);
    });
    expect([verdict, stored.size]).toEqual(['fail', 2]);
  });

  it('is rejected when it is rejected again', async () => {
    const { sent, verdict, failedControls } = await play(id, () => answered(500));
    expect([sent, verdict, failedControls]).toEqual([2, 'fail', []]);
  });

  it('is not sent again where deliveries depend on each other, or after an allowed rejection', async () => {
    expect((await play('delivery/twice', () => answered(409))).sent).toBe(2);
    expect((await play('malformed/null', () => answered(500))).sent).toBe(1);
    expect((await play('http/header-non-ascii', () => answered(400))).sent).toBe(1);
  });
});

describe('headers that claim a client certificate', () => {
  const id = 'mtls/forged-headers';

  it('are not sent again after the handshake was refused', async () => {
    const error = { kind: 'tls', phase: 'tls', code: 'ERR', message: '', alert: 'certificate_required' } as const;
    const { forged, verdict } = await play(id, () => ({ ...answered(401), answer: null, error }));
    expect([forged.length, verdict]).toEqual([1, 'pass']);
  });

  it('are narrowed to those of a product where it needs two of them', async () => {
    const { verdict, delivery } = await play(id, ({ headers }) => {
      const values = new Map(headers);
      return answered(values.get('X-SSL') === '1' && values.get('X-SSL-Client-Verify') === '0' ? 200 : 401);
    });
    expect([verdict, delivery]).toEqual(['fail', 'the headers of nginx, Apache, HAProxy and OpenShift']);
  });

  it('are not the reason where the delivery is accepted without them', async () => {
    const { verdict, delivery } = await play(id, () => answered(200));
    expect([verdict, delivery]).toEqual(['fail', 'headers that claim a client certificate (PEM, percent-encoded)']);
  });
});

describe('headers that name an open path', () => {
  const id = 'signature/unsigned-open-paths';
  const pathIn = ({ headers }: Assembled['prepared']) => new Map(headers).get('X-Original-URL') ?? '';

  it('may lead to a page', async () => {
    const found = await play(id, (request) =>
      pathIn(request) === '/' ? answered(200, '<h1>Welcome</h1>') : answered(401),
    );
    expect(found.verdict).toBe('pass');
  });

  it('fail where a delivery is accepted, also without a body', async () => {
    const found = await play(id, (request) => {
      if (pathIn(request) !== '/metrics') return answered(401);
      return request.method === 'POST' ? answered(200) : answered(405);
    });
    expect([found.verdict, found.delivery]).toEqual(['fail', 'X-Original-URL: /metrics']);
  });
});

describe('answers that differ where they should not', () => {
  const id = 'leaks/uniform-across-checks';

  it('are compared again, and a difference that comes and goes is none', async () => {
    let requests = 0;
    // The first of four is valid, and the third reaches a different process from the others.
    const { sent, verdict } = await play('leaks/known-id', () => {
      requests += 1;
      return requests % 4 === 1 ? answered(200) : answered(401, `worker ${requests === 3 ? 'beta' : 'alpha'}`);
    });
    expect([sent, verdict]).toEqual([8, 'pass']);
  });

  it('fail when they differ each time', async () => {
    const { forged, decidedBy } = await play(id, (request) =>
      answered(has(request, 'X-Service-Signature') ? 401 : 400),
    );
    expect([forged.length, decidedBy]).toEqual([15, 'answers-differ']);
  });

  it('are sent once when only their texts differ, and these need not be the same', async () => {
    const { forged, verdict } = await play(id, (request) =>
      answered(401, has(request, 'X-Service-Signature') ? 'wrong' : 'missing'),
    );
    expect([forged.length, verdict]).toEqual([5, 'pass']);
  });

  it('are sent once when they are the same', async () => {
    const { forged, verdict } = await play(id, () => answered(401, 'no'));
    expect([forged.length, verdict]).toEqual([5, 'pass']);
  });
});
