/** Endpoints with unusual status lines, interim answers and headers. */
import { createServer } from 'node:net';
import { listen } from '../../../endpoints/listen.ts';
import { answer, type Behaviour, flood, onConnection, onRequest, onRequests } from '../behaviour.ts';
import { isCorrectlySigned } from './forgeries.ts';

const STATUS_LINE = 'HTTP/1.1 200 OK\r\n';
const STATUSES = [200, 401, 500, 302, 404, 204, 418, 503];

/** Redirects to a second port, and complains if that port gets a request. */
const redirectToTrap: Behaviour = {
  name: 'redirects-to-a-trap',
  what: 'redirects (307) to another of its ports, which must not get a request',
  start: async (material) => {
    let followed = 0;
    const trap = await listen(
      createServer((socket) => {
        followed += 1;
        socket.destroy();
      }),
    );
    const { start } = onRequest('', '', answer(307, '', [`Location: ${trap.url}`]));
    const endpoint = await start(material);
    return {
      url: endpoint.url,
      close: async () => {
        await Promise.all([endpoint.close(), trap.close()]);
      },
      complaint: () => (followed === 0 ? null : `the redirect was followed ${followed} times`),
    };
  },
};

/** Sets cookies, and complains if one is sent back with valid credentials. */
const setsCookies: Behaviour = {
  name: 'sets-cookies',
  what: 'sets forty cookies with each 200; only forged deliveries may try them as a credential',
  start: async ({ secret, apiKey }) => {
    let returned = 0;
    const lines = Array.from({ length: 40 }, (_, at) => `Set-Cookie: c${at}=${'v'.repeat(50)}; Path=/`);
    const endpoint = await listen(
      createServer((socket) =>
        onRequests(socket, (_nth, piece) => {
          const isValid = isCorrectlySigned(piece, secret) && piece.includes(apiKey);
          if (isValid && /^cookie:.*c\d+=v/im.test(piece.toString('latin1'))) returned += 1;
          socket.write(answer(200, 'ok', lines));
        }),
      ),
    );
    return { ...endpoint, complaint: () => (returned === 0 ? null : `${returned} valid requests sent cookies back`) };
  },
};

export const HEADS: readonly Behaviour[] = [
  onRequest('differs-per-request', 'answers each request with the next of eight statuses', (nth) =>
    answer(STATUSES[nth % STATUSES.length] ?? 200, '', ['Location: /elsewhere']),
  ),
  onConnection('endless-headers', 'sends endless header lines', (socket) =>
    onRequests(socket, () => {
      socket.write(STATUS_LINE);
      flood(socket, 'X-More: and more\r\n'.repeat(500));
    }),
  ),
  onConnection('endless-header', 'sends one endless header', (socket) =>
    onRequests(socket, () => {
      socket.write(`${STATUS_LINE}X-Long: `);
      flood(socket, 'a'.repeat(16_384));
    }),
  ),
  onConnection('drips-its-head', 'sends its head a byte every 50 ms', (socket) =>
    onRequests(socket, () => {
      socket.write(STATUS_LINE);
      flood(socket, 'a', 50);
    }),
  ),
  onRequest('header-of-64-kb', 'accepts with a header of 64 kB', answer(200, 'ok', [`X-Long: ${'v'.repeat(65_536)}`])),
  onRequest(
    'two-thousand-headers',
    'accepts with 2,000 short headers',
    answer(
      200,
      'ok',
      Array.from({ length: 2_000 }, (_, at) => `A${at % 10}: 1`),
    ),
  ),
  onRequest(
    'header-of-15-kb',
    'accepts with a header of 15 kB, which is read, of characters that JSON escapes',
    Buffer.concat([
      Buffer.from(`${STATUS_LINE}Content-Length: 0\r\nX-Long: `),
      Buffer.alloc(15_000, 0x85),
      Buffer.from('\r\n\r\n'),
    ]),
  ),
  onConnection('interim-flood', 'sends 100 Continue endlessly', (socket) =>
    onRequests(socket, () => flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(500))),
  ),
  onConnection('early-hints-flood', 'sends 103 with 8 kB of links endlessly', (socket) =>
    onRequests(socket, () => flood(socket, `HTTP/1.1 103 Early Hints\r\nLink: <${'l'.repeat(8_000)}>\r\n\r\n`)),
  ),
  onRequest(
    'continue-games',
    'sends 100 and 102 twice before each 200, expected or not',
    `${'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'.repeat(2)}${answer(200).toString('latin1')}`,
  ),
  onConnection('upgrades', 'answers 101 and floods the new protocol', (socket) =>
    onRequests(socket, () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n');
      flood(socket, Buffer.alloc(16_384, 0x81));
    }),
  ),
  onRequest('status-000', 'answers 000', answer('000 Nothing')),
  onRequest('status-999', 'answers 999', answer('999 Everything')),
  onRequest('status-of-20-digits', 'has a status of twenty digits', answer('20000000000000000000 OK')),
  onRequest('no-reason-but-spaces', 'has 4 kB of spaces as its reason', answer(`200 ${' '.repeat(4096)}`)),
  onRequest('204-with-body', 'answers 204 with a body', answer('204 No Content', 'but a body')),
  onRequest('http-0.9', 'answers with only a body, like HTTP 0.9', '<html>200 OK</html>\r\n'),
  onRequest('http-9.9', 'answers in HTTP/9.9', answer(200).toString('latin1').replace('HTTP/1.1', 'HTTP/9.9')),
  onRequest(
    'http-2-preface',
    'answers with frames of HTTP/2',
    Buffer.from('00000c04000000000000030000006400040000ffff', 'hex'),
  ),
  onRequest('bare-line-feeds', 'ends its lines with only a line feed', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'),
  onRequest(
    'folded-headers',
    'folds a header over lines, and has spaces before a colon',
    `${STATUS_LINE}X-A: b\r\n  c\r\nX-B : d\r\nContent-Length: 0\r\n\r\n`,
  ),
  onRequest(
    'nul-in-head',
    'has NUL and other control characters in a header',
    `${STATUS_LINE}X-A: a\0b\x01\x1b[31m\r\nContent-Length: 0\r\n\r\n`,
  ),
  onConnection('blank-lines-forever', 'sends blank lines instead of an answer', (socket) =>
    onRequests(socket, () => flood(socket, '\r\n'.repeat(8_192))),
  ),
  onRequest(
    'two-answers',
    'answers each request twice: 401 and then 200',
    Buffer.concat([answer('401 No'), answer(200)]),
  ),
  onConnection(
    'poisons-kept-connections',
    'sends another 200, 20 ms after each 401, which looks like the answer to the next request',
    (socket) =>
      onRequests(socket, () => {
        socket.write(answer('401 No', ''));
        setTimeout(() => socket.writable && socket.write(answer(200, '')), 20);
      }),
  ),
  onRequest(
    'poisons-after-acceptance',
    'sends an unexpected 401 after each 200',
    Buffer.concat([answer(200), answer('401 No')]),
  ),
  onRequest(
    'redirects-to-metadata',
    'redirects to the cloud metadata service',
    answer(302, '', ['Location: http://169.254.169.254/latest/meta-data/']),
  ),
  onRequest(
    'redirects-to-a-file',
    'redirects to file:///etc/passwd',
    answer(301, '', ['Location: file:///etc/passwd']),
  ),
  onRequest(
    'redirects-to-script',
    'redirects to a javascript: URL with markup in it',
    answer(303, '', ['Location: javascript:alert(1)"><script>alert(2)</script>']),
  ),
  redirectToTrap,
  setsCookies,
  onRequest(
    'asks-to-wait',
    'answers 429 to everything, with a Retry-After of a century',
    answer(429, '', ['Retry-After: 3155760000']),
  ),
  onRequest(
    'nonsense-clock',
    'accepts with a meaningless Date, Age, Expires and Retry-After',
    answer(200, 'ok', [
      'Date: Mon, 99 Foo 99999 99:99:99 XYZ',
      'Age: -1e999',
      'Expires: 0',
      'Retry-After: NaN',
      'Date: again',
    ]),
  ),
];
