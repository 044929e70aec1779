/** Signing mistakes that use a key other than the secret. Specification: HMAC signature (the secret as UTF-8). */
import { createHash } from 'node:crypto';
import { GO_MAP, PHP, PYTHON } from './json-dialects.ts';
import { type KeyMistake, type Row, rowsOf } from './mistake.ts';
import { BYTE_PRINTERS } from './printed-bytes.ts';
import { escapeHtml, formEncode, percentEncode } from './quoted-text.ts';
import { signingKey } from './sign.ts';

type KeyRows = Readonly<Record<string, Row<KeyMistake>>>;

/** Creates one row for each value. The rows differ only in this value. */
function rowsForEach<T>(values: Readonly<Record<string, T>>, row: (value: T) => Row<KeyMistake>): KeyRows {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, row(value)]));
}

type Convert = (secret: string) => string | undefined;

/** Creates one row for each way to convert a secret. All rows have the same note. */
function rowsWithNote(note: string, rows: Readonly<Record<string, readonly [how: string, convert: Convert]>>): KeyRows {
  return rowsForEach(rows, ([how, convert]) => ({ what: `the secret ${how}`, note, key: text(convert) }));
}

/** The characters that `\n`, `\r`, `\t` and `\0` stand for. */
const MEANINGS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0' };

/** Characters that tools add to either end of a secret, or remove from it. */
const EXTRA_CHARACTERS: KeyRows = {
  'secret-newline': {
    what: 'the secret with a line feed at its end',
    common: true,
    key: text((secret) => `${secret}\n`),
  },
  'trimmed-secret': {
    what: 'the secret without leading or trailing whitespace',
    note: 'The configured secret starts or ends with whitespace: have a new one issued, or use it unchanged.',
    common: true,
    key: text((secret) => secret.trim()),
  },
  'secret-crlf': {
    what: 'the secret with a carriage return and a line feed at its end',
    common: true,
    key: text((secret) => `${secret}\r\n`),
  },
  'secret-cr': {
    what: 'the secret with a carriage return at its end',
    note: 'A file with Windows line endings was split at line feeds only.',
    key: text((secret) => `${secret}\r`),
  },
  'secret-space': { what: 'the secret with a space at its end', common: true, key: text((secret) => `${secret} `) },
  'space-secret': { what: 'the secret with a space before it', key: text((secret) => ` ${secret}`) },
  'secret-tab': { what: 'the secret with a tab at its end', key: text((secret) => `${secret}\t`) },
  'secret-semicolon': { what: 'the secret with a semicolon at its end', key: text((secret) => `${secret};`) },
  'secret-comma': { what: 'the secret with a comma at its end', key: text((secret) => `${secret},`) },
  'secret-bom': {
    what: 'the secret with a leading byte order mark',
    note: 'The file of the secret was saved as "UTF-8 with BOM".',
    key: text((secret) => `\ufeff${secret}`),
  },
  'quoted-secret': {
    what: 'the secret with double quotes around it',
    common: true,
    key: text((secret) => `"${secret}"`),
  },
  'single-quoted-secret': { what: 'the secret with single quotes around it', key: text((secret) => `'${secret}'`) },
  'json-quoted-secret': {
    what: 'the secret as a JSON string, quoted and escaped',
    key: text((secret) => JSON.stringify(secret)),
  },
  'unquoted-secret': {
    what: 'the secret without the quotes around it',
    note: 'A loader treats the quotes as syntax, while the configured secret includes them.',
    key: text((secret) => /^(["'])(.*)\1$/s.exec(secret)?.[2]),
  },
  'assigned-secret': {
    what: 'the secret with "SECRET=" before it',
    note: 'The whole line of an env file was read.',
    key: text((secret) => `SECRET=${secret}`),
  },
};

const CONVERTED: KeyRows = {
  'base64-decoded-secret': {
    what: 'the secret after base64-decoding it',
    common: true,
    key: ({ secret }) => decodedBase64(secret),
  },
  'hex-decoded-secret': {
    what: 'the secret after hex-decoding it',
    common: true,
    key: ({ secret }) => (/^(?:[0-9a-f]{2})+$/i.test(secret) ? Buffer.from(secret, 'hex') : undefined),
  },
  'prefix-stripped-decoded-secret': {
    what: 'the secret without its prefix and base64-decoded',
    note: 'Libraries of the Standard Webhooks family do this to secrets that start with whsec_.',
    common: true,
    key: ({ secret }) => decodedBase64(withoutPrefix(secret) ?? ''),
  },
  'prefix-stripped-secret': {
    what: 'the secret without its prefix',
    note: 'A prefix such as whsec_ is part of the secret.',
    key: text(withoutPrefix),
  },
  'latin1-secret': {
    what: 'the secret encoded in Latin-1, not in UTF-8',
    common: true,
    key: ({ secret }) => Buffer.from(secret, 'latin1'),
  },
  'ascii-secret': {
    what: 'the secret with "?" instead of each character outside ASCII',
    key: text((secret) => secret.replace(/[^\0-\x7f]/g, '?')),
  },
  'double-utf8-secret': {
    what: 'the secret read as Latin-1 and encoded in UTF-8',
    key: text((secret) => Buffer.from(secret).toString('latin1')),
  },
  'upper-case-secret': { what: 'the secret in upper case', key: text((secret) => secret.toUpperCase()) },
  'lower-case-secret': { what: 'the secret in lower case', key: text((secret) => secret.toLowerCase()) },
  ...rowsWithNote('A settings page or a template escaped the secret before it was stored.', {
    'html-escaped-secret': ['escaped for HTML, as by PHP', html('&quot;', '&#039;')],
    'html-escaped-secret-double-quotes': ['escaped for HTML, as by PHP without ENT_QUOTES', html('&quot;', "'")],
    'html-escaped-secret-no-quotes': ['escaped for XML', html('"', "'")],
    'html-escaped-secret-python': ['escaped for HTML, as by Python', html('&quot;', '&#x27;')],
    'html-escaped-secret-ruby': ['escaped for HTML, as by Ruby and JavaScript', html('&quot;', '&#39;')],
    'html-escaped-secret-go': ['escaped for HTML, as by Go', html('&#34;', '&#39;')],
    'html-unescaped-secret': ['with its HTML escapes decoded', unescapeHtml],
  }),
  ...rowsWithNote(
    'The secret was passed in a URL, a form or a connection string, and only one side encoded or decoded it.',
    {
      'url-decoded-secret': ['after URL-decoding it', (secret) => decodeURIComponent(secret.replaceAll('+', ' '))],
      'percent-decoded-secret': ['after percent-decoding it, with its "+" kept', decodeURIComponent],
      'url-encoded-secret': ['in its URL-encoded form', encodeURIComponent],
      'raw-url-encoded-secret': ['percent-encoded, as by PHP, Ruby or .NET', (secret) => percentEncode(secret, '-_.~')],
      'path-encoded-secret': [
        'percent-encoded without its slashes, as by Python',
        (secret) => percentEncode(secret, '-_.~/'),
      ],
      'uri-encoded-secret': ['encoded with encodeURI', encodeURI],
      'form-encoded-secret': ['encoded as a form, as by PHP', (secret) => formEncode(secret)],
      'form-encoded-secret-python': [
        'encoded as a form, as by Python, Ruby or Go',
        (secret) => formEncode(secret, '-_.~'),
      ],
      'form-encoded-secret-java': [
        'encoded as a form, as by Java or JavaScript',
        (secret) => formEncode(secret, '-_.*'),
      ],
    },
  ),
  ...rowsWithNote('The secret was read as text from a file in which it is escaped.', {
    'json-escaped-secret': ['escaped for JSON', inner(JSON.stringify)],
    'json-escaped-secret-php': ['escaped for JSON, as by PHP', inner(PHP.string)],
    'json-escaped-secret-python': ['escaped for JSON, as by Python', inner(PYTHON.string)],
    'json-escaped-secret-go': ['escaped for JSON, as by Go', inner(GO_MAP.string)],
    'backslash-doubled-secret': ['with its backslashes doubled', (secret) => secret.replaceAll('\\', '\\\\')],
    'slashed-secret': ['with a backslash before each quote', (secret) => secret.replace(/['"\\]/g, '\\$&')],
  }),
  ...rowsWithNote('A shell or the loader of an env file interprets "\\" and "$": put the secret in single quotes.', {
    'backslash-dropped-secret': ['without its backslashes', unescaped(/\\(.)/gs, {})],
    'newline-unescaped-secret': ['with a line feed instead of each \\n in it', unescaped(/\\([nr])/g)],
    'unescaped-secret': ['with its backslash escapes interpreted', unescaped(/\\([nrt0"'\\])/g)],
    'expanded-secret': ['with "$NAME" in it replaced by the value of that variable, which is usually empty', expanded],
    'dollar-unescaped-secret': ['with "$" instead of each "$$"', (secret) => secret.replaceAll('$$', '$')],
  }),
  'base64-encoded-secret': {
    what: 'the base64 form of the secret',
    note: 'Secret stores such as Kubernetes display values in Base64: decode the displayed value.',
    common: true,
    key: text(base64),
  },
  'base64-of-line-secret': {
    what: 'the base64 form of the secret with a line feed',
    note: '`echo "$SECRET" | base64` encodes the line feed of `echo` too.',
    key: text((secret) => base64(`${secret}\n`)),
  },
  'hex-encoded-secret': {
    what: 'the hexadecimal form of the secret',
    key: text((secret) => Buffer.from(secret).toString('hex')),
  },
  ...rowsForEach(
    {
      'python-bytes-secret': BYTE_PRINTERS['python-bytes'],
      'json-buffer-secret': BYTE_PRINTERS['json-buffer'],
      'inspected-buffer-secret': BYTE_PRINTERS['inspected-buffer'],
      'comma-bytes-secret': BYTE_PRINTERS['comma-bytes'],
      'listed-bytes-secret': BYTE_PRINTERS['listed-bytes'],
      'go-bytes-secret': BYTE_PRINTERS['go-bytes'],
      'base64url-secret': BYTE_PRINTERS.base64url,
      'base64-lines-secret': BYTE_PRINTERS['base64-lines'],
    },
    ({ what, print }) => ({ what: what('the secret'), key: text((secret) => print(Buffer.from(secret))) }),
  ),
  'hashed-secret': {
    what: 'the SHA-256 digest of the secret',
    key: ({ secret }) => createHash('sha256').update(secret).digest(),
  },
  ...rowsForEach(
    {
      'hex-hashed-secret': ['SHA-256', 'sha256', 'hex'],
      'base64-hashed-secret': ['SHA-256', 'sha256', 'base64'],
      'md5-secret': ['MD5', 'md5', 'hex'],
      'sha1-secret': ['SHA-1', 'sha1', 'hex'],
      'sha512-secret': ['SHA-512', 'sha512', 'hex'],
    } as const,
    ([title, algorithm, encoding]) => ({
      what: `the ${title} digest of the secret in ${encoding === 'hex' ? 'hexadecimal' : 'base64'}`,
      note: 'The secret is stored like a password.',
      key: text((secret) => createHash(algorithm).update(secret).digest(encoding)),
    }),
  ),
  'utf16-secret': { what: 'the secret encoded in UTF-16', key: ({ secret }) => Buffer.from(secret, 'utf16le') },
};

const SHORTENED: KeyRows = {
  'first-32-of-secret': {
    what: 'only the first 32 characters of the secret',
    key: text((secret) => secret.slice(0, 32)),
  },
  'first-64-of-secret': {
    what: 'only the first 64 bytes of the secret',
    note: 'HMAC hashes keys that are longer than its block instead of truncating them.',
    key: ({ secret }) => signingKey(secret).subarray(0, 64),
  },
  ...Object.fromEntries(
    [16, 20, 24, 40, 50, 100, 128, 255].map((length) => [
      `first-${length}-of-secret`,
      { what: `only the first ${length} characters of the secret`, key: text((secret) => secret.slice(0, length)) },
    ]),
  ),
  ...rowsForEach<readonly [end: string, note: string]>(
    {
      'secret-cut-at-hash': [
        '#',
        'The loader of an env file or a YAML file treats "#" as the start of a comment: put the secret in quotes.',
      ],
      'secret-cut-at-space': [
        ' ',
        'A shell or a loader treats a space as the end of a value: put the secret in quotes.',
      ],
      'secret-cut-at-equals': [
        '=',
        'A line was split at every "=", and only the second part was used: split at the first one.',
      ],
      'secret-cut-at-dollar': ['$', 'A shell treats "$" as the start of a variable: put the secret in single quotes.'],
      'secret-cut-at-ampersand': ['&', 'A form or a query string ends a value at "&": encode the secret.'],
      'secret-cut-at-semicolon': [';', 'In an ini file, ";" starts a comment; in a shell, it ends a command.'],
      'secret-cut-at-comma': [',', 'The setting was split as a list.'],
      'secret-cut-at-colon': [':', 'The setting was split into a name and a password.'],
      'secret-cut-at-quote': ['"', 'A quote ended the value.'],
      'secret-cut-at-backslash': ['\\', 'A backslash ended the value.'],
    },
    ([end, note]) => ({
      what: `only the part of the secret before its first ${end === ' ' ? 'space' : `"${end}"`}`,
      note,
      key: text((secret) => (secret.indexOf(end) > 0 ? secret.slice(0, secret.indexOf(end)).trimEnd() : undefined)),
    }),
  ),
  'secret-after-colon': {
    what: 'only the part of the secret after its last ":"',
    note: 'The setting was split into a name and a password.',
    key: text((secret) => (secret.includes(':') ? secret.slice(secret.lastIndexOf(':') + 1) : undefined)),
  },
  'secret-without-last': { what: 'the secret without its last character', key: text((secret) => secret.slice(0, -1)) },
  'secret-without-first': { what: 'the secret without its first character', key: text((secret) => secret.slice(1)) },
};

const FORGEABLE = { note: 'Anyone can compute this signature, so anyone can forge deliveries.' };

const UNSET: KeyRows = {
  'empty-secret': { what: 'an empty secret', common: true, key: () => new Uint8Array(0) },
  'undefined-secret': { what: 'the word "undefined" as the secret', common: true, key: () => signingKey('undefined') },
  ...rowsForEach(
    {
      'null-secret': 'null',
      'none-secret': 'None',
      'nil-secret': 'nil',
      'go-nil-secret': '<nil>',
      'false-secret': 'false',
      'object-object-secret': '[object Object]',
      'promise-secret': '[object Promise]',
    },
    (word) => ({ what: `the text ${JSON.stringify(word)} as the secret`, key: () => signingKey(word) }),
  ),
  ...Object.fromEntries(
    ['WEBHOOK_SECRET', 'SECRET', 'HMAC_SECRET', 'SIGNING_SECRET', 'HOOKPROOF_SECRET'].flatMap((name) =>
      [name, `$${name}`, `\${${name}}`].map((word, form) => [
        `name-${name.toLowerCase().replaceAll('_', '-')}${['', '-dollar', '-braces'][form]}`,
        { what: `the name of a variable, ${word}, as the secret`, key: () => signingKey(word) },
      ]),
    ),
  ),
};

/** Sorted by likelihood. Where two mistakes give the same key, the first one is reported. */
export const KEY_MISTAKES: readonly KeyMistake[] = [
  ...rowsOf('secret-with-extra-characters', 'uses', EXTRA_CHARACTERS),
  ...rowsOf('converted-secret', 'uses', CONVERTED),
  ...rowsOf('shortened-secret', 'uses', SHORTENED),
  ...rowsOf<Row<KeyMistake>>('confused-credentials', 'uses', {
    'api-key-as-secret': {
      what: 'the API key as the secret',
      common: true,
      needs: 'apiKey',
      key: ({ apiKey }) => (apiKey === undefined ? undefined : signingKey(apiKey)),
    },
  }),
  ...rowsOf('unset-secret', 'uses', UNSET, FORGEABLE),
];

/**
 * Uses the converted secret as the key. The key is undefined if the conversion throws, as it does for a lone "%" or an
 * unpaired surrogate.
 */
function text(convert: Convert): KeyMistake['key'] {
  return ({ secret }) => {
    try {
      const changed = convert(secret);
      return changed === undefined ? undefined : signingKey(changed);
    } catch {
      return undefined;
    }
  };
}

function html(quote: string, apostrophe: string): Convert {
  return (secret) => escapeHtml(secret, quote, apostrophe);
}

function unescapeHtml(secret: string): string {
  const quotes = secret.replace(/&(?:quot|#0*34|#x22);/gi, '"').replace(/&(?:apos|#0*39|#x27);/gi, "'");
  return quotes.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Returns what `write` puts between its outer quotes. */
function inner(write: (secret: string) => string): Convert {
  return (secret) => write(secret).slice(1, -1);
}

function unescaped(escaped: RegExp, meanings = MEANINGS): Convert {
  return (secret) => secret.replace(escaped, (_, character: string) => meanings[character] ?? character);
}

function expanded(secret: string): string {
  const variable = /\$(?:\{(\w+)\}|([A-Za-z_]\w*|\d))/g;
  return secret.replace(variable, (_, braced, plain) => process.env[braced ?? plain] ?? '');
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function decodedBase64(secret: string): Uint8Array | undefined {
  const bytes = Buffer.from(secret, 'base64');
  return bytes.length === 0 ? undefined : bytes;
}

/** Removes `whsec_`, `sk_live_` and similar prefixes. Returns undefined when there is no prefix. */
function withoutPrefix(secret: string): string | undefined {
  const prefix = /^[a-z]{2,20}_(?:(?:test|live)_)?/i;
  return prefix.test(secret) ? secret.replace(prefix, '') : undefined;
}
