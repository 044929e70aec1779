import { describe, expect, it } from 'vitest';
import { load, refusal } from './workspace.ts';

const URL = 'http://127.0.0.1:9/hooks';
const SECRET = { HOOKPROOF_SECRET: `whsec_${Buffer.alloc(24, 7).toString('base64')}` };
const LITERAL = `url: ${URL}
scheme:
  name: acme
  headers: { X-Acme-Time: "{timestamp}", X-Acme-Sign: "{signature}" }
  signed: "{timestamp}.{body}"
  algorithm: sha512
  encoding: hex
  tolerance-seconds: 600
  older-signatures: { X-Acme-Sign-1: { algorithm: sha1, signature: "v0={value}" }, X-Acme.2: { algorithm: sha256 } }
  handshakes: [ping_check]
  accepts: [202]
`;

describe('the scheme of a configuration', () => {
  it('is that of the specification unless it is named', async () => {
    expect((await load({ flags: { url: URL }, env: SECRET })).partner.signing).not.toHaveProperty('scheme');
    const named = await load({ flags: { url: URL, scheme: 'service' }, env: SECRET });
    expect(named.partner.signing).not.toHaveProperty('scheme');
  });

  it('is a built-in one, or a literal', async () => {
    const stripe = await load({ flags: { url: URL, scheme: 'stripe' }, env: SECRET });
    expect(stripe.partner.signing?.scheme).toMatchObject({ name: 'stripe', toleranceSeconds: 300 });
    const own = await load({ yaml: LITERAL, env: SECRET });
    expect(own.partner.signing?.scheme).toMatchObject({
      name: 'acme',
      title: 'acme',
      headers: { 'X-Acme-Time': '{timestamp}', 'X-Acme-Sign': '{signature}' },
      signature: '{value}',
      olderSignatures: {
        'X-Acme-Sign-1': { algorithm: 'sha1', signature: 'v0={value}' },
        'X-Acme.2': { algorithm: 'sha256', signature: '{value}' },
      },
      toleranceSeconds: 600,
      handshakes: ['ping_check'],
      accepts: [202],
      rejects: ['4xx'],
    });
    const replaced = await load({ yaml: LITERAL, flags: { scheme: 'github' }, env: SECRET });
    expect(replaced.partner.signing?.scheme?.name).toBe('github');
  });

  it.each([
    [{ scheme: 'strip' }, SECRET, '"strip" is not a scheme', 'Did you mean stripe?'],
    [{ scheme: 'stripe', signatureHeader: 'X-Sig' }, SECRET, 'the scheme stripe names its headers', 'Remove it'],
    [
      { scheme: 'svix' },
      { HOOKPROOF_SECRET: 'not base64!' },
      'the secret is not a valid secret for Svix',
      'whsec_<Base64>',
    ],
    [
      { scheme: 'standard-webhooks-ed25519' },
      SECRET,
      'the secret is not a valid private key for Standard Webhooks with Ed25519',
      'whsk_',
    ],
    [
      { scheme: 'github' },
      { HOOKPROOF_API_KEY: 'a-key-of-the-partner' },
      'the scheme github signs each delivery, but no secret is configured',
      'HOOKPROOF_SECRET',
    ],
  ])('is refused for %j', async (flags, env, message, hint) => {
    const error = await refusal({ flags: { url: URL, ...flags }, env });
    expect(error.message).toContain(message);
    expect(`${error.message} ${error.hint}`).toContain(hint);
    expect(error.code).toBe('CONFIG_SCHEME');
  });
});

describe('samples.deliveries', () => {
  const yaml = (...paths: string[]) => `url: ${URL}\nscheme: github\nsamples: { deliveries: [${paths.join(', ')}] }\n`;
  const files = {
    'bodies/push.json': '{"ref":"main"}',
    'bodies/push.headers': 'X-GitHub-Event: push\n\nContent-Type: application/json; charset=utf-8\n',
    'bodies/form.txt': 'payload=%7B%7D',
    'one.json': '{}',
    'bad.json': '{}',
    'bad.headers': 'X-A: 1\nno header\n',
    'own.json': '{}',
    'own.headers': 'Host: x\n',
    'key.json': '{}',
    'key.headers': 'Authorization: Bearer x\n',
    'sig.json': '{}',
    'sig.headers': 'x-hub-signature-256: x\n',
    'odd.json': '{}',
    'odd.headers': Buffer.from([0xff]),
  };

  it('are files and folders of bodies, with their headers beside them', async () => {
    const { partner } = await load({ yaml: yaml('bodies', 'one.json'), files, env: SECRET });
    expect(partner.deliveries?.map(({ name, headers, body }) => [name, headers, `${body}`])).toEqual([
      ['form', [['Content-Type', 'application/json']], 'payload=%7B%7D'],
      [
        'push',
        [
          ['X-GitHub-Event', 'push'],
          ['Content-Type', 'application/json; charset=utf-8'],
        ],
        '{"ref":"main"}',
      ],
      ['one', [['Content-Type', 'application/json']], '{}'],
    ]);
  });

  it.each([
    [yaml('missing.json'), 'the file missing.json does not exist'],
    [yaml('bad.json'), 'bad.headers:2 is not a header line'],
    [yaml('own.json'), 'own.headers:1 has Host, which is set for each request'],
    [yaml('key.json'), 'key.headers:1 has Authorization, which carries credentials'],
    [yaml('sig.json'), 'sig.headers:1 has x-hub-signature-256, which every delivery gets from the scheme'],
    [yaml('odd.json'), 'odd.headers is not UTF-8 text'],
    [yaml('one.json').replace('scheme: github\n', ''), 'bodies are only used with a scheme'],
  ])('are refused in %j', async (text, message) => {
    const error = await refusal({ yaml: text, files, env: SECRET });
    expect(error.message).toContain(message);
    expect(error.message).toMatch(/hookproof\.yaml:\d+:\d+/);
  });
});
