import { generateKeyPairSync, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HookproofError } from '../../../contract/index.ts';
import { describeConfig } from '../../../harness/config/index.ts';
import { type Given, load } from './workspace.ts';

// Secrets as people choose them. All of them are longer than the part of an invalid value that a message repeats.
const secrets = fc.oneof(
  fc.constant(0).map(() => randomBytes(32).toString('base64')),
  fc.constant(0).map(() => randomBytes(32).toString('hex')),
  fc.constant(0).map(() => `whsec_${randomBytes(20).toString('base64url')}`),
  // Punctuation with a special meaning in YAML, regular expressions and the shell.
  fc
    .tuple(
      fc.constantFrom('*', '&', '!', '@', '`', '%', '|', '>', '{', '[', '"', "'", '#', '- ', '? ', ': ', '$'),
      fc.stringMatching(/^[a-zA-Z0-9]{30}$/),
      fc.string({ maxLength: 8 }),
    )
    .map((parts) => parts.join('')),
);

/** Places of a secret, correct or mistaken. The correct ones are combined with another error. */
const PLACES: Record<string, (secret: string) => Given> = {
  'in a file': (secret) => ({ flags: { secretFile: 's', apiKeyFile: 's' }, files: { s: `${secret}\n` } }),
  'in a file, next to an error': (secret) => ({ flags: { secretFile: 's', timeout: '1' }, files: { s: secret } }),
  'in a binary file': (secret) => ({ flags: { secretFile: 's' }, files: { s: `${secret}\0` } }),
  'in the environment': (secret) => ({ env: { HOOKPROOF_SECRET: secret, HOOKPROOF_API_KEY: secret } }),
  'in the environment, next to an error': (secret) => ({ env: { HOOKPROOF_SECRET: secret, HOOKPROOF_PROFILE: 'x' } }),
  'in another variable': (secret) => ({ env: { HOOKPROOF_SIGNATURE_HEADER: secret, HOOKPROOF_PROFILE: secret } }),
  'as a URL': (secret) => ({ flags: { url: secret } }),
  'in a URL': (secret) => ({ flags: { url: `https://user:${encodeURIComponent(secret)}@a.example/` } }),
  'as the name of a file': (secret) => ({
    yaml: `hmac:\n  secret: ${JSON.stringify(`$\{file:${secret.replace(/[/{}.]/g, '')}}`)}\n`,
  }),
  'literally in YAML': (secret) => ({ yaml: `url: https://a.example/\nhmac:\n  secret: ${secret}\n` }),
  'literally in YAML, quoted': (secret) => ({ yaml: `hmac:\n  secret: ${JSON.stringify(secret)}\n` }),
  'literally in YAML, in braces': (secret) => ({ yaml: `hmac: { secret: ${secret} }\n` }),
  'for the group': (secret) => ({ yaml: `hmac: ${secret}\n` }),
  'as a key in braces': (secret) => ({ yaml: `hmac: { ${secret} }\n` }),
  'as a key': (secret) => ({ yaml: `${secret}: x\n` }),
  'as a duration': (secret) => ({ yaml: `timeout: ${secret}\nseed: ${secret}\nconcurrency: ${secret}\n` }),
  'as a name': (secret) => ({ yaml: `profile: ${JSON.stringify(secret)}\nreporters: [${JSON.stringify(secret)}]\n` }),
  'in a credential header': (secret) => ({ yaml: `headers:\n  Authorization: ${JSON.stringify(secret)}\n` }),
  'in a credential header flag': (secret) => ({ flags: { header: [`Cookie: ${secret}`] } }),
  'in a header flag without a name': (secret) => ({ flags: { header: [secret.replaceAll(':', '')] } }),
  'in a header by reference': (secret) => ({ flags: { header: [`X-A: \${env:S}`] }, env: { S: secret.trim() } }),
  'as YAML': (secret) => ({ yaml: secret }),
};

/** Places of a private key, correct or mistaken. */
const KEY_PLACES: Record<string, (key: string) => Given> = {
  'in the file of the certificate': (key) => ({ flags: { clientCert: 'k', clientKey: 'k' }, files: { k: key } }),
  'in the file of the CA': (key) => ({ flags: { ca: 'k' }, files: { k: key } }),
  'as a flag': (key) => ({ flags: { clientCert: key, clientKey: key, ca: key } }),
  'in the environment': (key) => ({
    env: { HOOKPROOF_CLIENT_KEY: key, HOOKPROOF_CLIENT_CERT: key, HOOKPROOF_CA: key },
  }),
  'in YAML': (key) => ({ yaml: `tls:\n  client-key: ${JSON.stringify(key)}\n  client-cert: ${JSON.stringify(key)}\n` }),
  'in YAML, as a block': (key) => ({
    yaml: `tls:\n  client-key: |\n${key.replace(/^/gm, '    ')}\n  client-cert: x\n`,
  }),
  'in a fixture': (key) => ({
    yaml: `mtls: { fixtures: { revoked: { cert: ${JSON.stringify(key)}, key: ${JSON.stringify(key)} } } }\n`,
  }),
  'as a passphrase': (key) => ({ yaml: `tls:\n  passphrase: ${JSON.stringify(key)}\n` }),
};

/** Spellings in which a key may be printed. */
const SPELLINGS: readonly ((key: string) => string)[] = [
  (key) => key,
  (key) => key.replaceAll('\n', '\\n'),
  (key) => key.replaceAll('\n', ''),
  (key) => key.replaceAll('-----', '--'),
  (key) => key.replace(/-----.*-----\n/g, ''),
  (key) => key.replace(/-----.*-----|\n/g, ''),
  (key) => Buffer.from(key).toString('base64'),
  (key) => JSON.stringify({ key }),
];

/** Returns everything that may be printed, which excludes the values of `partner` and `secrets`. */
async function written(given: Given): Promise<string> {
  try {
    const config = await load(given);
    return [describeConfig(config), JSON.stringify(config.sources), ...config.advice].join('\n');
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    return `${error.code} ${error.message} ${error.hint} ${String(error.cause)} ${error.stack}`;
  }
}

describe('no secret is shown', () => {
  it.each(Object.entries(PLACES))('%s', async (_, given) => {
    await fc.assert(
      fc.asyncProperty(secrets, async (secret) => {
        const text = await written(given(secret));
        // Any part of the secret that is long enough to be useful counts.
        const shown = secret.match(/[A-Za-z0-9+/=_-]{12,}/g)?.filter((piece) => text.includes(piece)) ?? [];
        expect({ shown, text: shown.length > 0 ? text : '' }).toEqual({ shown: [], text: '' });
      }),
      { numRuns: 25 },
    );
  });

  it.each(Object.entries(KEY_PLACES))('of a private key: %s', async (_, given) => {
    for (const namedCurve of ['P-256', 'P-521']) {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve });
      const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
      for (const spell of SPELLINGS) {
        const text = await written(given(spell(key)));
        const pieces = spell(key).match(/[A-Za-z0-9+/=]{12,}/g) ?? [];
        expect(pieces.filter((piece) => text.includes(piece))).toEqual([]);
      }
    }
  });
});
