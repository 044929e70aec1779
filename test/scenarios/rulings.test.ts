/**
 * The rulings, read from the bytes on the wire: the meaning of an answer depends on the form of the request, not on the
 * check that sends it. Therefore, two checks that observe the same fact have the same level.
 */
import { describe, expect, it } from 'vitest';
import { readNotification } from '../../contract/index.ts';
import { judge } from '../../harness/judge/index.ts';
import { assemble } from '../../harness/run/assemble.ts';
import { createKit } from '../../harness/run/kit.ts';
import { CATALOGUE, type Delivery, findScenario, type Scenario } from '../../scenarios/index.ts';
import { answer, evidence, probe } from '../harness/judge/attempts.ts';

const PARTNER = {
  url: 'https://partner.example/hooks',
  signing: { secret: 'a-secret-that-is-used-in-this-test-only' },
  apiKey: { value: 'an-api-key-that-is-used-in-this-test-only' },
};

const kitOf = ({ id }: Scenario) => createKit(PARTNER, 'seed', id, new Date('2026-01-02T03:04:05Z'));

/** A body size, in bytes, that exceeds what the specification shows. */
const LARGE = 16_384;

const UNUSUAL_HEADER = /^(?:content-encoding|transfer-encoding|upgrade|expect|x-http-method-override)$/i;

const FORMS = ['own', 'unusual', 'elsewhere', 'malformed'] as const;
type Form = (typeof FORMS)[number];

/**
 * Returns the form of a request: the sender's own, another one, or at another URL, and whether it contains a
 * notification.
 */
function formOf({ change }: Delivery, scenario: Scenario): Form {
  const { prepared, transmission, raw } = assemble(change, kitOf(scenario), PARTNER);
  const [head = '', ...rest] = (raw?.toString('latin1') ?? '').split('\r\n\r\n');
  const [requestLine = '', ...lines] = head.split('\r\n');
  const [method, target = '', version] =
    raw === null ? [prepared.method, prepared.target, 'HTTP/1.1'] : requestLine.split(' ');
  const headers =
    raw === null
      ? prepared.headers
      : lines.map((line) => [line.split(':')[0] ?? '', line.split(':')[1]?.trim() ?? ''] as const);
  const valuesOf = (name: string) => headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
  const hosts = valuesOf('host');
  const isElsewhere = target !== '/hooks' || (hosts.length > 0 && hosts.join() !== 'partner.example');
  const isUnusual =
    method !== 'POST' ||
    version !== 'HTTP/1.1' ||
    hosts.length === 0 ||
    valuesOf('content-type').join() !== 'application/json' ||
    valuesOf('content-length').join() !== String(prepared.body.length) ||
    headers.some(([name]) => UNUSUAL_HEADER.test(name)) ||
    prepared.body.length > LARGE ||
    (transmission !== null && ['chunked', 'expect-continue'].includes(transmission.kind)) ||
    (raw !== null && rest.join('\r\n\r\n') !== Buffer.from(prepared.body).toString('latin1'));
  if (isUnusual) return 'unusual';
  if (isElsewhere) return 'elsewhere';
  return isNotification(prepared.body) ? 'own' : 'malformed';
}

function isNotification(body: Uint8Array): boolean {
  try {
    return readNotification(JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))).ok;
  } catch {
    return false;
  }
}

/** Matches checks that do not judge only the answer to a single delivery. */
const OTHER_SUBJECT = /^(?:leaks|effects|mtls|tls)\/|-in-a-row$|burst|while|cut-off|backtracking|open-paths|-twice$/;

const judged = CATALOGUE.flatMap(({ scenarios }) => scenarios)
  .filter(({ id, level }) => level !== 'info' && !OTHER_SUBJECT.test(id))
  .flatMap((scenario) => {
    const kit = kitOf(scenario);
    const deliveries =
      'flow' in scenario ? scenario.flow(kit).flat() : 'change' in scenario ? [{ label: 'probe', ...scenario }] : [];
    return deliveries.map((delivery) => ({ scenario, delivery, form: formOf(delivery, scenario) }));
  });

/**
 * Returns the checks in which a delivery of this form gets a verdict other than these for an answer with this status.
 */
function exceptions(authentic: boolean, form: Form, status: number, verdicts: readonly string[]): string[] {
  const mine = judged.filter(({ delivery, form: one }) => delivery.expect.authentic === authentic && one === form);
  expect(mine.length).toBeGreaterThan(authentic ? 2 : 8);
  const wrong = mine.filter(({ scenario, delivery }) => {
    const { verdict } = judge(scenario.level, evidence([probe(delivery.expect, answer(status))]));
    return !verdicts.includes(verdict);
  });
  return [...new Set(wrong.map(({ scenario }) => scenario.id))];
}

describe('a forged delivery', () => {
  it.each([
    ['own', 401, ['pass']],
    ['own', 500, ['fail', 'warn']],
    ['malformed', 401, ['pass']],
    ['malformed', 404, ['warn']],
    ['malformed', 500, ['fail', 'warn']],
    ['unusual', 401, ['pass']],
    ['unusual', 404, ['pass']],
    ['unusual', 500, ['warn']],
    ['elsewhere', 302, ['pass']],
    ['elsewhere', 404, ['pass']],
    ['elsewhere', 500, ['pass']],
  ] as const)('in the form "%s" that gets %i has the verdict of the ruling', (form, status, verdicts) => {
    expect(exceptions(false, form, status, verdicts)).toEqual([]);
  });

  it('fails wherever it is accepted at level must, unless an attacker cannot make it', () => {
    const accepted = FORMS.flatMap((form) => exceptions(false, form, 200, ['fail']));
    const must = accepted.filter((id) => findScenario(id)?.level === 'must');
    // This check sends plain text with a signature over what a parser leaves of an unread body.
    expect(must).toEqual(['signature/over-unread-body']);
  });
});

describe('a signed delivery', () => {
  it('in another form than the sender uses never fails for its answer', () => {
    for (const status of [400, 500]) expect(exceptions(true, 'unusual', status, ['pass', 'warn'])).toEqual([]);
  });

  it('at another URL never fails for its answer', () => {
    for (const status of [302, 404, 500]) expect(exceptions(true, 'elsewhere', status, ['pass', 'warn'])).toEqual([]);
  });
});
