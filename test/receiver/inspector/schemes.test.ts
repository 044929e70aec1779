/** The inspector in the scheme of another service: what is judged, explained, and never shown. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ForwardedExchange, HeaderLine } from '../../../contract/index.ts';
import { FOREIGN_SCHEMES, olderSchemesOf, type Scheme, signaturesOfScheme } from '../../../contract/signing/index.ts';
import { type RunningInspector, startInspector } from '../../../receiver/index.ts';
import { BODY, now, PUBLIC_URL, requestsIn, secretOf, sign } from '../../mutants/scheme-requests.ts';
import { exchange } from './inspected.ts';

const schemeCalled = (name: string) => FOREIGN_SCHEMES.find((one) => one.name === name) as Scheme;

async function inspectorFor(scheme: Scheme, secrets: readonly string[]): Promise<RunningInspector> {
  const made = await startInspector({ signing: { secrets, scheme, publicUrl: PUBLIC_URL } });
  onTestFinished(() => made.close());
  return made;
}

function exchanged(
  status: number,
  lines: readonly HeaderLine[],
  { body = BODY, type = 'application/json', echo = '' }: { body?: Buffer; type?: string; echo?: string } = {},
): ForwardedExchange {
  const one = exchange({ status, body, answer: { body: echo } });
  const headers: HeaderLine[] = [['Host', 'partner.test'], ['Content-Type', type], ...lines];
  return { ...one, receivedAt: new Date(), request: { ...one.request, headers } };
}

async function viewOf({ url, record }: RunningInspector, one: ForwardedExchange) {
  const text = await (await fetch(`${url}deliveries/${record(one).id}`)).text();
  return { text, view: JSON.parse(text) };
}

describe.each(FOREIGN_SCHEMES.map((scheme) => [scheme.name, scheme] as const))('in %s', (_, scheme) => {
  it('valid deliveries must be accepted, and all others rejected', async () => {
    const secret = secretOf(scheme);
    const inspector = await inspectorFor(scheme, [secret]);
    for (const [name, { status, lines, ...sent }] of Object.entries(requestsIn(scheme, secret))) {
      const answered = (code: number) => inspector.record(exchanged(code, lines, sent));
      const [ok, rejected, crashed] = [answered(204), answered(400), answered(500)];
      // Stripe does not limit a time in the future, and its receivers may do so.
      const isOpen = name === 'future' && scheme.isFutureUnlimited === true;
      const verdicts = [ok, rejected, crashed].map((one) => [one.answered, one.alarm]);
      expect([name, ...verdicts]).toEqual([
        name,
        ...(status === 200
          ? [
              ['correct', undefined],
              ['incorrect', 'refused although valid'],
              ['incorrect', 'refused although valid'],
            ]
          : isOpen
            ? [[], [], []].map(() => [undefined, undefined])
            : [
                ['unsafe', 'accepted although invalid'],
                ['correct', undefined],
                ['incorrect', undefined],
              ]),
      ]);
    }
  });

  it('shows no signature that is or may be correct, wherever it occurs', async () => {
    const secret = secretOf(scheme);
    const inspector = await inspectorFor(scheme, [secret]);
    const lines = sign(scheme, [secret]);
    const [signature = '', ...older] = [scheme, ...olderSchemesOf(scheme)].flatMap((one) =>
      signaturesOfScheme(one, lines),
    );
    expect(older).toHaveLength(Object.keys(scheme.olderSignatures ?? {}).length);
    const also = (scheme.aliases ?? []).map((name): HeaderLine => [name, `v9=${signature}`]);
    const echo = `expected ${signature} or ${Buffer.from(signature, scheme.encoding).toString('base64url')}`;
    const more = [['X-Debug', signature] as const, ...also];
    for (const headers of [lines, lines.map(([name, value]): HeaderLine => [name, `"${value}"`])]) {
      const { text, view } = await viewOf(inspector, exchanged(401, [...headers, ...more], { echo }));
      for (const one of [signature, ...older]) expect(text).not.toContain(one);
      const shown = Buffer.from(view.answer.body.base64, 'base64').toString();
      expect(shown).toMatch(/^expected \[\*{3}\]=* or /);
      expect(shown).not.toContain(signature);
    }
  });
});

describe('a delivery in a scheme', () => {
  const scheme = schemeCalled('stripe');
  const secret = secretOf(scheme);
  const explained = async (status: number, lines: readonly HeaderLine[], more = {}) =>
    (await viewOf(await inspectorFor(scheme, [secret]), exchanged(status, lines, more))).view;

  it.each([
    [
      'signed over the body alone',
      () => sign({ ...scheme, signed: '{body}' }, [secret]),
      'The receiver answered 401. The signature does not match',
      ['It was computed over {body}, not over {timestamp}.{body}.'],
    ],
    [
      'that is old',
      () => sign(scheme, [secret], { timestamp: now() - 4000 }),
      'The receiver answered 401. The signed time differs too much',
      [expect.stringMatching(/^The timestamp is 400\d s old; the tolerance is 300 s\.$/)],
    ],
    [
      'without headers',
      () => [],
      'The receiver answered 401. A header of the scheme is missing.',
      ['The header Stripe-Signature of Stripe is missing.'],
    ],
  ])('%s is explained in the words of the scheme', async (_, lines, title, points) => {
    const { explanation, verifyCommand } = await explained(401, lines());
    expect(explanation).toEqual({
      title: expect.stringContaining(title),
      expected: 'In Stripe-Signature, the hex of HMAC-SHA256 over <timestamp>.<body>, as t=<timestamp>,v1=<value>.',
      points,
    });
    expect(verifyCommand).toBeUndefined();
  });

  it('that is signed over reformatted bytes names the mistake and its fix', async () => {
    const body = Buffer.from('{"a": 1}');
    const { mistakes } = await explained(401, sign(scheme, [secret], { body: Buffer.from('{"a":1}') }), { body });
    expect(mistakes).toEqual([expect.objectContaining({ name: expect.any(String), fix: expect.any(String) })]);
  });

  it('is an alarm with a name', async () => {
    const accepted = async (lines: readonly HeaderLine[]) => (await explained(200, lines)).explanation.title;
    expect(await accepted([])).toBe('The receiver accepted a delivery without a header of the scheme (200).');
    const old = sign(scheme, [secret], { timestamp: 1 });
    expect(await accepted(old)).toContain('accepted a delivery whose signed time is outside the tolerance (200)');
    const { explanation } = await explained(400, sign(scheme, [secret]));
    expect(explanation).toMatchObject({
      title: 'The receiver answered 400 to a valid delivery.',
      expected: expect.stringContaining('2xx: the credentials are correct'),
    });
  });

  it('is not explained if its body is large, and its age and headers are', async () => {
    const body = Buffer.alloc(100_000, 'a');
    const pointsOf = async (changes: object) =>
      (await explained(401, sign(scheme, [secret], changes), { body })).explanation.points;
    expect(await pointsOf({})).toEqual([expect.stringContaining('too large to explain')]);
    expect(await pointsOf({ body, timestamp: 1 })).toEqual([expect.stringContaining('s old; the tolerance')]);
  });
});

it('takes the URL of the request where none is given', async () => {
  const scheme = schemeCalled('square');
  const inspector = await startInspector({ signing: { secrets: ['secret'], scheme } });
  onTestFinished(() => inspector.close());
  const at = (url: string) => inspector.record(exchanged(200, sign(scheme, ['secret'], { url }))).answered;
  expect(['https://partner.test/', 'http://partner.test/', 'http://other.test/'].map(at)).toEqual([
    'correct',
    'correct',
    'unsafe',
  ]);
});
