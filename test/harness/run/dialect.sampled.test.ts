/** Receivers that use statuses other than 200 and 401: every check is judged, with one finding for each status. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { run } from '../../../harness/run/index.ts';
import { CATALOGUE } from '../../../scenarios/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { bodyOf, hmacOf } from '../../endpoints/verifying.ts';

const SECRET = randomBytes(32).toString('base64');
const API_KEY = randomBytes(24).toString('base64url');

interface Statuses {
  readonly accepts?: number;
  /** The status for invalid and missing signatures. */
  readonly rejects?: number;
  readonly rejectsKey?: number;
  readonly malformed?: number;
  /** Set if a request without a signature is accepted. */
  readonly lenient?: boolean;
  /** The status for a missing signature. */
  readonly missing?: number;
}

/** Creates a receiver that is correct except for its statuses and for `lenient`. */
function speaking(statuses: Statuses): RequestListener {
  const { accepts = 200, rejects = 401, rejectsKey = rejects, malformed = 400, lenient = false } = statuses;
  const statusFor = (request: IncomingMessage, body: Buffer) => {
    const given = request.headers['x-service-signature'];
    if (given === undefined ? !lenient : given !== hmacOf(SECRET, body).toString('base64')) {
      return given === undefined ? (statuses.missing ?? rejects) : rejects;
    }
    if (request.headers['x-api-key'] !== API_KEY) return rejectsKey;
    try {
      const value: unknown = JSON.parse(body.toString('utf8'));
      return typeof value === 'object' && value !== null && 'id' in value ? accepts : malformed;
    } catch {
      return malformed;
    }
  };
  return (request, response) =>
    void bodyOf(request).then(
      (body) => response.writeHead(statusFor(request, body)).end(),
      () => request.destroy(),
    );
}

type Selection = NonNullable<Parameters<typeof run>[0]['selection']>;

async function runAgainst(listener: RequestListener, selection: Selection) {
  const endpoint = await serve(listener);
  onTestFinished(endpoint.close);
  const document = await run({
    partner: { url: endpoint.url, signing: { secret: SECRET }, apiKey: { value: API_KEY } },
    selection,
    limits: { timeoutMs: 5000, recoveryMs: 500 },
  });
  const of = (verdict: string) => document.results.filter((result) => result.verdict === verdict).map(({ id }) => id);
  return { document, of, results: new Map(document.results.map((result) => [result.id, result])) };
}

const SUITES = ['valid', 'signature', 'api-key', 'combination', 'raw-body', 'malformed'];
/** The checks that these tests name, and the one that shows the status for malformed payloads. */
const NAMED = [
  ...['valid/plain', 'signature/status', 'api-key/status', 'signature/missing'],
  ...['malformed/unsigned-json', 'malformed/truncated'],
];
/** All checks of these suites, or every tenth of them. */
const CHECKS: Selection = inject('whole')
  ? { suites: SUITES }
  : {
      scenarios: CATALOGUE.filter(({ name }) => SUITES.includes(name))
        .flatMap(({ scenarios }) => scenarios.map(({ id }) => id))
        .filter((id, at) => at % 10 === 0 || NAMED.includes(id)),
    };

describe('a receiver with other statuses', () => {
  it.each<[string, Statuses, string[]]>([
    ['202 to valid deliveries', { accepts: 202 }, ['valid/plain']],
    ['204 to valid deliveries', { accepts: 204 }, ['valid/plain']],
    ['400 to forged deliveries', { rejects: 400, malformed: 422 }, ['signature/status', 'api-key/status']],
    ['403 to forged deliveries', { rejects: 403 }, ['signature/status', 'api-key/status']],
    ['404 to forged deliveries', { rejects: 404 }, ['signature/status', 'api-key/status']],
    ['500 to forged deliveries', { rejects: 500 }, ['signature/status', 'api-key/status']],
    ['403 to invalid API keys only', { rejectsKey: 403 }, ['api-key/status']],
    [
      '202 to valid and 403 to forged deliveries',
      { accepts: 202, rejects: 403 },
      ['valid/plain', 'signature/status', 'api-key/status'],
    ],
  ])('answers %s: judged to the end with one failure for each status', async (_name, statuses, failures) => {
    const { document, of } = await runAgainst(speaking(statuses), CHECKS);
    expect(of('fail')).toEqual(failures);
    expect(of('inconclusive')).toEqual([]);
    expect(document.judged).toBe(document.planned);
  });

  it('is inconclusive about the order of its checks when all rejections look alike', async () => {
    const { of, results } = await runAgainst(speaking({ rejects: 400, malformed: 400 }), CHECKS);
    expect(of('fail')).toEqual(['signature/status', 'api-key/status']);
    const undecided = of('inconclusive');
    expect(undecided).toContain('malformed/unsigned-json');
    expect(new Set(undecided.map((id) => results.get(id)?.decidedBy))).toEqual(new Set(['statuses-alike']));
  });

  it('still fails for its other fault', async () => {
    const { of, results } = await runAgainst(speaking({ accepts: 202, rejects: 403, lenient: true }), {
      suites: ['signature'],
    });
    expect(of('fail').slice(0, 1)).toEqual(['signature/missing']);
    expect(results.get('signature/missing')).toMatchObject({
      observed: '202',
      outcome: '200',
      decidedBy: 'forgery-accepted',
      answered: { class: 'accepted', status: 202 },
    });
    expect(results.get('signature/status')).toMatchObject({ verdict: 'fail', observed: '403', expected: '401' });
    expect(results.get('signature/other-secret')?.verdict).toBe('pass');
  });

  it('has one failure for the status of missing credentials', async () => {
    const { document, of, results } = await runAgainst(speaking({ missing: 403 }), CHECKS);
    expect(of('fail')).toEqual(['signature/status']);
    expect(results.get('signature/status')).toMatchObject({ observed: '403', outcome: 'missing-403' });
    expect(document.diagnosis[0]).toMatchObject({
      fault: 'missing-signature-is-403',
      title: 'Rejects a missing signature with 403 instead of 401',
    });
  });

  it('fails the check of a delivery without the signature that it accepts', async () => {
    const { of } = await runAgainst(speaking({ lenient: true }), { suites: ['signature'] });
    expect(of('fail')).toContain('signature/missing');
    expect(of('fail')).not.toContain('signature/status');
  });
});

describe('a selection', () => {
  it('reports the wrong status of accepted deliveries that it did not select', async () => {
    const { document, of } = await runAgainst(speaking({ accepts: 204 }), { scenarios: ['raw-body/spaces'] });
    expect([of('pass'), of('fail')]).toEqual([['raw-body/spaces'], ['valid/plain']]);
    expect([document.planned, document.judged]).toEqual([2, 2]);
  });

  it('reports the wrong status of rejections that it did not select', async () => {
    const { of } = await runAgainst(speaking({ rejects: 403 }), { scenarios: ['signature/secret-null'] });
    expect([of('pass'), of('fail')]).toEqual([['signature/secret-null'], ['signature/status']]);
  });

  it.each([
    [403, 'fail'],
    [401, 'pass'],
  ])('of the check for the status alone has a verdict for %d', async (rejects, verdict) => {
    const { of } = await runAgainst(speaking({ rejects }), { scenarios: ['signature/status'] });
    expect(of(verdict)).toEqual(['signature/status']);
  });

  it('sends no forgery when it contains none', async () => {
    let forged = 0;
    const listener = speaking({});
    await runAgainst(
      (request, response) => {
        response.on('close', () => void (response.statusCode === 401 && forged++));
        listener(request, response);
      },
      { scenarios: ['raw-body/spaces'] },
    );
    expect(forged).toBe(0);
  });
});

describe('a receiver that answers 202 to everything', () => {
  it('is judged on every check, and reported to verify nothing', async () => {
    const everything: RequestListener = (request, response) =>
      void bodyOf(request).then(
        () => response.writeHead(202).end(),
        () => request.destroy(),
      );
    const { document, results } = await runAgainst(everything, CHECKS);
    expect(document.judged).toBe(document.planned);
    expect(document.diagnosis[0]?.fault).toBe('accepts-everything');
    expect(results.get('valid/plain')).toMatchObject({ verdict: 'fail', outcome: '202' });
    expect(results.get('signature/status')?.verdict).toBe('inconclusive');
  });
});
