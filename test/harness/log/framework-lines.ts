/** Log lines as frameworks print them by default or at DEBUG, with and without what must not be in a log. */
import { createHash, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { LogLeak } from '../../../scenarios/index.ts';

/** What the run has sent, and what the receiver knows. */
export interface Known {
  readonly secret: string;
  readonly apiKey: string;
  /** The body and the signature of a valid delivery, and the address and the hash in it. */
  readonly body: string;
  readonly signature: string;
  readonly address: string;
  readonly hash: string;
  readonly customer: string;
  /** The signature that an unsigned delivery must have. */
  readonly expected: string;
  /** The signature that an attacker sent. */
  readonly forged: string;
}

export interface FrameworkLine {
  readonly name: string;
  readonly text: string;
  readonly leaks: readonly LogLeak[];
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const PEM = rsa.export({ type: 'pkcs8', format: 'pem' }).toString();
const EC_PEM = ec.export({ type: 'sec1', format: 'pem' }).toString();
const PUBLIC_PEM = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .publicKey.export({ type: 'spki', format: 'pem' })
  .toString();

const bytesOf = (text: string) => [...Buffer.from(text)];
const base64 = (text: string) => Buffer.from(text).toString('base64');
const toJson = (value: unknown) => JSON.stringify(value);
const mapped = (text: string, of: (byte: number) => string) => bytesOf(text).map(of).join('');
const hexByte = (byte: number) => byte.toString(16).padStart(2, '0');
const isPrintable = (byte: number) => byte >= 0x20 && byte < 0x7f;
const wrapped = (text: string, width: number) => (text.match(new RegExp(`.{1,${width}}`, 'gs')) ?? []).join('\n');

/** Formats text as Python's repr of a bytes object. */
function pythonBytes(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = mapped(text, (byte) => {
    const letter = String.fromCharCode(byte);
    if (letter === '\\' || letter === quote) return `\\${letter}`;
    return isPrintable(byte) ? letter : `\\x${hexByte(byte)}`;
  });
  return `b${quote}${inner}${quote}`;
}

/** Escapes non-ASCII characters, as Python's json.dumps and PHP's json_encode do. PHP also escapes slashes. */
const asciiJson = (text: string) =>
  toJson(text).replace(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
const phpJson = (text: string) => asciiJson(text).replaceAll('/', '\\/');
const goJson = (text: string) =>
  toJson(text).replace(/[<>&]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
const html = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#x27;');

type Json = null | string | number | boolean | Json[] | { [key: string]: Json };
const entriesOf = (value: object) => Object.entries(value as Record<string, Json>);

/** Formats a value as Java's AbstractMap.toString. */
function javaMap(value: Json): string {
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${value.map(javaMap).join(', ')}]`;
  return `{${entriesOf(value)
    .map(([name, inner]) => `${name}=${javaMap(inner)}`)
    .join(', ')}}`;
}

/** Formats a map as Go's %v, which sorts the keys. */
function goMap(value: Json): string {
  if (value === null) return '<nil>';
  if (typeof value === 'number') return value.toExponential(9).replace('e+9', 'e+09');
  if (typeof value !== 'object') return String(value);
  return `map[${entriesOf(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => `${name}:${goMap(inner)}`)
    .join(' ')}]`;
}

/** Formats a value as Ruby's Hash#inspect (before 3.4 and since) or Elixir's inspect. */
function arrows(value: Json, arrow: string, open = '{', nil = 'nil'): string {
  if (value === null) return nil;
  if (typeof value !== 'object') return toJson(String(value));
  return `${open}${entriesOf(value)
    .map(([name, inner]) => `${toJson(name)}${arrow}${arrows(inner, arrow, open, nil)}`)
    .join(', ')}}`;
}

/** Formats a value as PHP's print_r. */
function printR(value: Json, indent = ''): string {
  if (value === null) return '';
  if (typeof value !== 'object') return String(value);
  const rows = entriesOf(value).map(
    ([name, inner]) => `${indent}    [${name}] => ${printR(inner, `${indent}        `)}`,
  );
  return `Array\n${indent}(\n${rows.join('\n')}\n${indent})\n`;
}

/** Formats a value as Python's repr of a dict. */
function pythonDict(value: Json): string {
  if (value === null) return 'None';
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object') return String(value);
  return `{${entriesOf(value)
    .map(([name, inner]) => `'${name}': ${pythonDict(inner)}`)
    .join(', ')}}`;
}

/** Formats text as `hexdump -C` or `xxd`. */
function hexDump(text: string, style: 'hexdump' | 'xxd'): string {
  const bytes = bytesOf(text);
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.slice(at, at + 16);
    const letters = row.map((byte) => (isPrintable(byte) ? String.fromCharCode(byte) : '.')).join('');
    const hex = row.map(hexByte);
    rows.push(
      style === 'hexdump'
        ? `${at.toString(16).padStart(8, '0')}  ${hex.slice(0, 8).join(' ')}  ${hex.slice(8).join(' ')}  |${letters}|`
        : `${at.toString(16).padStart(8, '0')}: ${hex.join('').replace(/(....)(?=.)/g, '$1 ')}  ${letters}`,
    );
  }
  return rows.join('\n');
}

/** Prefixes each line as a container runtime does. */
const prefixed = (text: string) =>
  text
    .split('\n')
    .map((line) => `2026-01-02T03:04:05.000000000Z stdout F ${line}`)
    .join('\n');

const TIME = '2026-01-02 03:04:05';

/** Returns lines that reveal something, each with the kinds of leaks. */
export function leakingLines(known: Known): FrameworkLine[] {
  const { secret, apiKey, body, signature, expected, address, customer } = known;
  const parsed: Json = JSON.parse(body);
  const headers = {
    host: 'partner.example',
    'content-type': 'application/json',
    'x-service-signature': signature,
    'x-api-key': apiKey,
  };
  const both: LogLeak[] = ['api-key', 'sent-signature'];
  const all: LogLeak[] = [...both, 'body'];
  const rawRequest = [
    'POST /hooks HTTP/1.1',
    'Host: partner.example',
    'Content-Type: application/json',
    `X-Api-Key: ${apiKey}`,
    `X-Service-Signature: ${signature}`,
    '',
    body,
  ].join('\r\n');
  const settings = { port: 8080, webhook: { secret, path: '/hooks' } };
  const checksummed = address.replace(/[a-f]/g, (letter, at: number) => (at % 2 === 0 ? letter : letter.toUpperCase()));
  const rows: [string, string, LogLeak[]][] = [
    // Requests
    [
      'morgan, a key in the query',
      `::1 - - [02/Jan/2026:03:04:05 +0000] "POST /h?token=${apiKey} HTTP/1.1" 200 2`,
      ['api-key'],
    ],
    ['morgan, :req[x-api-key]', `POST /hooks 200 - 1.3 ms ${apiKey}`, ['api-key']],
    ['pino-http', toJson({ level: 30, req: { id: 1, method: 'POST', headers }, msg: 'request completed' }), both],
    [
      'pino-pretty',
      `[03:04:05.000] INFO (1): request\n    req: ${JSON.stringify({ headers }, null, 2).replaceAll('\n', '\n    ')}`,
      both,
    ],
    ['winston, a request inspected', `info: ${inspect({ headers }, { breakLength: 80 })}`, both],
    [
      'gunicorn DEBUG',
      `[${TIME} +0000] [7] [DEBUG] Headers: [('HOST', 'a'), ('X-API-KEY', '${apiKey}'), ` +
        `('X-SERVICE-SIGNATURE', '${signature}')]`,
      both,
    ],
    ['Django DEBUG page', `HTTP_X_API_KEY = '${apiKey}'\nHTTP_X_SERVICE_SIGNATURE = '${signature}'`, both],
    [
      'ASGI scope of uvicorn',
      `{'type': 'http', 'headers': [(b'x-api-key', b'${apiKey}'), (b'x-service-signature', b'${signature}')]}`,
      both,
    ],
    [
      'Spring CommonsRequestLoggingFilter',
      'DEBUG o.s.w.f.CommonsRequestLoggingFilter : After request [POST /hooks, client=127.0.0.1, ' +
        `headers=[x-api-key:"${apiKey}", x-service-signature:"${signature}"], payload=${body}]`,
      all,
    ],
    ['Go httputil.DumpRequest %s', `${TIME} ${rawRequest}`, all],
    ['Go httputil.DumpRequest %q', `${TIME} ${toJson(rawRequest)}`, all],
    [
      'PHP error_log(print_r($_SERVER))',
      `PHP Notice: ${printR({ HTTP_X_API_KEY: apiKey, HTTP_X_SERVICE_SIGNATURE: signature })}`,
      both,
    ],
    [
      'PHP var_dump of getallheaders',
      `array(2) {\n  ["X-Api-Key"]=>\n  string(${apiKey.length}) "${apiKey}"\n}`,
      ['api-key'],
    ],
    [
      'nginx, $http_x_api_key',
      `{"time":"1","request":"POST /hooks HTTP/1.1","key":"${apiKey}","status":200}`,
      ['api-key'],
    ],
    ['nginx, $request_body', `127.0.0.1 "POST /hooks" 200 "${body.replaceAll('"', '\\x22')}"`, ['body']],
    [
      'Apache, %{X-API-Key}i',
      `127.0.0.1 - - [02/Jan/2026:03:04:05 +0000] "POST /hooks" 200 2 "${apiKey}"`,
      ['api-key'],
    ],
    [
      '.NET HttpLogging',
      [
        'info: Microsoft.AspNetCore.HttpLogging.HttpLoggingMiddleware[1]',
        '      Request:',
        '      Protocol: HTTP/1.1',
        `      X-API-Key: ${apiKey}`,
        `      X-Service-Signature: ${signature}`,
        'info: Microsoft.AspNetCore.HttpLogging.HttpLoggingMiddleware[3]',
        `      RequestBody: ${body}`,
      ].join('\n'),
      all,
    ],
    ['HeaderMap of Rust', `DEBUG headers={"x-api-key": "${apiKey}", "x-service-signature": "${signature}"}`, both],
    ['ECS', toJson({ http: { request: { headers: { 'x-api-key': [apiKey] } } } }), ['api-key']],
    ['rack.input of Rails', `  Parameters: ${arrows(parsed, '=>')}`, ['body']],
    ['Rails with Ruby 3.4', `  Parameters: ${arrows(parsed, ' => ')}`, ['body']],
    ['Phoenix', `[debug] Processing with Hooks.create/2\n  Parameters: ${arrows(parsed, ' => ', '%{')}`, ['body']],
    // Bodies
    ['Python, bytes', `DEBUG:root:body=${pythonBytes(body)}`, ['body']],
    ['Python, a dict', `INFO:root:payload ${pythonDict(parsed)}`, ['body']],
    ['Java, a Map', `INFO c.e.Hooks - received ${javaMap(parsed)}`, ['body']],
    ['Go, a map', `${TIME} received ${goMap(parsed)}`, ['body']],
    ['PHP, print_r', `[02-Jan-2026] ${printR(parsed)}`, ['body']],
    ['JSON in JSON in JSON', toJson({ log: `${toJson({ msg: toJson({ body }) })}\n`, stream: 'stdout' }), ['body']],
    ['pretty-printed JSON', JSON.stringify(parsed, null, 2), ['body']],
    ['pretty-printed JSON of a container', prefixed(JSON.stringify(parsed, null, 2)), ['body']],
    ['pretty-printed JSON through rsyslog', JSON.stringify(parsed, null, 4).replaceAll('\n', '#012'), ['body']],
    ['base64 in lines of 76', wrapped(base64(body), 76), ['body']],
    ['hexdump -C', hexDump(body, 'hexdump'), ['body']],
    ['gzip in Base64', `payload=${gzipSync(body).toString('base64')}`, ['body']],
    ['SQL', `INSERT INTO inbox (payload) VALUES ('${body.replaceAll("'", "''")}')`, ['body']],
    ['Node, a Buffer in JSON', toJson({ body: Buffer.from(body).toJSON() }), ['body']],
    // Fields
    ['logfmt', `level=info msg="credited" wallet=${address}`, ['personal']],
    ['a checksummed address', `credited ${checksummed}`, ['personal']],
    ['Hibernate TRACE', `binding parameter (1:VARCHAR) <- [${address}]`, ['personal']],
    [
      'ActiveRecord',
      `  Wallet Create (0.3ms)  INSERT ... RETURNING "id"  [["customer_id", "${customer}"]]`,
      ['personal'],
    ],
    // Signatures
    [
      'log4j, an exception',
      `java.lang.SecurityException: expected=${expected} but was=null\n\tat com.example.Hooks.verify(Hooks.java:7)`,
      ['signature'],
    ],
    ['Python, a traceback', `AssertionError: assert b'${expected}' == b''`, ['signature']],
    [
      'a digest in hexadecimal',
      `computed ${Buffer.from(expected, 'base64').toString('hex')}, header missing`,
      ['signature'],
    ],
    ['Go, a digest in %v', `mac mismatch: want [${[...Buffer.from(expected, 'base64')].join(' ')}]`, ['signature']],
    ['Node, a digest inspected', `computed ${inspect(Buffer.from(expected, 'base64'))}`, ['signature']],
    // The secret
    ['Node, settings inspected', `settings: ${inspect(settings, { depth: 5 })}`, ['secret']],
    ['Node, settings in JSON', `settings: ${toJson(settings)}`, ['secret']],
    ['Node, a Buffer inspected', `key ${inspect(Buffer.from(secret))}`, ['secret']],
    ['Node, a Buffer in JSON', `key ${toJson(Buffer.from(secret))}`, ['secret']],
    ['Python, os.environ', `environ({'PATH': '/bin', 'WEBHOOK_SECRET': ${pythonDict(secret)}})`, ['secret']],
    ['Python, bytes of the secret', `key=${pythonBytes(secret)}`, ['secret']],
    ['Python, json.dumps', `{"secret": ${asciiJson(secret)}}`, ['secret']],
    ['PHP, json_encode', `{"secret":${phpJson(secret)}}`, ['secret']],
    ['Go, a struct', `{Addr::8080 Secret:${secret} Path:/hooks}`, ['secret']],
    ['Go, JSON', `{"Secret":${goJson(secret)}}`, ['secret']],
    ['Go, %v of bytes', `key=[${bytesOf(secret).join(' ')}]`, ['secret']],
    ['Go, %x', `key=${mapped(secret, hexByte)}`, ['secret']],
    [
      'Java, Arrays.toString',
      `key=[${bytesOf(secret)
        .map((byte) => (byte << 24) >> 24)
        .join(', ')}]`,
      ['secret'],
    ],
    ['.NET, BitConverter', `key=${bytesOf(secret).map(hexByte).join('-').toUpperCase()}`, ['secret']],
    ['Elixir, a binary', `key: <<${bytesOf(secret).join(', ')}>>`, ['secret']],
    ['Rust, a byte string', `key: ${pythonBytes(secret).replaceAll("'", '"')}`, ['secret']],
    ['xxd', hexDump(secret, 'xxd'), ['secret']],
    ['a page of HTML', `<td>WEBHOOK_SECRET</td><td>${html(secret)}</td>`, ['secret']],
    ['a form', `secret=${new URLSearchParams({ secret }).toString().slice(7)}&x=1`, ['secret']],
    ['Base64 without padding, for URLs', `k=${Buffer.from(secret).toString('base64url')}`, ['secret']],
    ['rich, wrapped', `│ secret = ${secret.slice(0, 20)}\n${secret.slice(20)} │`, ['secret']],
    // Private keys
    ['Node, TLS options inspected', `tls: ${inspect({ key: PEM, minVersion: 'TLSv1.2' })}`, ['private-key']],
    ['a container, a key', prefixed(EC_PEM), ['private-key']],
    ['rsyslog, a key', `key=${PEM.replaceAll('\n', '#012')}`, ['private-key']],
    [
      'Java, getEncoded in Base64',
      `key=${rsa.export({ type: 'pkcs8', format: 'der' }).toString('base64')}`,
      ['private-key'],
    ],
    ['a JWK', toJson({ keys: [createPrivateKey(EC_PEM).export({ format: 'jwk' })] }), ['private-key']],
  ];
  return rows.map(([name, text, leaks]) => ({ name, text: `${text}\n`, leaks }));
}

/** Returns lines that a careful receiver logs. */
export function harmlessLines(known: Known): FrameworkLine[] {
  const { secret, apiKey, body, address, hash, customer, forged } = known;
  const parsed = JSON.parse(body);
  const digest = (text: string) => createHash('sha256').update(text).digest('hex');
  const masked = { host: 'a', 'x-api-key': '[Redacted]', 'x-service-signature': '***' };
  const rows: [string, string][] = [
    ['morgan', '::1 - - [02/Jan/2026:03:04:05 +0000] "POST /hooks HTTP/1.1" 200 2 "-" "-"'],
    [
      'pino-http with redact',
      toJson({ level: 30, req: { headers: masked }, res: { statusCode: 200 }, responseTime: 3 }),
    ],
    ['.NET HttpLogging', '      X-API-Key: [Redacted]\n      X-Service-Signature: [Redacted]'],
    ['Django DEBUG page', "HTTP_X_API_KEY = '********************'"],
    ['Spring, masked', 'After request [POST /hooks, headers=[x-api-key:"masked", x-service-signature:"masked"]]'],
    [
      'Rails',
      '  Parameters: {"data"=>"[FILTERED]", "api_key"=>"[FILTERED]"}\nCompleted 200 OK in 3ms (ActiveRecord: 0.3ms)',
    ],
    ['a key cut short', `key ${apiKey.slice(0, 4)}…${apiKey.slice(-4)}`],
    ['a fingerprint of the key', `key-id=${digest(apiKey).slice(0, 12)} secret-id=${digest(secret).slice(0, 12)}`],
    ['a hash of the body', `sha256=${digest(body)} length=${Buffer.byteLength(body)}`],
    ['a hash of the body in Base64', `digest: SHA-256=${createHash('sha256').update(body).digest('base64')}`],
    ['id, type and status', `notification ${parsed.id} type=CAAS/BUY status=COMPLETED duration=3ms`],
    ['id and transaction in JSON', toJson({ id: parsed.id, type: 'CAAS', transactionId: parsed.data.transactionId })],
    [
      'the first characters of ids',
      `id=${parsed.id.slice(0, 8)} customer=${customer.slice(0, 8)} wallet=${address.slice(0, 8)}`,
    ],
    ['an address cut short', `to ${address.slice(0, 6)}…${address.slice(-4)}`],
    ['the hash of a blockchain transaction', `confirmed ${hash} on ETHEREUM`],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUZ2\n-----END CERTIFICATE-----'],
    ['a public key', PUBLIC_PEM],
    ['paths of keys', "{ keyFile: '/etc/ssl/private/server.key', secretFile: '/run/secrets/hmac' }"],
    ['a failed verification', 'invalid signature: expected 44 characters, got 40\n    at verify (/app/verify.js:7:9)'],
    ['the signature of an attacker', `rejected signature ${forged}`],
    [
      'an error of OpenSSL',
      `error:0909006C:PEM routines:get_name:no start line: expecting -----BEGIN ${'PRIVATE'} KEY-----`,
    ],
    ['a field that is missing', 'data.metadata.blockchainData.targetWalletAddress: Required, expected string'],
    ['an address of somebody else', 'gas paid by 0x00000000219ab540356cbb839cbe05303d7705fa'],
    ['trace ids', 'traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 commit=899ececf1c2f'],
    ['numbers of bytes', 'chunk lengths: [97, 66, 51, 104, 12, 255, 255, 97, 66, 51, 104, 12, 255, 255, 3, 1]'],
    ['a dump of something else', hexDump('GET /healthz HTTP/1.1\r\nHost: partner.example\r\n', 'hexdump')],
    ['a hash of a build in Base64', `integrity sha512-${createHash('sha512').update('a').digest('base64')}`],
    [
      'a JWK of a public key',
      toJson({ kty: 'EC', crv: 'P-256', x: digest('x').slice(0, 43), y: digest('y').slice(0, 43) }),
    ],
    ['the first bytes of a body', `body: ${body.slice(0, 30)}... (${body.length} bytes)`],
    ['gzip of something else', `snapshot ${gzipSync('{"ok":true}').toString('base64')}`],
  ];
  return rows.map(([name, text]) => ({ name, text: `${text}\n`, leaks: [] }));
}
