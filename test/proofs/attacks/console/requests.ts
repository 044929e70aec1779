/** Attacks on the console over HTTP. Each consists of a request and a check of its answer. */
import type { Answer, Request } from './exchange.ts';

export interface Target {
  /** The token that permits actions, and its name. */
  readonly token: string;
  readonly name: string;
  /** A text from a file outside the output folder, which no answer may contain. */
  readonly canary: string;
  /** Markup that names, URLs, causes and reasons contain. */
  readonly markup: string;
  readonly partners: { readonly certified: string; readonly hostile: string };
}

export interface Attack extends Request {
  readonly group: 'token' | 'reading' | 'origin' | 'host' | 'path' | 'script' | 'sql' | 'paging' | 'proxy';
  readonly name: string;
  /** Set if the request goes to the console that others can reach, through a reverse proxy. */
  readonly isPublic?: true;
  /** Returns null if the attack failed, as it should. Otherwise, returns what it got. */
  readonly got: (answer: Answer) => string | null;
}

type Header = readonly [name: string, value: string];

const shown = ({ body, status }: Answer) => `${status} ${JSON.stringify(body.slice(0, 80))}`;
const answered =
  (...statuses: number[]) =>
  (answer: Answer) =>
    statuses.includes(answer.status) ? null : shown(answer);

const FORM: Header = ['Content-Type', 'application/x-www-form-urlencoded'];
const JSON_BODY: Header = ['Content-Type', 'application/json'];
/** The header that a browser on the page sends, so that a request is invalid only in the attacked part. */
const OWN_PAGE: Header = ['Sec-Fetch-Site', 'same-origin'];
const basic = (user: string, password: string): Header => [
  'Authorization',
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
];

export function attacksOn(target: Target): Attack[] {
  return [
    ...withoutToken(target),
    ...reading(target),
    ...otherOrigins(target),
    ...otherHosts(target),
    ...proxyHeaders(target),
    ...paths(target),
    ...scripts(target),
    ...statements(target),
    ...paging(target),
  ];
}

function withoutToken({ name, partners: { certified }, token }: Target): Attack[] {
  const target = `/partners/${certified}/revoke`;
  const form = (fields: Record<string, string>) => String(new URLSearchParams({ reason: 'attack', ...fields }));
  const act = (what: string, parts: Partial<Attack>): Attack => ({
    ...{ group: 'token', name: `revoke ${what}`, method: 'POST', target, got: answered(400, 401, 403, 415) },
    ...{ headers: [FORM, OWN_PAGE], body: form({}) },
    ...parts,
  });
  const api = { target: `/api${target}`, body: JSON.stringify({ reason: 'attack' }) };
  return [
    act('without a token', {}),
    act('with an empty token', { body: form({ token: '' }) }),
    act('with another token', { body: form({ token: 'x'.repeat(token.length) }) }),
    act('with the token without its last character', { body: form({ token: token.slice(0, -1) }) }),
    act('with the token in upper case', { body: form({ token: token.toUpperCase() }) }),
    act('with the token twice', { body: `reason=attack&token=${token}&token=${token}` }),
    act('with the token as an object', { body: `reason=attack&token[toString]=${token}` }),
    act('with the token in the query', { target: `${target}?token=${token}` }),
    act('with the token in a cookie', { headers: [FORM, OWN_PAGE, ['Cookie', `token=${token}`]] }),
    act('with the password of a reader, which a browser adds by itself', {
      headers: [FORM, OWN_PAGE, basic(name, token)],
    }),
    act('over the API without a token', { ...api, headers: [JSON_BODY] }),
    act('over the API with another token', {
      ...api,
      headers: [JSON_BODY, ['Authorization', `Bearer ${'x'.repeat(48)}`]],
    }),
    act('over the API with the password of a reader', { ...api, headers: [JSON_BODY, basic(name, token)] }),
    act('over the API with the token in the body', {
      ...api,
      headers: [JSON_BODY],
      body: JSON.stringify({ reason: 'attack', token }),
    }),
    act('with GET', { method: 'GET', target: `${target}?reason=attack&token=${token}`, body: '', got: answered(404) }),
  ];
}

function reading({ canary, name, partners: { certified }, token }: Target): Attack[] {
  const places = ['/', '/expiring', '/trends', '/queue', '/audit', '/metrics', '/console.css', '/api/openapi.json'];
  const all = [...places, '/api/partners', '/api/audit', `/api/partners/${certified}`, `/partners/${certified}`];
  const host: Header = ['Host', 'console.example'];
  const got = (answer: Answer) => (answer.status === 401 && !answer.body.includes(canary) ? null : shown(answer));
  const read = (what: string, path: string, headers: readonly Header[]): Attack => ({
    ...{
      group: 'reading',
      name: `read ${path} ${what}`,
      isPublic: true,
      target: path,
      headers: [host, ...headers],
      got,
    },
  });
  return [
    ...all.map((path) => read('without a token', path, [])),
    read('with another token', '/', [basic(name, 'x'.repeat(token.length))]),
    read('with the token of another name', '/', [basic('mallory', token)]),
    read('with an empty password', '/', [basic(name, '')]),
    read('with the token and a character more', '/', [basic(name, `${token}x`)]),
    read('as a file', `/partners/${certified}/files/current/run.json`, []),
    read('with HEAD', '/', []),
  ];
}

function otherOrigins({ partners: { certified }, token }: Target): Attack[] {
  const body = String(new URLSearchParams({ reason: 'attack', token }));
  const send = (what: string, ...headers: Header[]): Attack => ({
    group: 'origin',
    name: `a form with the token ${what}`,
    method: 'POST',
    target: `/partners/${certified}/revoke`,
    headers: [FORM, ...headers],
    body,
    got: answered(403, 421),
  });
  const read = (what: string, ...headers: Header[]): Attack => ({
    group: 'origin',
    name: `a script reads ${what}`,
    target: '/api/partners',
    headers,
    got: answered(403),
  });
  return [
    send('from another origin', ['Origin', 'https://attacker.example']),
    send('from the origin null', ['Origin', 'null']),
    send('from the same host on another port', ['Origin', 'http://localhost:1']),
    send('from an origin that begins with this one', ['Origin', 'http://localhost.attacker.example']),
    send('from another site, by Sec-Fetch-Site', ['Sec-Fetch-Site', 'cross-site']),
    send('from another site of the same domain', ['Sec-Fetch-Site', 'same-site']),
    send('as a navigation', ['Sec-Fetch-Site', 'cross-site'], ['Sec-Fetch-Mode', 'navigate']),
    read('from another origin', ['Origin', 'https://attacker.example']),
    read('from another site', ['Sec-Fetch-Site', 'cross-site'], ['Sec-Fetch-Mode', 'cors']),
    {
      group: 'origin',
      name: 'a preflight asks for everything',
      method: 'OPTIONS',
      target: '/api/partners',
      headers: [
        ['Origin', 'https://attacker.example'],
        ['Access-Control-Request-Method', 'GET'],
      ],
      got: (answer) => (answer.headers.has('access-control-allow-origin') ? shown(answer) : null),
    },
  ];
}

function otherHosts({ name, partners: { certified }, token }: Target): Attack[] {
  const hosts = [
    ...['attacker.example', 'localhost.attacker.example', '127.0.0.1.attacker.example', 'localhost@attacker.example'],
    ...['attacker.example:80', 'localhost:1@attacker.example', '', '[::1].attacker.example', '10.0.0.1', '0.0.0.0'],
  ];
  return [
    ...hosts.map(
      (host): Attack => ({
        group: 'host',
        name: `Host: ${host || '(empty)'}`,
        target: `/api/partners/${certified}`,
        headers: [['Host', host]],
        got: answered(400, 421),
      }),
    ),
    {
      group: 'host',
      name: 'two Host lines',
      target: '/api/partners',
      headers: [
        ['Host', 'localhost'],
        ['Host', 'attacker.example'],
      ],
      got: answered(400, 421),
    },
    {
      group: 'host',
      name: 'no Host line',
      target: '',
      bytes: 'GET /api/partners HTTP/1.0\r\n\r\n',
      got: answered(400, 421),
    },
    {
      group: 'host',
      name: 'another host behind the reverse proxy, with the token',
      isPublic: true,
      target: '/api/partners',
      headers: [['Host', 'attacker.example'], basic(name, token)],
      got: answered(421),
    },
  ];
}

/** Attacks with the headers of a reverse proxy, which anyone can send. */
function proxyHeaders({ partners: { certified }, token }: Target): Attack[] {
  const evil = 'attacker.example';
  const forwarded: readonly Header[] = [
    ['X-Forwarded-Host', evil],
    ['X-Forwarded-Proto', 'https'],
    ['X-Forwarded-For', '127.0.0.1'],
    ['Forwarded', `host=${evil};proto=https;for=127.0.0.1`],
    ['X-Original-URL', '/metrics'],
    ['X-Rewrite-URL', '/metrics'],
    ['X-HTTP-Method-Override', 'POST'],
  ];
  const body = String(new URLSearchParams({ reason: 'attack', token }));
  const line = `GET / HTTP/1.1\r\nHost: localhost\r\n`;
  const inner = `GET /api/partners HTTP/1.1\r\nHost: ${evil}\r\n\r\n`;
  return [
    {
      group: 'proxy',
      name: 'headers of a reverse proxy change what a page says',
      target: '/api/openapi.json',
      headers: forwarded,
      got: (answer) => (answer.status === 200 && !answer.body.includes(evil) ? null : shown(answer)),
    },
    {
      group: 'proxy',
      name: 'X-Forwarded-Host makes another origin the own one',
      method: 'POST',
      target: `/partners/${certified}/revoke`,
      headers: [FORM, ['Origin', `https://${evil}`], ...forwarded],
      body,
      got: answered(403),
    },
    {
      group: 'proxy',
      name: 'X-Forwarded-For is on this machine, and reads without a token',
      isPublic: true,
      target: '/api/partners',
      headers: [['Host', 'console.example'], ...forwarded],
      got: answered(401),
    },
    ...['Content-Length: 5\r\nTransfer-Encoding: chunked', 'Content-Length: 5\r\nContent-Length: 6'].map(
      (both): Attack => ({
        group: 'proxy',
        name: `two lengths (${both
          .split(':')
          .slice(0, 2)
          .join(':')
          .replace(/\r\n.*/, '')}, ...)`,
        target: '',
        bytes: `${line}${both}\r\n\r\n0\r\n\r\n${inner}`,
        got: answered(400),
      }),
    ),
    {
      group: 'proxy',
      name: 'a transfer encoding that proxies read in two ways',
      target: '',
      bytes: `${line}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
      got: answered(400, 501),
    },
    {
      group: 'proxy',
      name: 'a header name with a space before the colon',
      target: '',
      bytes: `${line}Content-Length : 5\r\n\r\n${inner}`,
      got: answered(400),
    },
    {
      group: 'proxy',
      name: 'an absolute target of another host',
      target: `http://${evil}/api/partners`,
      got: (answer) => (answer.body.includes(evil) ? shown(answer) : null),
    },
  ];
}

function paths({ canary, partners: { certified } }: Target): Attack[] {
  const up = ['..', '%2e%2e', '%2E%2e', '..%2f..', '..%5c..', '....//', '%252e%252e', '..%00', '%c0%ae%c0%ae'];
  const targets = [
    ...up.flatMap((dots) => [
      `/partners/${certified}/files/current/${dots}/outside.json`,
      `/partners/${certified}/files/${dots}/outside.json`,
      `/partners/${dots}/files/current/outside.json`,
      `/partners/${certified}/files/current/${dots}%2foutside.json`,
      `/partners/${certified}/compare?before=${dots}&now=current`,
    ]),
    `/partners/${certified}/files/current/linked.json`,
    // The path is a symbolic link in place of a served file.
    `/partners/${certified}/files/current/configuration.json`,
    `/partners/${certified}/files/current/outcome.json`,
    `/partners/${certified}/files/_earlier/run.json`,
    `/partners/${certified}/files/current/run.json%00.html`,
    `/partners/${certified}/files/constructor/run.json`,
    `/partners/${certified}/files/current/__proto__`,
    `/partners/_earlier/files/current/run.json`,
    '/../package.json',
    '/console.css/../../package.json',
    '/etc/passwd',
  ];
  return targets.map((target) => ({
    group: 'path',
    name: target,
    target,
    got: (answer) =>
      [400, 404].includes(answer.status) && !answer.body.includes(canary) && !answer.body.includes('root:')
        ? null
        : shown(answer),
  }));
}

function scripts({ markup, partners: { certified, hostile } }: Target): Attack[] {
  const encoded = encodeURIComponent(markup);
  const pages = ['/', '/?sort=cause', '/expiring?within=400', '/trends', '/queue', '/audit', `/partners/${hostile}`];
  const reflected = [
    `/?q=${encoded}`,
    `/?after=${encoded}`,
    `/partners/${encoded}`,
    `/${encoded}`,
    `/?done=${encoded}`,
  ];
  const harmless = ({ body, headers, status }: Answer) => {
    const policy = headers.get('content-security-policy') ?? '';
    if (status === 0 || status >= 500) return `${status}`;
    if (body.includes(markup) || /<script|<img[^>]+onerror|javascript:/i.test(body)) return 'the markup, not escaped';
    return /default-src 'none'/.test(policy) && !/unsafe|script-src/.test(policy) ? null : `the policy ${policy}`;
  };
  return [
    ...[...pages, ...reflected].map(
      (target): Attack => ({ group: 'script', name: `the page ${target.slice(0, 40)}`, target, got: harmless }),
    ),
    {
      group: 'script',
      name: 'the API with stored markup, as a page',
      target: `/api/partners/${hostile}`,
      got: ({ headers, status }) =>
        status === 200 &&
        headers.get('content-type')?.startsWith('application/json') === true &&
        headers.get('x-content-type-options') === 'nosniff'
          ? null
          : `${status} ${headers.get('content-type')}`,
    },
    {
      group: 'script',
      name: 'a report with a script in it',
      target: `/partners/${certified}/files/current/report.html`,
      got: ({ headers, status }) =>
        status === 200 && /^sandbox; default-src 'none'/.test(headers.get('content-security-policy') ?? '')
          ? null
          : `${status} with the policy ${headers.get('content-security-policy')}`,
    },
  ];
}

function statements({ partners: { certified } }: Target): Attack[] {
  const texts = [
    "' OR 1=1 --",
    "'; DROP TABLE hookproof_register; --",
    "%' OR '%'='",
    '\\',
    '$1',
    '%',
    '_',
    '\u0000',
    "'",
  ];
  const one = (target: string, statuses: readonly number[]): Attack => ({
    group: 'sql',
    name: target.slice(0, 80),
    target,
    got: answered(...statuses),
  });
  const cursor = (...values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
  return [
    ...texts.map((text): Attack => {
      const target = `/api/partners?q=${encodeURIComponent(text)}`;
      const isEmpty = ({ body, status }: Answer) =>
        status === 400 || (status === 200 && JSON.parse(body).partners.length === 0);
      return { group: 'sql', name: target, target, got: (answer) => (isEmpty(answer) ? null : shown(answer)) };
    }),
    ...texts.flatMap((text) => {
      const value = encodeURIComponent(text);
      return [
        one(`/api/partners?sort=${value}`, [400]),
        one(`/api/partners?order=${value}`, [400]),
        one(`/api/partners?state=${value}`, [400]),
        one(`/api/partners?limit=${value}`, [400]),
        one(`/api/audit?after=${value}`, [400]),
        one(`/api/partners/${certified}${value}`, [404, 400]),
        one(`/api/partners?after=${cursor(text, text)}`, [400]),
        one(`/api/partners?sort=name&after=${cursor(text, text)}`, [200, 400]),
        one(`/api/partners/${certified}/records?after=${cursor(text, text)}`, [400]),
      ];
    }),
    one('/api/partners?sort=name&sort=partner;DROP%20TABLE%20hookproof_register', [400]),
    one(`/api/partners?after=${cursor(1, { toString: 'x' })}`, [400]),
  ];
}

function paging({ partners: { certified } }: Target): Attack[] {
  const numbers = ['-1', '0', '1e9', '201', '9'.repeat(30), '1.5', 'Infinity', 'NaN', '0x10', ''.padEnd(5000, '9')];
  const list = (target: string, statuses: readonly number[]): Attack => ({
    group: 'paging',
    name: target.slice(0, 60),
    target,
    got: answered(...statuses),
  });
  return [
    ...numbers.flatMap((number) => [
      // Some values are other spellings of an allowed number.
      list(`/api/partners?limit=${number}`, number === '0x10' ? [200, 400] : [400]),
      list(`/api/partners?within=${number}`, number === '0x10' || number === '201' ? [200, 400] : [400]),
      list(`/trends?weeks=${number}`, number === '0x10' ? [200, 400] : [400]),
      list(`/api/partners?after=${number}`, [400]),
      list(`/api/partners/${certified}/records?after=${number}`, [400]),
    ]),
    list(`/api/audit?after=${'9'.repeat(18)}`, [200]),
    list(`/api/audit?after=${'9'.repeat(19)}`, [400]),
    list(`/api/partners?after=${'A'.repeat(60_000)}`, [400, 414, 431]),
    list(`/?q=${'a'.repeat(14_000)}`, [400, 414, 431]),
    list(`/?${'state=failing&'.repeat(900)}`, [200, 400, 414, 431]),
  ];
}
