/** Another key than the UTF-8 bytes of the secret is used. Specification: HMAC signature (the secret as UTF-8). */
import { createHash } from 'node:crypto';
import type { KeyMistake } from './mistake.ts';
import { signingKey } from './sign.ts';

/** By likelihood: where two mistakes give the same key, the first one is reported. */
export const KEY_MISTAKES: readonly KeyMistake[] = [
  {
    name: 'secret-newline',
    title: 'the secret was used with a line feed at its end',
    mistake: 'secret-with-extra-characters',
    common: true,
    key: text((secret) => `${secret}\n`),
  },
  {
    name: 'trimmed-secret',
    title: 'the secret was used without the whitespace at its ends',
    mistake: 'secret-with-extra-characters',
    note: 'The configured secret has whitespace at an end: have a new one issued, or use it whole on both sides.',
    common: true,
    key: text((secret) => secret.trim()),
  },
  {
    name: 'base64-decoded-secret',
    title: 'the secret was base64-decoded before it was used',
    mistake: 'converted-secret',
    common: true,
    key: ({ secret }) => decodedBase64(secret),
  },
  {
    name: 'hex-decoded-secret',
    title: 'the secret was hex-decoded before it was used',
    mistake: 'converted-secret',
    common: true,
    key: ({ secret }) => (/^(?:[0-9a-f]{2})+$/i.test(secret) ? Buffer.from(secret, 'hex') : undefined),
  },
  {
    name: 'prefix-stripped-decoded-secret',
    title: 'the prefix of the secret was removed and the rest was base64-decoded',
    mistake: 'converted-secret',
    note: 'Libraries of the Standard Webhooks family do this to secrets that start with whsec_.',
    common: true,
    key: ({ secret }) => decodedBase64(withoutPrefix(secret) ?? ''),
  },
  {
    name: 'prefix-stripped-secret',
    title: 'the prefix of the secret was removed',
    mistake: 'converted-secret',
    note: 'A prefix such as whsec_ is part of the secret.',
    key: text(withoutPrefix),
  },
  {
    name: 'latin1-secret',
    title: 'the secret was encoded in Latin-1, not in UTF-8',
    mistake: 'converted-secret',
    common: true,
    key: ({ secret }) => Buffer.from(secret, 'latin1'),
  },
  {
    name: 'ascii-secret',
    title: 'the characters of the secret outside ASCII were replaced by "?"',
    mistake: 'converted-secret',
    key: text((secret) => secret.replace(/[^\0-\x7f]/g, '?')),
  },
  {
    name: 'secret-crlf',
    title: 'the secret was used with a carriage return and a line feed at its end',
    mistake: 'secret-with-extra-characters',
    common: true,
    key: text((secret) => `${secret}\r\n`),
  },
  {
    name: 'secret-cr',
    title: 'the secret was used with a carriage return at its end',
    mistake: 'secret-with-extra-characters',
    note: 'A file with Windows line endings was split at line feeds only.',
    key: text((secret) => `${secret}\r`),
  },
  {
    name: 'secret-space',
    title: 'the secret was used with a space at its end',
    mistake: 'secret-with-extra-characters',
    common: true,
    key: text((secret) => `${secret} `),
  },
  {
    name: 'secret-bom',
    title: 'the secret was used with a leading byte order mark',
    mistake: 'secret-with-extra-characters',
    note: 'The file of the secret was saved as "UTF-8 with BOM".',
    key: text((secret) => `\ufeff${secret}`),
  },
  {
    name: 'quoted-secret',
    title: 'the secret was used with double quotes around it',
    mistake: 'secret-with-extra-characters',
    common: true,
    key: text((secret) => `"${secret}"`),
  },
  {
    name: 'single-quoted-secret',
    title: 'the secret was used with single quotes around it',
    mistake: 'secret-with-extra-characters',
    key: text((secret) => `'${secret}'`),
  },
  {
    name: 'unquoted-secret',
    title: 'the secret was used without the quotes around it',
    mistake: 'secret-with-extra-characters',
    note: 'A loader takes the quotes for syntax, while the configured secret includes them.',
    key: text((secret) => /^(["'])(.*)\1$/s.exec(secret)?.[2]),
  },
  {
    name: 'first-32-of-secret',
    title: 'only the first 32 characters of the secret were used',
    mistake: 'shortened-secret',
    key: text((secret) => secret.slice(0, 32)),
  },
  {
    name: 'first-64-of-secret',
    title: 'only the first 64 bytes of the secret were used',
    mistake: 'shortened-secret',
    note: 'The standard HMAC hashes keys longer than its block, instead of cutting them.',
    key: ({ secret }) => signingKey(secret).subarray(0, 64),
  },
  {
    name: 'upper-case-secret',
    title: 'the secret was used in upper case',
    mistake: 'converted-secret',
    key: text((secret) => secret.toUpperCase()),
  },
  {
    name: 'lower-case-secret',
    title: 'the secret was used in lower case',
    mistake: 'converted-secret',
    key: text((secret) => secret.toLowerCase()),
  },
  {
    name: 'url-decoded-secret',
    title: 'the secret was URL-decoded before it was used',
    mistake: 'converted-secret',
    note: 'The secret was passed in a URL or a connection string, and "%" or "+" was decoded.',
    key: text((secret) => {
      try {
        return decodeURIComponent(secret.replaceAll('+', ' '));
      } catch {
        return undefined; // A lone "%", which every decoder rejects.
      }
    }),
  },
  {
    name: 'url-encoded-secret',
    title: 'the secret was used in its URL-encoded form',
    mistake: 'converted-secret',
    note: 'The secret was passed in a URL or a connection string, and was not decoded.',
    key: text(encodeURIComponent),
  },
  {
    name: 'base64-encoded-secret',
    title: 'the base64 form of the secret was used',
    mistake: 'converted-secret',
    note: 'Secret stores such as Kubernetes display values in Base64: decode the displayed value.',
    common: true,
    key: text((secret) => Buffer.from(secret, 'utf8').toString('base64')),
  },
  {
    name: 'hex-encoded-secret',
    title: 'the hexadecimal form of the secret was used',
    mistake: 'converted-secret',
    key: text((secret) => Buffer.from(secret, 'utf8').toString('hex')),
  },
  {
    name: 'hashed-secret',
    title: 'the SHA-256 digest of the secret was used as the key',
    mistake: 'converted-secret',
    key: ({ secret }) => createHash('sha256').update(secret, 'utf8').digest(),
  },
  {
    name: 'utf16-secret',
    title: 'the secret was encoded in UTF-16',
    mistake: 'converted-secret',
    key: ({ secret }) => Buffer.from(secret, 'utf16le'),
  },
  {
    name: 'api-key-as-secret',
    title: 'the API key was used as the secret',
    mistake: 'confused-credentials',
    common: true,
    needs: 'apiKey',
    key: ({ apiKey }) => (apiKey === undefined ? undefined : signingKey(apiKey)),
  },
  {
    name: 'empty-secret',
    title: 'an empty secret was used',
    mistake: 'unset-secret',
    common: true,
    key: () => new Uint8Array(0),
  },
  {
    name: 'undefined-secret',
    title: 'the word "undefined" was used as the secret',
    mistake: 'unset-secret',
    common: true,
    key: () => signingKey('undefined'),
  },
  {
    name: 'null-secret',
    title: 'the word "null" was used as the secret',
    mistake: 'unset-secret',
    key: () => signingKey('null'),
  },
];

function text(change: (secret: string) => string | undefined): KeyMistake['key'] {
  return ({ secret }) => {
    const changed = change(secret);
    return changed === undefined ? undefined : signingKey(changed);
  };
}

function decodedBase64(secret: string): Uint8Array | undefined {
  const bytes = Buffer.from(secret, 'base64');
  return bytes.length === 0 ? undefined : bytes;
}

/** Removes `whsec_`, `sk_live_` and the like; undefined when there is no prefix. */
function withoutPrefix(secret: string): string | undefined {
  const prefix = /^[a-z]{2,20}_(?:(?:test|live)_)?/i;
  return prefix.test(secret) ? secret.replace(prefix, '') : undefined;
}
