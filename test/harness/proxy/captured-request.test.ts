import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HeaderLine } from '../../../contract/index.ts';
import { FOREIGN_SCHEMES, type Scheme, signatureOf, verifyWithScheme } from '../../../contract/signing/index.ts';
import { bodyDigest, curlForCaptured, readCaptured, replayCaptured, withEdit } from '../../../harness/proxy/index.ts';
import { recording } from '../../cli/recording.ts';
import { lacks } from '../../setup/programs.ts';

const secret = randomBytes(32).toString('hex');
const key = randomBytes(24).toString('hex');
const signing = { secret };
const BODY = '{"id":"caf\u00e9", "at": 1}\n';

function requestWith(lines: readonly string[], body = BODY): Buffer {
  const length = Buffer.byteLength(body);
  return Buffer.from(['POST /hooks?a=1 HTTP/1.1', ...lines, `Content-Length: ${length}`, '', body].join('\r\n'));
}

function captured(raw: Buffer) {
  const read = readCaptured(raw);
  if (read === null) throw new Error('it is a request');
  return read;
}

describe('a new signature', () => {
  it.each([
    ['replaces the old one', ['x-service-signature:  old', 'X-Other: é']],
    ['is added', ['host: x']],
    ['replaces each of several', ['X-Service-Signature: a', 'Host: x', 'X-SERVICE-SIGNATURE: b']],
  ])('%s, and changes nothing else', (_how, lines) => {
    const raw = requestWith(lines);
    const signed = withEdit(captured(raw), { signing });
    const read = captured(signed);
    expect(bodyDigest(read)).toBe(bodyDigest(captured(raw)));
    const signatures = read.headers.filter(([name]) => name.toLowerCase() === 'x-service-signature');
    expect(signatures.map(([, value]) => value)).toEqual([signatureOf(Buffer.from(BODY), secret)]);
    const others = (bytes: Buffer) =>
      bytes
        .toString('latin1')
        .split('\r\n')
        .filter((line) => !/^x-service-s/i.test(line));
    expect(others(signed)).toEqual(others(raw));
  });

  it('covers the body and not the framing of chunks', () => {
    const raw = Buffer.from('POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n');
    const signed = withEdit(captured(raw), { signing }).toString();
    expect(signed).toContain(
      `X-Service-Signature: ${signatureOf(Buffer.from('{}'), secret)}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    );
  });
});

describe('a new signature in a scheme', () => {
  const scheme = FOREIGN_SCHEMES.find(({ name }) => name === 'svix') as Scheme;
  const sealed = { secret: `whsec_${randomBytes(24).toString('base64')}`, scheme };
  const lines = ['svix-id: old', 'Svix-Timestamp: 1', 'svix-signature: v1,a', 'webhook-signature: v1,a', 'X-Other: b'];
  const edited = (headers: HeaderLine[]) => {
    const { headers: all, body } = captured(withEdit(captured(requestWith(lines)), { signing: sealed, headers }));
    const report = verifyWithScheme(scheme, { headers: all, body, url: '' }, sealed.secret, Date.now() / 1000);
    return { report, all: Object.fromEntries(all.map(([name, value]) => [name.toLowerCase(), value])) };
  };

  it('has a new id and the present time, and leaves no old signature', () => {
    const { report, all } = edited([]);
    expect(report).toMatchObject({ matches: true, outOfTolerance: null });
    expect(all).toMatchObject({ 'svix-id': expect.stringMatching(/^msg_/), 'x-other': 'b' });
    expect(all).not.toHaveProperty('webhook-signature');
  });

  it('covers the id and the time that the edit sets', () => {
    const { report, all } = edited([
      ['Svix-Id', 'mine'],
      ['svix-timestamp', '1700000000'],
    ]);
    expect(report).toMatchObject({ matches: true, outOfTolerance: expect.any(Number) });
    expect(all).toMatchObject({ 'svix-id': 'mine', 'svix-timestamp': '1700000000' });
  });
});

describe('an edit', () => {
  it('replaces the body, its framing, and headers by name, and signs what is sent', () => {
    const raw = Buffer.from(
      'POST / HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\nx-a: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    );
    const body = Buffer.from('{"a":1}');
    const headers = [['X-A', 'new'] as const, ['X-B', 'added'] as const];
    expect(withEdit(captured(raw), { headers, body, signing }).toString()).toBe(
      'POST / HTTP/1.1\r\nHost: x\r\nX-A: new\r\nContent-Length: 7\r\nX-B: added\r\n' +
        `X-Service-Signature: ${signatureOf(body, secret)}\r\n\r\n{"a":1}`,
    );
  });

  it('of nothing changes nothing', () => {
    const raw = requestWith(['hOsT: kept', 'X-Twice: 1', 'X-Twice: 2']);
    expect(withEdit(captured(raw), {})).toEqual(raw);
  });
});

it('sends the bytes again, and gives the exchange', async () => {
  const endpoint = await recording();
  onTestFinished(() => endpoint.close());
  const raw = requestWith(['hOsT: kept', 'X-Twice: 1', 'X-Twice: 2']);
  const partner = { url: endpoint.url, signing };
  const exchange = await replayCaptured(raw, { partner, timeoutMs: 10_000, id: 'abcdef-1', sign: false });
  expect(exchange).toMatchObject({ answer: { status: 200 }, replayOf: 'abcdef-1', request: { raw } });
  const [request] = endpoint.requests;
  expect(request?.target).toBe('/hooks?a=1');
  expect(request?.headers.slice(0, 3)).toEqual([
    ['hOsT', 'kept'],
    ['X-Twice', '1'],
    ['X-Twice', '2'],
  ]);
  expect(request?.body.toString()).toBe(BODY);
});

it('is replayed as it was edited, and signed over the edited body', async () => {
  const endpoint = await recording();
  onTestFinished(() => endpoint.close());
  const partner = { url: endpoint.url, signing };
  const edit = { headers: [['X-Twice', 'once']] as const, body: Buffer.from('{"id":"edited"}') };
  const raw = requestWith(['Host: kept', 'X-Twice: 1', 'X-Twice: 2', 'X-Service-Signature: old']);
  await replayCaptured(raw, { partner, timeoutMs: 60_000, id: 'abcdef-1', sign: true, edit });
  const [request] = endpoint.requests;
  expect(request?.headers).toContainEqual(['X-Twice', 'once']);
  expect(request?.headers).not.toContainEqual(['X-Twice', '2']);
  expect(request?.headers).toContainEqual(['X-Service-Signature', signatureOf(edit.body, secret)]);
  expect(String(request?.body)).toBe('{"id":"edited"}');
  expect(
    await replayCaptured(Buffer.from('no request'), { partner, timeoutMs: 1, id: 'a-1', sign: true, edit }),
  ).toBeNull();
});

describe('the script with curl', () => {
  const partner = (url: string) => ({ url, signing, apiKey: { value: key } });
  const signature = signatureOf(Buffer.from(BODY), secret);
  const full = requestWith([
    'Host: partner.test',
    'content-type: application/json',
    'X-Empty:',
    "X-Quote: it's",
    `X-Service-Signature: ${signature}`,
    `X-API-Key: ${key}`,
    'Authorization: Bearer hidden-token',
  ]);

  it.skipIf(lacks('curl') || lacks('openssl'))('sends the same lines and body', async () => {
    const endpoint = await recording();
    onTestFinished(() => endpoint.close());
    const script = curlForCaptured(captured(full), partner(endpoint.url)) ?? '';
    const env = {
      PATH: process.env.PATH,
      HOOKPROOF_SECRET: secret,
      HOOKPROOF_API_KEY: key,
      RECEIVED_AUTHORIZATION: 'Bearer hidden-token',
    };
    await promisify(execFile)('sh', ['-c', script], { env });
    const sorted = (lines: readonly (readonly [string, string])[]) => lines.map((line) => line.join(': ')).sort();
    const [sent] = endpoint.requests;
    expect(sent?.body.toString()).toBe(BODY);
    expect(sent?.target).toBe('/hooks?a=1');
    expect(sorted(sent?.headers ?? [])).toEqual(sorted(captured(full).headers));
  });

  it('holds no credential, whether it is correct or not', () => {
    const other = requestWith(['Host: x', 'X-Service-Signature: wrong-value', 'X-API-Key: wrong-key']);
    for (const raw of [full, other]) {
      const script = curlForCaptured(captured(raw), partner('http://127.0.0.1:1/'));
      expect(script).not.toBeNull();
      for (const hidden of [secret, key, signature, 'hidden-token', 'wrong-value', 'wrong-key']) {
        expect(script).not.toContain(hidden);
      }
    }
  });

  it.each([
    ['an invalid header name', requestWith(['Host: x', 'Bad Name: 1'])],
    ['bytes that a terminal cannot show', requestWith(['Host: x', 'X-A: \u0001'])],
    ['two hosts', requestWith(['Host: x', 'Host: y'])],
    ['a secret in another header', requestWith(['Host: x', `X-Debug: ${secret}`])],
    ['HTTP/1.0', Buffer.from('POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n')],
  ])('is not made for %s', (_what, raw) => {
    expect(curlForCaptured(captured(raw), partner('http://127.0.0.1:1/'))).toBeNull();
  });
});

it('reads only one complete request', () => {
  const raw = requestWith(['Host: x']);
  expect(readCaptured(raw)).not.toBeNull();
  for (const bytes of [raw.subarray(0, -1), Buffer.concat([raw, raw]), Buffer.from('nothing'), Buffer.alloc(0)]) {
    expect(readCaptured(bytes)).toBeNull();
  }
});
