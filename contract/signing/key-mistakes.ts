/** Another key than the UTF-8 bytes of the secret is used. Specification: HMAC signature (the secret as UTF-8). */
import { createHash } from 'node:crypto';
import type { KeyMistake } from './mistake.ts';
import { signingKey } from './sign.ts';

const AS_IS = 'Use the UTF-8 bytes of the secret as they are: decode, cut or change nothing.';
const WHOLE = 'Use the secret with nothing before or after it, as its UTF-8 bytes.';
const AT_THE_ENDS =
  'Use the configured secret whole on both sides, or have a new one issued without whitespace or quotes at its ends.';
const REQUIRE = 'Load the secret, and refuse to start without one.';

/** By likelihood: where two mistakes give the same key, the first one is reported. */
export const KEY_MISTAKES: readonly KeyMistake[] = [
  {
    name: 'secret-newline',
    title: 'the secret was used with a line feed at its end',
    why: 'The secret was read from a file or made with echo, and the line feed was kept.',
    fix: `${WHOLE} Write the file with printf '%s', and check the length of what is loaded.`,
    common: true,
    key: text((secret) => `${secret}\n`),
  },
  {
    name: 'trimmed-secret',
    title: 'the secret was used without the whitespace at its ends',
    why: 'One side trims the secret, and the configured secret has whitespace at an end (a line feed from its file?).',
    fix: AT_THE_ENDS,
    common: true,
    key: text((secret) => secret.trim()),
  },
  {
    name: 'base64-decoded-secret',
    title: 'the secret was base64-decoded before it was used',
    why: 'Some services issue base64 secrets that are decoded first. Lenient decoders accept any text.',
    fix: AS_IS,
    common: true,
    key: ({ secret }) => decodedBase64(secret),
  },
  {
    name: 'hex-decoded-secret',
    title: 'the secret was hex-decoded before it was used',
    why: 'The secret looks like hexadecimal and was taken for an encoding of the key.',
    fix: AS_IS,
    common: true,
    key: ({ secret }) => (/^(?:[0-9a-f]{2})+$/i.test(secret) ? Buffer.from(secret, 'hex') : undefined),
  },
  {
    name: 'prefix-stripped-decoded-secret',
    title: 'the prefix of the secret was removed and the rest was base64-decoded',
    why: 'Libraries of the Standard Webhooks family do this to secrets that start with whsec_.',
    fix: `${AS_IS} Do not use such a library here: its scheme is another one.`,
    common: true,
    key: ({ secret }) => decodedBase64(withoutPrefix(secret) ?? ''),
  },
  {
    name: 'prefix-stripped-secret',
    title: 'the prefix of the secret was removed',
    why: 'A prefix such as whsec_ was taken for a label; it is part of the secret.',
    fix: AS_IS,
    key: text(withoutPrefix),
  },
  {
    name: 'latin1-secret',
    title: 'the secret was encoded in Latin-1, not in UTF-8',
    why: "The platform's default charset was used for a secret with characters outside ASCII.",
    fix: 'Name the charset: use the UTF-8 bytes of the secret.',
    common: true,
    key: ({ secret }) => Buffer.from(secret, 'latin1'),
  },
  {
    name: 'ascii-secret',
    title: 'the characters of the secret outside ASCII were replaced by "?"',
    why: 'The ASCII encoder was used, such as Encoding.ASCII in .NET.',
    fix: 'Use the UTF-8 bytes of the secret.',
    key: text((secret) => secret.replace(/[^\0-\x7f]/g, '?')),
  },
  {
    name: 'secret-crlf',
    title: 'the secret was used with a carriage return and a line feed at its end',
    why: 'The secret was read from a file with Windows line endings.',
    fix: WHOLE,
    common: true,
    key: text((secret) => `${secret}\r\n`),
  },
  {
    name: 'secret-cr',
    title: 'the secret was used with a carriage return at its end',
    why: 'A file with Windows line endings was split at line feeds only.',
    fix: WHOLE,
    key: text((secret) => `${secret}\r`),
  },
  {
    name: 'secret-space',
    title: 'the secret was used with a space at its end',
    why: 'The secret was copied with a space after it, or is followed by a comment in a settings file.',
    fix: WHOLE,
    common: true,
    key: text((secret) => `${secret} `),
  },
  {
    name: 'secret-bom',
    title: 'the secret was used with a leading byte order mark',
    why: 'The file of the secret was saved as "UTF-8 with BOM".',
    fix: WHOLE,
    key: text((secret) => `\ufeff${secret}`),
  },
  {
    name: 'quoted-secret',
    title: 'the secret was used with double quotes around it',
    why: 'In some environment files and container settings, quotes are part of the value.',
    fix: WHOLE,
    common: true,
    key: text((secret) => `"${secret}"`),
  },
  {
    name: 'single-quoted-secret',
    title: 'the secret was used with single quotes around it',
    why: 'In some environment files and container settings, quotes are part of the value.',
    fix: WHOLE,
    key: text((secret) => `'${secret}'`),
  },
  {
    name: 'unquoted-secret',
    title: 'the secret was used without the quotes around it',
    why: 'A loader takes quotes for syntax, while the configured secret includes them.',
    fix: AT_THE_ENDS,
    key: text((secret) => /^(["'])(.*)\1$/s.exec(secret)?.[2]),
  },
  {
    name: 'first-32-of-secret',
    title: 'only the first 32 characters of the secret were used',
    why: 'The secret was cut to the size of an AES-256 key or of a database column.',
    fix: 'Use the whole secret: an HMAC takes keys of any length.',
    key: text((secret) => secret.slice(0, 32)),
  },
  {
    name: 'first-64-of-secret',
    title: 'only the first 64 bytes of the secret were used',
    why: 'A hand-written HMAC cuts keys at its block size, where the standard hashes longer keys first.',
    fix: "Use the platform's HMAC function.",
    key: ({ secret }) => signingKey(secret).subarray(0, 64),
  },
  {
    name: 'upper-case-secret',
    title: 'the secret was used in upper case',
    why: 'A settings system changed the letter case.',
    fix: AS_IS,
    key: text((secret) => secret.toUpperCase()),
  },
  {
    name: 'lower-case-secret',
    title: 'the secret was used in lower case',
    why: 'A settings system changed the letter case.',
    fix: AS_IS,
    key: text((secret) => secret.toLowerCase()),
  },
  {
    name: 'url-decoded-secret',
    title: 'the secret was URL-decoded before it was used',
    why: 'It was passed in a URL or a connection string, and "%" or "+" in it was decoded.',
    fix: AS_IS,
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
    why: 'It was passed in a URL or a connection string, and was not decoded.',
    fix: AS_IS,
    key: text(encodeURIComponent),
  },
  {
    name: 'base64-encoded-secret',
    title: 'the base64 form of the secret was used',
    why: 'Secret stores such as Kubernetes display values in base64, and this text was copied.',
    fix: 'Decode the value that the secret store displays, and use the secret itself.',
    common: true,
    key: text((secret) => Buffer.from(secret, 'utf8').toString('base64')),
  },
  {
    name: 'hex-encoded-secret',
    title: 'the hexadecimal form of the secret was used',
    why: 'The secret was converted to hexadecimal for a key parameter, which took it as text.',
    fix: AS_IS,
    key: text((secret) => Buffer.from(secret, 'utf8').toString('hex')),
  },
  {
    name: 'hashed-secret',
    title: 'the SHA-256 digest of the secret was used as the key',
    why: 'The secret is stored hashed, or was hashed to get a key of fixed length.',
    fix: AS_IS,
    key: ({ secret }) => createHash('sha256').update(secret, 'utf8').digest(),
  },
  {
    name: 'utf16-secret',
    title: 'the secret was encoded in UTF-16',
    why: "The platform's in-memory encoding was used (Encoding.Unicode in .NET, a Windows file).",
    fix: 'Use the UTF-8 bytes of the secret.',
    key: ({ secret }) => Buffer.from(secret, 'utf16le'),
  },
  {
    name: 'api-key-as-secret',
    title: 'the API key was used as the secret',
    why: 'The two settings were swapped.',
    fix: 'Use the signature secret for the signature, and the API key only for its own header.',
    common: true,
    needs: 'apiKey',
    key: ({ apiKey }) => (apiKey === undefined ? undefined : signingKey(apiKey)),
  },
  {
    name: 'empty-secret',
    title: 'an empty secret was used',
    why: 'The setting was missing, and an empty text was used instead. Anyone can make such signatures.',
    fix: REQUIRE,
    common: true,
    key: () => new Uint8Array(0),
  },
  {
    name: 'undefined-secret',
    title: 'the word "undefined" was used as the secret',
    why: 'A missing setting was converted to text. Anyone can make such signatures.',
    fix: REQUIRE,
    common: true,
    key: () => signingKey('undefined'),
  },
  {
    name: 'null-secret',
    title: 'the word "null" was used as the secret',
    why: 'A missing setting was converted to text. Anyone can make such signatures.',
    fix: REQUIRE,
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
