/** Other keys than the secret as it stands, which senders use by mistake. */
import { createHash } from 'node:crypto';
import type { Slip } from './slip.ts';

export interface KeySlip extends Slip {
  /** Undefined where the slip does not apply to this secret. */
  readonly key: (secret: string, apiKeys: readonly string[]) => string | Buffer | undefined;
}

const AS_IT_IS = 'Use the UTF-8 bytes of the secret as they are, with nothing decoded, cut or added.';

const ending = (name: string, what: string, end: string): KeySlip => ({
  name,
  title: `The sender used the secret with ${what} at its end.`,
  fix: `It was read from a file or copied with it. ${AS_IT_IS}`,
  common: true,
  key: (secret) => `${secret}${end}`,
});

export const KEY_SLIPS: readonly KeySlip[] = [
  {
    name: 'trimmed-secret',
    title: 'The sender used the secret without the white space that this receiver has around it.',
    fix: "Look at this receiver's secret: was a newline read from its file?",
    common: true,
    key: (secret) => secret.trim(),
  },
  ending('secret-newline', 'a newline', '\n'),
  ending('secret-crlf', 'a carriage return and a newline', '\r\n'),
  ending('secret-space', 'a space', ' '),
  {
    name: 'secret-base64-decoded',
    title: 'The sender decoded the secret from base64 before using it.',
    fix: AS_IT_IS,
    common: true,
    key: (secret) => Buffer.from(secret, 'base64'),
  },
  {
    name: 'secret-hex-decoded',
    title: 'The sender decoded the secret from hexadecimal before using it.',
    fix: AS_IT_IS,
    common: true,
    key: (secret) => (/^(?:[0-9a-f]{2})+$/i.test(secret) ? Buffer.from(secret, 'hex') : undefined),
  },
  {
    name: 'secret-prefix-decoded',
    title: 'The sender cut the prefix off the secret, and decoded the rest from base64.',
    fix: `Libraries for Standard Webhooks do this. ${AS_IT_IS}`,
    key: (secret) => (/^[a-z]+_/i.test(secret) ? Buffer.from(secret.replace(/^[a-z]+_/i, ''), 'base64') : undefined),
  },
  {
    name: 'secret-prefix-cut',
    title: 'The sender cut the prefix off the secret.',
    fix: AS_IT_IS,
    key: (secret) => secret.replace(/^[a-z]+_/i, ''),
  },
  {
    name: 'quoted-secret',
    title: 'The sender used the secret with quotes around it.',
    fix: `The quotes of a settings file were taken for a part of it. ${AS_IT_IS}`,
    key: (secret) => `"${secret}"`,
  },
  {
    name: 'single-quoted-secret',
    title: 'The sender used the secret with single quotes around it.',
    fix: `The quotes of a settings file were taken for a part of it. ${AS_IT_IS}`,
    key: (secret) => `'${secret}'`,
  },
  {
    name: 'unquoted-secret',
    title: 'The sender used the secret without the quotes that this receiver has around it.',
    fix: "Look at this receiver's secret: are the quotes of a settings file a part of it?",
    key: (secret) => /^(["'])(.*)\1$/s.exec(secret)?.[2],
  },
  {
    name: 'secret-base64-encoded',
    title: 'The sender used the base64 form of the secret.',
    fix: `A secret store (Kubernetes) shows values in base64. ${AS_IT_IS}`,
    key: (secret) => Buffer.from(secret, 'utf8').toString('base64'),
  },
  {
    name: 'secret-hashed',
    title: 'The sender used the SHA-256 digest of the secret.',
    fix: AS_IT_IS,
    key: (secret) => createHash('sha256').update(secret, 'utf8').digest(),
  },
  {
    name: 'secret-upper-case',
    title: 'The sender used the secret in upper case.',
    fix: AS_IT_IS,
    key: (secret) => secret.toUpperCase(),
  },
  {
    name: 'secret-lower-case',
    title: 'The sender used the secret in lower case.',
    fix: AS_IT_IS,
    key: (secret) => secret.toLowerCase(),
  },
  {
    name: 'api-key-as-secret',
    title: 'The sender used the API key as the secret.',
    fix: 'The two settings were swapped.',
    key: (_secret, [apiKey]) => apiKey,
  },
  {
    name: 'empty-secret',
    title: 'The sender used an empty secret.',
    fix: 'Its setting was not found. Anyone can make such signatures: refuse to start without a secret.',
    common: true,
    key: () => '',
  },
  {
    name: 'undefined-secret',
    title: 'The sender used the word "undefined" as the secret.',
    fix: 'Its setting was not found. Anyone can make such signatures: refuse to start without a secret.',
    key: () => 'undefined',
  },
  {
    name: 'null-secret',
    title: 'The sender used the word "null" as the secret.',
    fix: 'Its setting was not found. Anyone can make such signatures: refuse to start without a secret.',
    key: () => 'null',
  },
];
