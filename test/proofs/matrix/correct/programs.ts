/** Receivers that are separate programs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runNginx } from '../../tls-matrix/nginx.ts';
import {
  type CorrectOptions,
  type CorrectReceiver,
  listenOn,
  onlyHeader,
  type StartedReceiver,
  statusOf,
} from './correct-receiver.ts';

/**
 * Starts a program that reads its credentials from the environment and prints its port. It gets its own process group,
 * which is ended as a whole, because some of these programs start others. Rejects if the program ends before it prints
 * the port.
 */
async function startProgram(
  [program, ...args]: readonly [string, ...string[]],
  { secret, apiKey, token = '' }: CorrectOptions,
): Promise<StartedReceiver> {
  const { PATH, HOME } = process.env;
  const child = spawn(program, args, {
    env: { PATH, HOME, HOOKPROOF_SECRET: secret, HOOKPROOF_API_KEY: apiKey, HOOKPROOF_EFFECTS_TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said = (said + piece.toString()).slice(-2000);
  });
  const exited = once(child, 'exit');
  const ended = exited.then(() => Promise.reject(new Error(`${program} ended: ${said}`)));
  ended.catch(() => {});
  const end = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  // An interrupted test leaves no processes behind.
  process.once('exit', end);
  const lines = createInterface({ input: child.stdout });
  const [port] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  // A full pipe would stop the program.
  lines.on('line', () => {});
  return {
    url: `http://127.0.0.1:${Number(port)}/hooks`,
    close: async () => {
      process.off('exit', end);
      end();
      await exited;
    },
  };
}

/** Returns the file of a receiver in another language, which uses only the standard library. */

const fileOf = (name: string) => fileURLToPath(new URL(`./other-languages/${name}`, import.meta.url));

function inLanguage(
  name: string,
  title: string,
  command: readonly [string, ...string[]],
  concurrency?: number,
): CorrectReceiver {
  return {
    name,
    title,
    needs: [command[0]],
    ...(concurrency !== undefined && { concurrency }),
    start: (options) => startProgram(command, options),
  };
}

export const otherLanguages: readonly CorrectReceiver[] = [
  inLanguage('python-http-server', 'Python, http.server with a thread per connection.', [
    'python3',
    fileOf('http_server.py'),
  ]),
  {
    ...inLanguage('python-wsgi', 'Python, a WSGI application on wsgiref with one request at a time.', [
      'python3',
      fileOf('wsgi.py'),
    ]),
    trueWarnings: ['http/while-a-body-is-unfinished'],
  },
  inLanguage('perl-sockets', 'Perl, bare sockets and eight processes.', ['perl', fileOf('sockets.pl')]),
  inLanguage('php-built-in', 'PHP, its built-in server.', ['php', fileOf('built-in-server.php')]),
  inLanguage('ruby-sockets', 'Ruby, TCPServer with a thread per connection.', ['ruby', fileOf('sockets.rb')]),
  inLanguage('ruby-webrick', 'Ruby, WEBrick.', ['ruby', fileOf('webrick.rb')]),
  inLanguage('java-http-server', 'Java, com.sun.net.httpserver with a thread pool.', [
    'java',
    '-Xshare:auto',
    '-XX:TieredStopAtLevel=1',
    fileOf('Receiver.java'),
  ]),
  inLanguage('go-net-http', 'Go, net/http.', ['go', 'run', fileOf('receiver.go')]),
];

/** A receiver in another language with an effects window on the same port. */
export const otherLanguageWithEffects: CorrectReceiver = {
  name: 'effects-python',
  title: 'Python, with a queue, one worker, and its effects window on the port for deliveries.',
  needs: ['python3'],
  hasEffects: true,
  start: async (options) => {
    const started = await startProgram(['python3', fileOf('effects.py')], options);
    return { ...started, effectsUrl: new URL('/effects', started.url).href };
  },
};

/** A receiver of several processes that share only the port. */

export const processes: readonly CorrectReceiver[] = [
  {
    name: 'processes',
    title: 'Three processes that share only the port, each answering with its own number.',
    start: (options) =>
      startProgram([process.execPath, fileURLToPath(new URL('./processes.mjs', import.meta.url))], options),
  },
];

/** Receivers on bare node:http behind nginx, which buffers requests and answers invalid HTTP itself. */

/** How nginx forwards the client certificate. Both lines overwrite headers of the client. */
const FORWARDED =
  'proxy_set_header X-SSL-Client-Verify $ssl_client_verify; proxy_set_header X-SSL-Client-DN $ssl_client_s_dn;';

/** Returns the lines of a server block for TLS, and writes their files to the folder. */
async function tlsLines({ tls }: CorrectOptions, folder: string): Promise<string> {
  if (tls === undefined) return '';
  const files = { 'server.pem': tls.cert, 'server.key': tls.key, 'clients.pem': tls.clientCa };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  return `ssl_certificate server.pem; ssl_certificate_key server.key; ssl_protocols TLSv1.2 TLSv1.3;
    ssl_client_certificate clients.pem; ssl_verify_client on;`;
}

/** Starts nginx and a receiver that trusts its headers. `listen` is the text after the port in the configuration. */
async function start(options: CorrectOptions, listen: string): Promise<StartedReceiver> {
  const { tls } = options;
  const receiver = await listenOn(
    createServer((req, res) => {
      const verified = onlyHeader(req, 'x-ssl-client-verify') === 'SUCCESS';
      const named = onlyHeader(req, 'x-ssl-client-dn').split(',').includes(`CN=${tls?.clientName}`);
      statusOf(req, options).then(
        (status) => res.writeHead(tls === undefined || (verified && named) ? status : 401).end('{}'),
        () => res.destroy(),
      );
    }),
  );
  const nginx = await runNginx(1, async ([port], folder) => {
    const lines = await tlsLines(options, folder);
    return (
      `server { listen 127.0.0.1:${port} ${listen}; ${lines} location / { ${FORWARDED} proxy_pass ` +
      `${new URL(receiver.url).origin}; } }`
    );
  });
  return {
    url: `${tls === undefined ? 'http://127.0.0.1' : 'https://localhost'}:${nginx.ports[0]}/hooks`,
    close: async () => {
      await nginx.close();
      await receiver.close();
    },
  };
}

export const behindNginx: readonly CorrectReceiver[] = [
  {
    name: 'behind-nginx',
    title: 'Behind nginx over plain HTTP, with default settings.',
    needs: ['nginx'],
    start: (options) => start(options, ''),
  },
  {
    name: 'behind-nginx-tls',
    title: 'Behind nginx that terminates mutual TLS and forwards the client name in a header.',
    needs: ['nginx'],
    tls: true,
    start: (options) => start(options, 'ssl'),
  },
  {
    name: 'behind-nginx-http-2',
    title: 'Behind nginx that terminates mutual TLS and supports HTTP/2.',
    needs: ['nginx'],
    tls: true,
    start: (options) => start(options, 'ssl http2'),
  },
];
