/** The meaning of an answer in the dialect of an endpoint that uses statuses other than those of the specification. */
import { describe, expect, it } from 'vitest';
import {
  type Credential,
  type Dialect,
  isPlainForgery,
  judge,
  missingRejection,
  PLAIN_FORGERIES,
  PREFLIGHT_SCENARIO,
  STANDARD,
  STATUS_SCENARIOS,
  usualRejection,
} from '../../../harness/judge/index.ts';
import {
  accepted,
  acceptedOrLimited,
  acceptedUnlessStrict,
  contentAcceptedOrRejected,
  documentAcceptedOrRejected,
  handled,
  refused,
  refusedInAnotherShape,
  refusedMalformed,
} from '../../../scenarios/expectations.ts';
import { CATALOGUE, type Expectation } from '../../../scenarios/index.ts';
import { answer, evidence, failure, probe } from './attempts.ts';

const dialect = (usual: number, more: Partial<Dialect> = {}): Dialect => ({
  ...STANDARD,
  rejects: { signature: usual, 'api-key': 401 },
  missing: { signature: usual, 'api-key': 401 },
  ...more,
});

function judged(expectation: Expectation, status: number, spoken: Dialect, credentials: Credential[] = ['signature']) {
  const attempt = answer(status);
  const judgement = judge('must', evidence([probe(expectation, attempt)], { dialect: spoken, credentials }));
  const { verdict, decidedBy, outcome, answered } = judgement;
  return [verdict, decidedBy, outcome, answered?.class];
}

describe('what shows the dialect', () => {
  it('are checks of the catalogue that send what they are used for', () => {
    const known = new Map(CATALOGUE.flatMap(({ scenarios }) => scenarios.map((scenario) => [scenario.id, scenario])));
    const named = [PREFLIGHT_SCENARIO, ...Object.values(STATUS_SCENARIOS), ...Object.values(PLAIN_FORGERIES).flat()];
    expect(named.filter((id) => !known.has(id))).toEqual([]);
    expect(named).toHaveLength(9);
    for (const credential of ['signature', 'api-key'] as const) {
      expect([STATUS_SCENARIOS[credential], ...PLAIN_FORGERIES[credential]].map((id) => id.split('/')[0])).toEqual(
        Array.from({ length: 4 }, () => credential),
      );
      expect(STANDARD.missing[credential]).toBe(401);
    }
  });
});

describe('the status of a missing credential', () => {
  it.each([
    [403, answer(400), 400],
    [403, answer(302), 302],
    [401, answer(401), 401],
    // This status does not reject a credential.
    [403, answer(429), 403],
    [403, answer(500), 403],
    [403, answer(200), 403],
    [403, failure('reset'), 403],
    [403, undefined, 403],
  ])('is usually %i; the delivery without it decides (%#)', (usual, delivery, status) => {
    expect(missingRejection(usual, delivery)).toBe(status);
  });
});

describe('an endpoint that accepts with another 2xx', () => {
  const created = dialect(401, { accepts: 202 });

  it('accepts with it, and with 200', () => {
    expect(judged(accepted, 202, created)).toEqual(['pass', 'expected-answer', '200', 'accepted']);
    expect(judged(accepted, 200, created)).toEqual(['pass', 'expected-answer', '200', 'accepted']);
  });

  it.each([200, 202, 204])('fails when it accepts a forgery with %d', (status) => {
    expect(judged(refused, status, created)).toEqual(['fail', 'forgery-accepted', '200', 'accepted']);
  });

  it('fails when only this delivery gets another 2xx', () => {
    expect(judged(accepted, 202, STANDARD)).toEqual(['fail', 'other-2xx', '202', 'accepted']);
  });
});

describe('an endpoint with the statuses of the specification', () => {
  it.each(['signature', 'api-key'] as const)('rejects an invalid %s with exactly 401', (credential) => {
    expect(judged(refused, 403, STANDARD, [credential])).toEqual(['fail', 'wrong-status', '403', 'rejected']);
  });
});

describe('an endpoint that rejects with another status', () => {
  it.each([302, 400, 403, 404, 500])('rejects forgeries with %d', (status) => {
    expect(judged(refused, status, dialect(status))).toEqual(['pass', 'expected-answer', '401', 'rejected']);
    expect(judged(refused, 401, dialect(status))).toEqual(['pass', 'expected-answer', '401', 'rejected']);
  });

  it('may reject some forgeries with a further 3xx or 4xx', () => {
    expect(judged(refused, 422, dialect(400))[0]).toBe('pass');
    expect(judged(refused, 429, dialect(400))[0]).toBe('inconclusive');
  });

  it('crashes on a forgery that gets another 5xx', () => {
    expect(judged(refused, 502, dialect(500))).toEqual(['fail', 'wrong-status', '502', 'crashed']);
    expect(judged(refused, 500, dialect(403))).toEqual(['fail', 'wrong-status', '500', 'crashed']);
  });

  it('fails when it accepts a forgery', () => {
    expect(judged(refused, 200, dialect(403))).toEqual(['fail', 'forgery-accepted', '200', 'accepted']);
    expect(judged(refusedInAnotherShape, 201, dialect(500))[1]).toBe('forgery-accepted');
  });

  it('rejects requests of another shape with its usual 5xx', () => {
    expect(judged(refusedInAnotherShape, 500, dialect(500))[0]).toBe('pass');
    expect(judged(refusedInAnotherShape, 500, dialect(403))[0]).toBe('warn');
  });

  it('fails with the outcome 401 when it rejects a valid delivery', () => {
    expect(judged(accepted, 404, dialect(404))).toEqual(['fail', 'valid-rejected', '401', 'rejected']);
    // It is unknown whether the credentials or the payload were rejected.
    const unclear = dialect(400, { malformed: 400 });
    expect(judged(accepted, 400, unclear)).toEqual(['fail', 'wrong-status', '400', 'rejected']);
    expect(judged(accepted, 400, dialect(404))).toEqual(['fail', 'wrong-status', '400', 'rejected']);
    expect(judged(accepted, 500, dialect(500))).toEqual(['fail', 'wrong-status', '500', 'rejected']);
  });

  it.each([
    ['expected', acceptedOrLimited, 413, ['pass', 'expected-answer', '413', 'rejected']],
    ['allowed', contentAcceptedOrRejected, 422, ['pass', 'allowed-answer', '422', 'rejected']],
    ['discouraged', acceptedUnlessStrict, 422, ['warn', 'discouraged-answer', '422', 'rejected']],
  ] as const)('may use its usual status where it is %s', (_name, expectation, status, wanted) => {
    expect(judged(expectation, status, dialect(status))).toEqual(wanted);
  });

  it('may use its usual status for malformed payloads, except a 5xx', () => {
    expect(judged(handled, 400, dialect(400, { malformed: 400 }))[0]).toBe('pass');
    expect(judged(documentAcceptedOrRejected, 400, dialect(400, { malformed: 400 }))[0]).toBe('pass');
    expect(judged(handled, 500, dialect(500, { malformed: 500 }))[1]).toBe('crash');
  });

  it('uses the status of the other credential for that one only', () => {
    expect(judged(refused, 403, dialect(403), ['api-key'])[0]).toBe('fail');
    expect(judged(refused, 403, dialect(403), ['signature', 'api-key'])[0]).toBe('pass');
  });
});

describe('the order of the stages', () => {
  it.each([
    ['is correct when the status is that of a rejection', dialect(403, { malformed: 400 }), 403, 'pass'],
    ['is wrong when the status is that of a malformed payload', dialect(403, { malformed: 400 }), 400, 'warn'],
    ['cannot be seen when both have the same status', dialect(400, { malformed: 400 }), 400, 'inconclusive'],
    ['is correct when the status is 401', dialect(401, { malformed: 401 }), 401, 'pass'],
    ['does not matter for an acceptance', dialect(400, { malformed: 400 }), 200, 'fail'],
  ] as const)('%s', (_name, spoken, status, verdict) => {
    expect(judged(refusedMalformed, status, spoken)[0]).toBe(verdict);
  });

  it('has no conclusion, with the reason and the status as it was sent', () => {
    const both = { dialect: dialect(400, { malformed: 400 }), credentials: ['signature'] as const };
    expect(judge('must', evidence([probe(refusedMalformed, answer(400))], both))).toMatchObject({
      decidedBy: 'statuses-alike',
      outcome: '400',
      reason:
        'answered 400, the status of both forged and malformed deliveries, so the order of the checks cannot be seen',
    });
  });
});

describe('the usual status of a rejection', () => {
  it.each([
    ['401 when any forgery gets it', [400, 401, 500], 401],
    ['the first 3xx or 4xx', [500, 403, 400], 403],
    ['a 5xx that all forgeries get', [500, 500, 500], 500],
    ['401 when one of two crashes', [500, 500], 401],
    ['401 when different 5xx come', [500, 502, 500], 401],
    ['401 when the endpoint is unavailable', [503, 503, 503], 401],
    ['401 when forgeries are accepted', [200, 200, 202], 401],
    ['401 when one forgery is accepted and others crash', [200, 500, 500], 401],
    ['401 when nothing was sent', [], 401],
    ['401 when the first rejection is a rate limit', [429, 403, 403], 401],
    ['the first status of the rejections', [200, 300], 300],
    ['the last status of the rejections', [200, 499], 499],
    ['401 when forgeries get an interim status', [199, 199, 199], 401],
    ['401 when the last of three gets another 5xx', [500, 500, 502], 401],
  ] as const)('is %s', (_name, statuses, usual) => {
    expect(usualRejection(statuses.map((status) => answer(status)))).toBe(usual);
  });

  it('is not the 5xx of two forgeries when a third gets no answer', () => {
    expect(usualRejection([answer(500), failure('reset'), answer(500)])).toBe(401);
    expect(usualRejection([answer(500), failure('reset'), answer(500), answer(500)])).toBe(401);
  });
});

describe('a plain forgery', () => {
  it.each([
    ['is one that exactly 401 rejects', refused, true],
    ['is not a valid delivery', accepted, false],
    ['is not of another shape', refusedInAnotherShape, false],
    ['is not malformed', refusedMalformed, false],
    ['may be rejected with further statuses', { ...refused, pass: [400, 401] }, true],
    ['is not one that 401 does not reject', { ...refused, pass: [400] }, false],
    ['is not one that every 4xx rejects', { ...refused, pass: [401, '4xx'] }, false],
  ] as const)('%s', (_name, expectation, isPlain) => expect(isPlainForgery(expectation)).toBe(isPlain));
});

describe('the class of an answer', () => {
  it.each([
    ['reset', 'closed'],
    ['refused', 'closed'],
    ['tls', 'closed'],
    ['timeout', 'silent'],
    ['unreachable', 'silent'],
    ['invalid-http', 'unreadable'],
    ['headers-too-large', 'unreadable'],
    ['dns', 'not-delivered'],
  ] as const)('is for the error "%s" %s', (kind, wanted) => {
    const judgement = judge('must', evidence([probe(accepted, failure(kind))]));
    expect(judgement.answered).toEqual({ class: wanted, status: null });
  });

  it('is a rejection for a TLS alert', () => {
    const judgement = judge('must', evidence([probe(accepted, failure('tls', { alert: 'unknown_ca' }))]));
    expect(judgement.answered).toEqual({ class: 'rejected', status: null });
  });

  it.each([
    [199, 'crashed'],
    [200, 'accepted'],
    [299, 'accepted'],
    [300, 'rejected'],
    [499, 'rejected'],
    [500, 'crashed'],
  ] as const)('is for the status %d %s', (status, wanted) => {
    expect(judge('must', evidence([probe(accepted, answer(status))])).answered).toEqual({ class: wanted, status });
  });

  it('has the status as it was sent', () => {
    const judgement = judge(
      'must',
      evidence([probe(refused, answer(403))], { dialect: dialect(403), credentials: ['signature'] }),
    );
    expect(judgement).toMatchObject({ observed: '403', outcome: '401', answered: { class: 'rejected', status: 403 } });
  });
});
