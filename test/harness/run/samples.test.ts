/** Receivers that look ids up, and samples that they know. */
import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Partner } from '../../../harness/partner.ts';
import { run } from '../../../harness/run/index.ts';
import { ownersOf, SAMPLE_KINDS, type SampleKind } from '../../../scenarios/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { hmacOf } from '../../endpoints/verifying.ts';

const SECRET = randomBytes(32).toString('base64');

/** The fields of `data` that are ids, by what they belong to. */
const FIELDS: Readonly<Record<string, SampleKind>> = {
  transactionId: 'transaction',
  partnerTransactionId: 'transaction',
  customerId: 'customer',
  accountId: 'account',
  paymentMethodId: 'payment-method',
  providerId: 'provider',
};

function idsOf(kind: SampleKind, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `known-${kind}-${at + 1}`);
}

/** Looks every id up that it finds, after the signature, and wants the field `data.tenant`. */
const lookingUp: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  const reply = (status: number) => void response.writeHead(status).end();
  request.on('error', () => {});
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (request.headers['x-service-signature'] !== hmacOf(SECRET, body).toString('base64')) return reply(401);
    try {
      const { data } = JSON.parse(body.toString('utf8')) as { data: Record<string, unknown> };
      const unknown = Object.entries(FIELDS).filter(
        ([field, kind]) => field in data && !String(data[field]).startsWith(`known-${kind}-`),
      );
      return reply(unknown.length > 0 ? 404 : data.tenant === 'acme' ? 200 : 422);
    } catch {
      return reply(400);
    }
  });
};

async function runWith(samples: Partner['samples'], suites = ['valid', 'typo-key', 'delivery']) {
  const { url, close } = await serve(lookingUp);
  onTestFinished(close);
  const partner = { url, signing: { secret: SECRET }, ...(samples && { samples }) };
  const document = await run({ partner, selection: { suites }, limits: { timeoutMs: 5000 } });
  const of = (...verdicts: string[]) => document.results.filter(({ verdict }) => verdicts.includes(verdict));
  return { document, of };
}

const fields = [['data.tenant', 'acme']] as const;
const enough = Object.fromEntries(SAMPLE_KINDS.map((kind) => [kind, idsOf(kind, ownersOf(kind).length + 1)]));

describe('a receiver that looks its ids up', () => {
  it('is clean with samples that it knows', async () => {
    const { of } = await runWith({ ids: enough, fields });
    expect(of('fail', 'inconclusive', 'harness-error').map(({ id, reason }) => `${id}: ${reason}`)).toEqual([]);
    const unknown = of('pass').find(({ id }) => id === 'delivery/unknown-transaction');
    expect(unknown?.reason).toMatch(/^answered 404, which is allowed/);
  });

  it('gets a finding that names the setting when it knows none of the samples', async () => {
    const { document, of } = await runWith(undefined);
    expect(of('fail').map(({ id }) => id)).toEqual(['valid/plain']);
    expect(document.diagnosis.map(({ fix }) => fix).join()).toContain('`samples`');
  });

  it('has no conclusion for checks that need an id of their own when a list is too short', async () => {
    const { of } = await runWith({ ids: { ...enough, transaction: idsOf('transaction', 3) }, fields }, ['delivery']);
    expect(of('fail', 'harness-error')).toEqual([]);
    const lacking = of('inconclusive');
    expect(lacking.map(({ id }) => id).toSorted()).toEqual(ownersOf('transaction').slice(2).toSorted());
    expect(lacking[0]).toMatchObject({ decidedBy: 'samples-too-short' });
    expect(lacking[0]?.reason).toBe(
      `the list of samples for \`transaction\` has 3 ids; this check needs one that no other check uses, and ` +
        `${ownersOf('transaction').length + 1} are enough for all checks`,
    );
  });
});
