import { createHash, createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { explainKeyMismatch, explainMismatch, findSignature } from '../../../receiver/inspector/credential-findings.ts';
import { recordDelivery } from '../../../receiver/inspector/recorder.ts';
import { reportOf } from './inspected.ts';

const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const BODY = Buffer.from('{"id": "a/b",\r\n "type":"CAAS", "at": 1.0, "data": {"z": "Caf\u00e9 <1>"}}\r\n');
const mac = (body: string | Buffer, key: string | Buffer = SECRET) => createHmac('sha256', key).update(body).digest();
const sign = (body: string | Buffer, key: string | Buffer = SECRET) => mac(body, key).toString('base64');
const explain = (received: string | string[], changes: Partial<Parameters<typeof explainMismatch>[0]> = {}) =>
  explainMismatch({ rawBody: BODY, secrets: [SECRET], received: [received].flat(), ...changes });
const namesOf = (found: Awaited<ReturnType<typeof explain>>) => found?.mistakes.map(({ name }) => name);

describe('explainMismatch', () => {
  it('returns what was signed, and whether the secret itself was the key', async () => {
    const compact = JSON.stringify(JSON.parse(`${BODY}`));
    expect(await explain(sign(compact))).toEqual({
      mistakes: [{ name: 'reserialised-json', title: expect.any(String), fix: expect.any(String) }],
      signed: Buffer.from(compact),
      underTheSecret: true,
    });
    expect(await explain(sign(BODY, `${SECRET}\n`))).toMatchObject({ signed: undefined, underTheSecret: false });
  });

  it('finds mistakes in pairs', async () => {
    const compact = JSON.stringify(JSON.parse(`${BODY}`));
    expect(namesOf(await explain(sign(compact, `${SECRET}\n`)))).toEqual(['reserialised-json', 'secret-newline']);
    expect(namesOf(await explain(mac(compact).toString('hex')))).toEqual(['reserialised-json', 'hex']);
    expect(namesOf(await explain(createHash('sha256').update(compact).digest('hex')))).toEqual([
      'reserialised-json',
      'unkeyed-sha256',
      'hex',
    ]);
  });

  it.each([
    ['prefixed-header', 'a label', (right: string) => [`v1=${right}`]],
    ['prefixed-base64', 'the label of another service', (right: string) => [`sha256=${right}`]],
    ['prefixed-header', 'the scheme of another service', (right: string) => [`t=17,v1=${right}`]],
    ['quoted-header', 'quotes', (right: string) => [`"${right}"`]],
    ['several-values', 'two values in one line', (right: string) => [`"${right}", other`]],
    ['several-values', 'two lines', (right: string) => ['other', right]],
    ['inner-white-space', 'a broken line', (right: string) => [`${right.slice(0, 20)} ${right.slice(20)}`]],
  ])('finds %s: %s', async (name, _what, spell) => {
    expect(namesOf(await explain(spell(sign(BODY))))).toEqual([name]);
  });

  it('tries every secret, API key and URL', async () => {
    const more = { secrets: ['another', SECRET], apiKeys: ['key-1', 'key-2'], urls: ['https://a/x', 'http://a/x'] };
    expect(namesOf(await explain(sign(BODY, `${SECRET}\n`), more))).toEqual(['secret-newline']);
    expect(namesOf(await explain(sign(BODY, 'key-2'), more))).toEqual(['api-key-as-secret']);
    expect(namesOf(await explain(sign(`http://a/x${BODY}`), more))).toEqual(['url-body']);
  });

  it('explains neither a correct signature nor an unrelated value', async () => {
    for (const value of [sign(BODY), randomBytes(32).toString('base64'), '', []]) {
      expect(await explain(value)).toBeNull();
    }
  });

  it('does not explain a guess that is nearly correct, which would help a forger', async () => {
    const right = sign(BODY);
    const changed = `${right.slice(0, 3)}${right[3] === 'A' ? 'B' : 'A'}${right.slice(4)}`;
    for (const guess of [right.slice(0, 40), `${right}x`, changed]) expect(await explain(guess)).toBeNull();
  });

  it('lets deliveries run meanwhile, whatever the body', async () => {
    const deep = Buffer.from(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const found = await explain(sign(Buffer.concat([deep, Buffer.from('\n')])), { rawBody: deep });
    const none = await explain('x', { rawBody: Buffer.alloc(1024 * 1024, 'x') });
    clearInterval(timer);
    expect([namesOf(found), none]).toEqual([['body-newline-added'], null]);
    expect(turns).toBeGreaterThan(3);
  });
});

describe('findSignature', () => {
  const find = (value: string) => {
    const report = reportOf({ headers: ['X-Service-Signature', value], rawBody: BODY });
    const signing = { secrets: [SECRET], apiKeys: [], header: 'X-Service-Signature' };
    return findSignature(recordDelivery(report, 1, 1e6), signing);
  };

  it('withholds a signature that is correct for anything', async () => {
    expect(await find(sign(BODY))).toMatchObject({ mistakes: [], withheld: 'correct, so it is not shown' });
    const hex = mac('{}').toString('hex');
    const found = await find(hex);
    expect(found).toMatchObject({ withheld: 'correct for what was signed, so it is not shown' });
    expect(found.correct).toEqual(expect.arrayContaining([hex, sign('{}'), sign(BODY)]));
    expect(await find(sign(BODY).slice(0, 20))).toMatchObject({
      withheld: 'part of a correct one, so it is not shown',
    });
  });

  it('does not withhold an unrelated value, and holds no secret in its texts', async () => {
    expect(await find(randomBytes(32).toString('base64'))).toMatchObject({ mistakes: [], withheld: undefined });
    const { mistakes } = await find(mac('{}').toString('hex'));
    expect(mistakes.map(({ name }) => name)).toEqual(['empty-object-body', 'hex']);
    for (const hidden of [SECRET, sign('{}'), mac('{}').toString('hex')]) {
      expect(JSON.stringify(mistakes)).not.toContain(hidden);
    }
  });
});

describe('explainKeyMismatch', () => {
  it.each([
    [['X-API-Key', '"the-key"'], '/', 'quotes'],
    [['X-API-Key', 'Bearer the-key'], '/', 'a word before'],
    [['X-API-Key', Buffer.from('the-key').toString('base64')], '/', 'base64'],
    [['X-API-Key', 'THE-KEY'], '/', 'letter case'],
    [['Authorization', 'Bearer the-key'], '/', 'in the header Authorization'],
    [['X-API-Key', 'a', 'X-API-Key', 'the-key'], '/', 'several values'],
    [[], '/?key=the-key', 'query'],
    [['X-API-Key', 'the-kex'], '/', null],
    [['X-API-Key', 'the-key-and-more'], '/', null],
    [['X-API-Key', 'the'], '/', null],
  ])('finds the correct key in %j %s', (headers, url, words) => {
    const { headers: lines, target } = recordDelivery(reportOf({ headers, url }), 1, 10);
    const found = explainKeyMismatch({ headers: lines, target, keys: ['the-key'], header: 'X-API-Key' });
    if (words === null) expect(found).toBeNull();
    else expect(found).toContain(words);
    expect(found ?? '').not.toContain('the-key');
  });
});
