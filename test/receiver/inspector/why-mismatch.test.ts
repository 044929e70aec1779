import { createHash, createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BODY_SLIPS, readBody } from '../../../receiver/inspector/mismatch/body-slips.ts';
import { ALGORITHM_SLIPS, SPELLING_SLIPS } from '../../../receiver/inspector/mismatch/digest-slips.ts';
import { KEY_SLIPS } from '../../../receiver/inspector/mismatch/key-slips.ts';
import { whyMismatch } from '../../../receiver/inspector/why-mismatch.ts';

const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const BODY = Buffer.from(
  '\ufeff {"id": "a/b",\r\n "type":"CAAS", "at": 1.0, "data": {"z": "Caf\u00e9 <1>", "a": [10000000000000000001, 1e2, {}]}}\r\n',
);
const mac = (body: string | Buffer, key: string | Buffer = SECRET) => createHmac('sha256', key).update(body).digest();
const sign = (body: string | Buffer, key: string | Buffer = SECRET) => mac(body, key).toString('base64');
const why = (received: string | string[], changes: Partial<Parameters<typeof whyMismatch>[0]> = {}) =>
  whyMismatch({ rawBody: BODY, secrets: [SECRET], received: [received].flat(), target: '/hooks', ...changes });
const namesOf = (found: Awaited<ReturnType<typeof whyMismatch>>) => found?.slips.map(({ name }) => name);

describe('the slips', () => {
  it.each(BODY_SLIPS.map(({ name }) => name))('body: %s', async (name) => {
    const slip = BODY_SLIPS.find((one) => one.name === name)!;
    const bodies: Record<string, Buffer> = {
      'utf8-of-latin1': Buffer.from('{"z":"Caf\u00e9"}', 'latin1'),
      'crlf-line-ends': Buffer.from('{"id":"a",\n"at":1}'),
      trimmed: Buffer.from(' {"id":"a"} \n'),
    };
    const body = bodies[name] ?? BODY;
    const signed = Buffer.from(slip.signed(readBody(body, '/hooks')) as string);
    const found = await why(sign(signed), { rawBody: body });
    expect({ names: namesOf(found), signed: found?.signed, underTheSecret: found?.underTheSecret }).toEqual({
      names: [name],
      signed,
      underTheSecret: true,
    });
  });

  it.each(KEY_SLIPS.map(({ name }) => name))('key: %s', async (name) => {
    const slip = KEY_SLIPS.find((one) => one.name === name)!;
    const secrets: Record<string, string> = {
      'trimmed-secret': ` ${SECRET}\n`,
      'unquoted-secret': `"${SECRET}"`,
      'secret-hex-decoded': randomBytes(32).toString('hex'),
    };
    const secret = secrets[name] ?? SECRET;
    const key = slip.key(secret, ['the-api-key'])!;
    const found = await why(sign(BODY, key), { secrets: ['another', secret], apiKeys: ['the-api-key'] });
    expect({ names: namesOf(found), underTheSecret: found?.underTheSecret }).toEqual({
      names: [name],
      underTheSecret: false,
    });
  });

  it.each(ALGORITHM_SLIPS.map(({ name }) => name))('algorithm: %s', async (name) => {
    const { digest } = ALGORITHM_SLIPS.find((one) => one.name === name)!;
    expect(namesOf(await why(digest(BODY, SECRET).toString('base64')))).toEqual([name]);
  });

  it.each(SPELLING_SLIPS.map(({ name }) => name))('spelling: %s', async (name) => {
    const { spell } = SPELLING_SLIPS.find((one) => one.name === name)!;
    // A digest in which each alphabet shows: with "+" and "/" in its base64.
    const rawBody = Array.from({ length: 200 }, (_, index) => Buffer.from(`{"n":${index}}`)).find((body) =>
      /\+.*\/|\/.*\+/.test(sign(body)),
    )!;
    const found = await why(spell(mac(rawBody)), { rawBody });
    expect({ names: namesOf(found), signed: found?.signed }).toEqual({ names: [name], signed: undefined });
  });

  it.each([
    ['a label', (right: string) => [`sha256=${right}`]],
    ['the scheme of another service', (right: string) => [`t=17,v1=${right}`]],
    ['quotes', (right: string) => [`"${right}"`]],
    ['two values in one line', (right: string) => [`${right}, other`]],
    ['two lines', (right: string) => ['other', right]],
    ['a broken line', (right: string) => [`${right.slice(0, 20)} ${right.slice(20)}`]],
  ])('around it: %s', async (_name, spell) => {
    expect(namesOf(await why(spell(sign(BODY))))).toEqual(['around-the-signature']);
  });

  it('in pairs: another body with another key, algorithm or spelling', async () => {
    const compact = JSON.stringify(JSON.parse(BODY.toString().replace('\ufeff', '')));
    expect(namesOf(await why(sign(compact, `${SECRET}\n`)))).toEqual(['json-stringify', 'secret-newline']);
    expect(namesOf(await why(mac(compact).toString('hex')))).toEqual(['json-stringify', 'hex']);
    expect(namesOf(await why(createHash('sha256').update(compact).digest('hex')))).toEqual([
      'json-stringify',
      'plain-sha256',
      'hex',
    ]);
  });
});

describe('what is no slip', () => {
  it('a right signature, a random one, and none', async () => {
    expect(await why(sign(BODY))).toBeNull();
    expect(await why(randomBytes(32).toString('base64'))).toBeNull();
    expect(await why('')).toBeNull();
    expect(await why([])).toBeNull();
  });

  it('a guess that is nearly right: to say so would help a forger', async () => {
    const right = sign(BODY);
    const other = right[3] === 'A' ? 'B' : 'A';
    const guesses = [
      right.slice(0, 40),
      `${right}x`,
      `${right.slice(0, 3)}${other}${right.slice(4)}`,
      right.toLowerCase(),
    ];
    for (const guess of guesses) expect(await why(guess)).toBeNull();
  });

  it('holds neither the secret nor a signature', async () => {
    const found = await why(mac('{}').toString('hex'));
    const text = JSON.stringify(found);
    expect(namesOf(found)).toEqual(['empty-object', 'hex']);
    for (const hidden of [SECRET, sign('{}'), mac('{}').toString('hex'), sign(BODY)])
      expect(text).not.toContain(hidden);
  });
});

it('copes with bodies that cannot be written again, and lets others run meanwhile', async () => {
  const deep = Buffer.from(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const found = await why(sign(Buffer.concat([deep, Buffer.from('\n')])), { rawBody: deep });
  const none = await why('x', { rawBody: Buffer.alloc(1024 * 1024, 'x') });
  clearInterval(timer);
  expect([namesOf(found), none]).toEqual([['with-trailing-newline'], null]);
  expect(turns).toBeGreaterThan(3);
});
