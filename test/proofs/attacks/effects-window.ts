/**
 * Attempts to read an effects window without its token, to break it, or to find it where it must not be. Each attempt
 * is sent as raw bytes. Returns the problems as sentences, or none if the window withstands all attempts.
 */
import { connect } from 'node:net';

export interface AttackedWindow {
  /** The port of the window, and the port for deliveries. */
  readonly port: number;
  readonly deliveryPort: number;
  readonly token: string;
  /** A notification that was handled, and one of its values, which no answer without the token may contain. */
  readonly notification: string;
  readonly canary: string;
}

interface Attempt {
  readonly name: string;
  readonly bytes: string;
  /** Set if the attempt is sent to the port for deliveries. */
  readonly toDeliveries?: true;
  /** The expected statuses of the answer. Null means that the connection may also be closed without one. */
  readonly expected: readonly (number | null)[];
  /** Set if the attempt has the token, so that the answer may contain data. */
  readonly authorized?: true;
}

type Header = readonly [name: string, value: string];

function request(target: string, headers: readonly Header[] = [], method = 'GET', body = ''): string {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const lines: Header[] = [
    ...(given.has('host') ? [] : ([['Host', 'localhost']] as const)),
    ...headers,
    ...(body === '' ? [] : ([['Content-Length', String(Buffer.byteLength(body))]] as const)),
    ['Connection', 'close'],
  ];
  return `${method} ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

function attempts({ token, notification }: AttackedWindow): Attempt[] {
  const target = `/effects?notification=${notification}`;
  const right: Header = ['Authorization', `Bearer ${token}`];
  const unauthorized = (name: string, headers: readonly Header[], more: Partial<Attempt> = {}): Attempt => ({
    name,
    bytes: request(target, headers),
    expected: [401],
    ...more,
  });
  const authorized = (name: string, expected: readonly number[], bytes: string): Attempt => ({
    name,
    bytes,
    expected,
    authorized: true,
  });
  const bearer = (value: string): readonly Header[] => [['Authorization', value]];
  const otherLast = token.endsWith('a') ? 'b' : 'a';
  const credentials: Attempt[] = [
    unauthorized('without a token', []),
    unauthorized('an empty token', bearer('Bearer ')),
    unauthorized('another token', bearer(`Bearer ${'a'.repeat(token.length)}`)),
    unauthorized('the token without its last character', bearer(`Bearer ${token.slice(0, -1)}`)),
    unauthorized('the token with another last character', bearer(`Bearer ${token.slice(0, -1)}${otherLast}`)),
    unauthorized('the token and one character more', bearer(`Bearer ${token}x`)),
    unauthorized('the token in upper case', bearer(`Bearer ${token.toUpperCase()}`)),
    unauthorized('the token in quotes', bearer(`Bearer "${token}"`)),
    unauthorized('the token twice in one line', bearer(`Bearer ${token}, Bearer ${token}`)),
    unauthorized('a false token, then the token', [...bearer('Bearer false'), right]),
    unauthorized('the token, then a false token', [right, ...bearer('Bearer false')]),
    unauthorized('the token twice', [right, right]),
    unauthorized('the token without the scheme', bearer(token)),
    unauthorized('the token with the scheme Basic', bearer(`Basic ${Buffer.from(`:${token}`).toString('base64')}`)),
    unauthorized('the token with the scheme Digest', bearer(`Digest ${token}`)),
    unauthorized('the token in a cookie', [['Cookie', `token=${token}; Authorization=Bearer ${token}`]]),
    unauthorized('the token in X-API-Key', [['X-API-Key', token]]),
    unauthorized('the token in Proxy-Authorization', [['Proxy-Authorization', `Bearer ${token}`]]),
    unauthorized('the token in X-Authorization', [['X-Authorization', `Bearer ${token}`]]),
    unauthorized('the token in the query', [], { bytes: request(`${target}&token=${token}&access_token=${token}`) }),
    unauthorized('the token as user information', [], {
      bytes: request(`http://user:${token}@localhost${target}`),
    }),
    unauthorized('the token in the body', [], { bytes: request(target, [], 'GET', `access_token=${token}`) }),
    unauthorized('the token in a trailer', [], {
      bytes:
        `GET ${target} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTrailer: Authorization\r\n` +
        `Connection: close\r\n\r\n0\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    }),
    unauthorized('the token in the second request only', [], {
      bytes: `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n${request('/x', [right])}`,
    }),
  ];
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'QUERY'].flatMap((method) => [
    { name: `${method} without a token`, bytes: request(target, [], method), expected: [401] },
    authorized(`${method} with the token`, [405], request(target, [right], method)),
  ]);
  const paths = [
    '/',
    '/effects/',
    '//effects',
    '/./effects',
    '/x/../effects',
    '/Effects',
    '/%65ffects',
    '/effects%00',
    '/effects%2f',
    '/effects;x',
    '/effects.json',
    `http://localhost/effects`,
    '*',
  ].flatMap((path) => [
    { name: `${path} without a token`, bytes: request(path + target.slice('/effects'.length)), expected: [400, 401] },
    authorized(`${path} with the token`, [400, 404], request(path + target.slice('/effects'.length), [right])),
  ]);
  const queries = [
    '',
    '?',
    '?notification=',
    '?notification=a,,b',
    '?notification=%',
    '?notification=%ff',
    '?notification=a&notification=b',
    '?notification=a&transaction=b',
    '?transaction=',
    '?transaction=a=b',
    '?Notification=a',
    '?notification[]=a',
    '?__proto__=a',
    '?constructor=a',
    `?notification=${'a,'.repeat(50)}a`,
    `?notification=${'a,'.repeat(9999)}a`,
  ].map((query) => authorized(`the query ${query.slice(0, 40)}`, [400], request(`/effects${query}`, [right])));
  const unknown = ['__proto__', 'constructor', 'hasOwnProperty', '%00', '..%2f..%2fetc%2fpasswd', 'a'.repeat(50_000)];
  const values = unknown.flatMap((id) => [
    authorized(`the notification ${id.slice(0, 40)}`, [200], request(`/effects?notification=${id}`, [right])),
    authorized(`the transaction ${id.slice(0, 40)}`, [200], request(`/effects?transaction=${id}`, [right])),
  ]);
  const sizes: Attempt[] = [
    authorized('a long id', [414], request(`/effects?notification=${'a'.repeat(105_000)}`, [right])),
    authorized('a very long id', [431], request(`/effects?notification=${'a'.repeat(1_000_000)}`, [right])),
    unauthorized('a very long id without a token', [], {
      bytes: request(`/effects?notification=${'a'.repeat(1_000_000)}`),
      expected: [431],
    }),
    unauthorized('5,000 header lines', Array<Header>(5000).fill(['X-A', '1'])),
    unauthorized('500,000 header lines', Array<Header>(500_000).fill(['X-A', '1']), { expected: [431, null] }),
    unauthorized('a long token', bearer(`Bearer ${'a'.repeat(90_000)}`)),
  ];
  const hosts = ['attacker.example', 'localhost.attacker.example', '127.0.0.1.attacker.example', 'localhost@evil', '']
    .map((host) => ({ name: `Host: ${host}`, bytes: request(target, [['Host', host], right]), expected: [400, 421] }))
    .concat({
      name: 'two Host lines',
      bytes: request(target, [['Host', 'a'], ['Host', 'b'], right]),
      expected: [400, 421],
    });
  const places: Attempt[] = [
    { name: 'the port for deliveries', bytes: request(target, [right]), toDeliveries: true, expected: [401, 404, 405] },
    {
      name: 'the port for deliveries, POST',
      bytes: request(target, [right], 'POST', '{}'),
      toDeliveries: true,
      expected: [401, 404],
    },
    unauthorized('a delivery to the window', [], { bytes: request('/', [], 'POST', '{"id":"x"}') }),
    unauthorized('CONNECT', [], { bytes: request('localhost:80', [], 'CONNECT'), expected: [400, 401, 405, null] }),
    unauthorized('an upgrade', [['Upgrade', 'websocket']]),
    unauthorized('bytes that are not HTTP', [], { bytes: '\x16\x03\x01\x02\x00\r\n\r\n', expected: [400, null] }),
    unauthorized('both lengths', [], {
      bytes: `GET ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      expected: [400],
    }),
  ];
  return [...credentials, ...methods, ...paths, ...queries, ...values, ...sizes, ...hosts, ...places];
}

/** Returns everything that is received until the connection ends. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (data) => (answer += data));
    // The window may close the connection before it has read everything.
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
    socket.write(bytes, 'latin1');
  });
}

/** Sends every attempt, with slow clients at the same time. Resolves with the problems. */
export async function attackWindow(window: AttackedWindow): Promise<string[]> {
  const problems: string[] = [];
  const slow = [
    '',
    'GET /effects',
    `GET /effects?notification=${window.notification} HTTP/1.1\r\nHost: localhost\r\nX-`,
  ];
  const slowClients = slow.map((bytes) => exchange(window.port, bytes).then((answer) => ({ bytes, answer })));
  for (const attempt of attempts(window)) {
    const { name, bytes, toDeliveries, expected, authorized } = attempt;
    const answer = await exchange(toDeliveries ? window.deliveryPort : window.port, bytes);
    const [, found] = /^HTTP\/1\.1 (\d{3})/.exec(answer) ?? [];
    const status = found === undefined ? null : Number(found);
    if (!expected.includes(status)) problems.push(`${name}: answered ${status}, expected ${expected.join(' or ')}`);
    if (/^HTTP\/1\.1 5/m.test(answer)) problems.push(`${name}: answered ${status}`);
    if (authorized !== true && (answer.includes(window.canary) || answer.includes('"handled"')))
      problems.push(`${name}: the answer has data`);
    if (answer.includes(window.token)) problems.push(`${name}: the answer has the token`);
  }
  for (const { bytes, answer } of await Promise.all(slowClients)) {
    if (answer !== '' && !answer.startsWith('HTTP/1.1 408 ')) problems.push(`slow client "${bytes}": got "${answer}"`);
  }
  return problems;
}
