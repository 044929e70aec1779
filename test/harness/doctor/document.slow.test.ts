/** The document matches its schema, and contains no secret and no control character. */
import { randomBytes } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { makeCertificate, serverFixture } from '../../../certs/index.ts';
import { createCleaner } from '../../../harness/doctor/clean.ts';
import { doctorDocument, type FactsOf } from '../../../harness/doctor/doctor-document.ts';
import { type DoctorDocument, doctorSchema, renderDoctor } from '../../../harness/doctor/index.ts';
import { createRedactor } from '../../../harness/report/index.ts';
import { clientMaterial } from '../../certs/client-material.ts';
import { bodyOf, hmacOf } from '../../endpoints/verifying.ts';
import { examineWith, factsOf, found } from './examining.ts';
import { plainServer, tlsServer, validServer } from './servers.ts';

const validate = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true }).compile(doctorSchema());

const rendered = (document: DoctorDocument) =>
  [40, 80, 120]
    .flatMap((columns) => [true, false].map((unicode) => ({ columns, unicode, color: false })))
    .map((options) => renderDoctor(document, options));

function expectSound(document: DoctorDocument): void {
  expect([validate(document), validate.errors]).toEqual([true, null]);
  expect(doctorDocument.parse(document)).toEqual(document);
  const texts = [JSON.stringify(document), ...rendered(document).map((text) => text.replaceAll('\n', ''))];
  for (const text of texts) expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
}

/** Generates text that a header can contain. */
const headerText = (text: string) =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[\0-\x1f\x7f]/g, ' ');

describe('the schema', () => {
  it('accepts documents of many kinds, and rejects others', async () => {
    const { cert, key, ca } = await serverFixture('expired');
    const client = await clientMaterial('wrong-purpose');
    const env = { HOOKPROOF_CA: ca, HOOKPROOF_CLIENT_CERT: client.cert, HOOKPROOF_CLIENT_KEY: client.key };
    const port = await tlsServer({ cert, key });
    const documents = [
      await examineWith('https://partner.invalid/'),
      await examineWith('https://127.0.0.1:1/', {
        env: { HOOKPROOF_SECRET: 'x', HOOKPROOF_API_KEY: randomBytes(9).toString('hex') },
      }),
      await examineWith(`https://localhost:${port}/`, { env, deliver: true }),
      await examineWith(`http://127.0.0.1:${await plainServer()}/`, { deliver: true }),
      await examineWith(null, { env: { HOOKPROOF_SECRET: 'changeme', HOOKPROOF_CLIENT_KEY: 'nowhere' } }),
    ];
    for (const document of documents) expectSound(document);
    const [first] = documents;
    for (const wrong of [
      { ...first, schemaVersion: 2 },
      { ...first, extra: 1 },
      { ...first, sections: [{ id: 'x' }] },
    ]) {
      expect([validate(wrong), doctorDocument.safeParse(wrong).success]).toEqual([false, false]);
    }
  });

  it('accepts a document when the secret is a word of the document', async () => {
    const port = await plainServer();
    for (const secret of [
      'connected',
      'examined',
      'info',
      '2026',
      'OPTIONS',
      'loopback',
      'hookproof',
      'dns',
      'WALLET',
    ]) {
      const document = await examineWith(`http://127.0.0.1:${port}/`, {
        env: { HOOKPROOF_SECRET: secret },
        deliver: true,
      });
      expect([secret, validate(document), validate.errors]).toEqual([secret, true, null]);
    }
  });
});

it('redacts a fact that the schema does not know, whatever its name', () => {
  const cleaner = createCleaner(createRedactor({ values: [{ name: 'API key', value: 'short' }] }));
  const names = ['code', 'kind', 'role', 'signature', 'version', 'outcome'];
  const facts = Object.fromEntries(names.map((name) => [name, 'key=short'])) as unknown as FactsOf<'clock'>;
  expect(JSON.stringify(cleaner.facts('clock', facts))).not.toContain('short');
});

describe('hostile input', () => {
  const HOSTILE = '\u001b[31mred\u202e\u0007\u2028 "\\';

  it('is escaped in certificates', async () => {
    const subject = `CN=${'evil \u001b[2J'.replace(/[,+"\\<>;=]/g, '')}`;
    const authority = await makeCertificate({ subject: 'CN=Root \u001b]0;x\u0007', authority: true });
    const leaf = await makeCertificate({ subject, issuer: authority, hosts: ['evil.example'], usages: ['serverAuth'] });
    const port = await tlsServer(
      { ...leaf, ca: authority.cert, requestCert: true, rejectUnauthorized: true },
      (_, response) => response.end(),
    );
    const document = await examineWith(`https://localhost:${port}/`, { deliver: true });
    expect(found(document, 'tls')).toContain('problem host-mismatch');
    expect(JSON.stringify(document)).toContain('evil');
    expectSound(document);
  });

  it('is escaped in headers, bodies, file names and the URL', async () => {
    const port = await plainServer((_, response) => {
      response.writeHead(500, {
        Server: headerText(HOSTILE),
      });
      response.end(HOSTILE);
    });
    const flags = { clientCert: `no\u001b[2Jfile\u202e`, clientKey: 'none\u0007' };
    const document = await examineWith(`http://127.0.0.1:${port}/?q=\u202e`, { deliver: false, flags });
    expectSound(document);
    const delivered = await examineWith(`http://127.0.0.1:${port}/`, { deliver: true });
    expectSound(delivered);
    expect(factsOf(delivered, 'delivery').body).toBe('\\x1b[31mred\\u202e\\x07\\u2028 "\\');
  });
});

const random = (bytes: number) => randomBytes(bytes).toString('base64url');

/** Credentials of unusual shapes, with random values. */
const SHAPES: Readonly<Record<string, () => { secret: string; apiKey: string }>> = {
  base64: () => ({ secret: randomBytes(32).toString('base64'), apiKey: randomBytes(24).toString('base64') }),
  hex: () => ({ secret: randomBytes(32).toString('hex'), apiKey: randomBytes(16).toString('hex') }),
  'dollar, quotes, backslash': () => ({ secret: `$${random(9)}'"\\$(${random(9)})\``, apiKey: `"${random(9)}'$x\\` }),
  spaces: () => ({ secret: `${random(6)} ${random(6)}  ${random(6)}`, apiKey: `${random(8)} ${random(8)}` }),
  unicode: () => ({ secret: `schlüssel-${random(12)}-鍵`, apiKey: `key-${random(12)}` }),
  'newline at the end': () => ({ secret: `${random(12)}\n`, apiKey: random(12) }),
  'byte order mark': () => ({ secret: `\ufeff${random(12)}`, apiKey: random(12) }),
  markup: () => ({ secret: `<${random(9)}>&amp;${random(9)}`, apiKey: `<b>${random(9)}</b>&` }),
  'short (8)': () => ({ secret: random(6), apiKey: random(6) }),
  'long (200)': () => ({ secret: random(150), apiKey: random(150) }),
  prefixed: () => ({ secret: `whsec_${randomBytes(24).toString('base64')}`, apiKey: `sk-live/${random(18)}+=` }),
  'an unsendable key': () => ({ secret: random(24), apiKey: `${random(12)}\n` }),
};

/** Returns the credentials that a text contains, including encoded ones and those without their last characters. */
function exposedIn(text: string, values: readonly string[], bodies: readonly Buffer[], secret: string): string[] {
  const forms = values.flatMap((value) => {
    const trimmed = value.trim();
    const start = trimmed.slice(0, Math.max(6, trimmed.length - 4));
    const encoded = [JSON.stringify(trimmed).slice(1, -1), encodeURIComponent(trimmed)];
    return [
      trimmed,
      start,
      ...encoded,
      ...(['hex', 'base64'] as const).map((name) => Buffer.from(value).toString(name)),
    ];
  });
  const signatures = bodies.flatMap((body) => {
    const digest = hmacOf(secret, body);
    return (['base64', 'base64url', 'hex'] as const).map((name) => digest.toString(name));
  });
  const looked = [text, text.replace(/\s+/g, '')];
  return [...forms, ...signatures].filter((form) => looked.some((one) => one.includes(form)));
}

describe('an endpoint that returns every credential', () => {
  it.each(Object.keys(SHAPES))('does not expose them: %s', async (shape) => {
    const { secret, apiKey } = SHAPES[shape]!();
    const bodies: Buffer[] = [];
    const { port, ca } = await validServer((request, response) => {
      bodyOf(request).then(
        (body) => {
          bodies.push(body);
          const digest = hmacOf(secret, body);
          response.writeHead(302, headerText(`${secret} ${apiKey}`), {
            Server: headerText(`${secret} ${'x'.repeat(90)} ${apiKey}`),
            Allow: `${digest.toString('hex')} ${digest.toString('base64')}`,
            Location: `/?${new URLSearchParams({ secret, apiKey })}&d=${digest.toString('base64url')}`,
          });
          response.end(
            `${'y'.repeat(290)}${secret} ${apiKey} ${digest.toString('base64')} ${JSON.stringify({ secret, apiKey })}`,
          );
        },
        () => request.destroy(),
      );
    });
    const { cert, key } = await clientMaterial('right');
    const env = {
      HOOKPROOF_SECRET: secret,
      HOOKPROOF_API_KEY: apiKey,
      HOOKPROOF_CA: ca,
      HOOKPROOF_CLIENT_CERT: cert,
      HOOKPROOF_CLIENT_KEY: key,
    };
    const url = `https://localhost:${port}/hooks?key=${encodeURIComponent(apiKey.trim())}`;
    const document = await examineWith(url, { env, deliver: true });
    expect(bodies.length).toBeGreaterThan(0);
    const said = [JSON.stringify(document), ...rendered(document)].join('\n');
    const keyLine = key.split('\n')[1]!;
    expect(exposedIn(said, [secret, apiKey, keyLine], bodies, secret)).toEqual([]);
    expectSound(document);
  });

  it('is detected by this test', () => {
    const secret = random(24);
    expect(exposedIn(`x ${secret} y`, [secret], [], secret).length).toBeGreaterThan(0);
  });
});
