import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { quickStartCertificate } from '../../certs/index.ts';
import { type Endpoint, listen, serve } from '../endpoints/listen.ts';
import { bodyOf, hmacOf, verifying } from '../endpoints/verifying.ts';
import { workspace } from '../harness/config/workspace.ts';
import { inTurn } from '../setup/turn.ts';
import { type Finished, hookproof } from './hookproof.ts';

const SECRET = randomBytes(32).toString('base64');
const open: Endpoint[] = [];
const children: ChildProcess[] = [];

afterAll(async () => {
  for (const child of children) child.removeAllListeners('exit').kill('SIGKILL');
  await Promise.all(open.map((endpoint) => endpoint.close()));
});

async function using(endpoint: Promise<Endpoint>): Promise<string> {
  const opened = await endpoint;
  open.push(opened);
  return opened.url;
}

function answering(status: number, headers: Record<string, string> = {}): Promise<Endpoint> {
  return serve((request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end());
    request.on('error', () => {});
  });
}

/** Starts a receiver in a separate process. With `supervised`, it is restarted whenever it ends. */
async function fragile(supervised: boolean): Promise<string> {
  const script = new URL('../endpoints/fragile-receiver.mjs', import.meta.url).pathname;
  let port = '0';
  const start = async () => {
    const child = spawn(process.execPath, [script, port], {
      env: { ...process.env, HOOKPROOF_SECRET: SECRET },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.push(child);
    if (supervised) child.on('exit', () => void start());
    const [line] = await once(child.stdout ?? child, 'data');
    port = String(line).trim();
  };
  await start();
  return `http://127.0.0.1:${port}/hooks`;
}

/** Returns a port on which nothing is listening. */
async function closedPort(): Promise<string> {
  const { url, close } = await answering(200);
  await close();
  return url;
}

interface Wrong {
  readonly name: string;
  readonly url: () => Promise<string>;
  readonly code: number;
  /** The title of the diagnosis in the report. */
  readonly says: string;
  readonly args?: readonly string[];
}

/** Creates a receiver that verifies correctly, but has one other fault. */
function rightBut(wrong: Parameters<typeof verifying>[2]) {
  return verifying((body) => hmacOf(SECRET, body).toString('base64'), 'x-service-signature', wrong);
}

const SHORT = ['--timeout', '1s'];

const WRONG: readonly Wrong[] = [
  { name: 'closed port', url: closedPort, code: 3, says: 'Nothing is listening on the port of the endpoint' },
  {
    name: 'DNS fails',
    url: async () => 'http://no-such-host.invalid/hooks',
    code: 3,
    says: 'The host name of the endpoint does not resolve',
  },
  {
    name: 'TLS not trusted',
    url: async () => {
      const { cert, key } = await quickStartCertificate();
      const url = await using(listen(createHttps({ cert, key }, (_, response) => response.end())));
      return url.replace('http://127.0.0.1', 'https://localhost');
    },
    code: 1,
    says: 'which is neither sent nor trusted',
  },
  {
    name: 'http to a port that speaks TLS',
    url: async () => {
      const { cert, key } = await quickStartCertificate();
      return using(listen(createHttps({ cert, key }, (_, response) => response.end())));
    },
    code: 1,
    says: 'The port speaks TLS, but the URL begins with http',
  },
  {
    name: 'always 200',
    url: () => using(answering(200)),
    code: 1,
    says: 'Answers 200 to every delivery: valid, forged and malformed ones',
  },
  {
    name: 'always 401',
    url: () => using(answering(401)),
    code: 1,
    says: 'The endpoint rejects a delivery with valid credentials (401)',
  },
  {
    name: 'always 500',
    url: () => using(answering(500)),
    code: 1,
    says: 'The endpoint fails on every delivery, regardless of its credentials (500)',
  },
  {
    name: '404 path',
    url: () => using(answering(404)),
    code: 1,
    says: 'No handler serves this path (404)',
  },
  {
    name: 'redirect',
    url: () => using(answering(302, { Location: 'https://login.example/' })),
    code: 1,
    says: 'The endpoint redirects (302)',
  },
  {
    name: 'never answers',
    url: () => using(serve(() => {})),
    code: 1,
    says: 'The endpoint reads the delivery and never answers',
    args: SHORT,
  },
  {
    name: 'answers after 12 s, which is longer than the default time limit',
    url: () =>
      using(
        serve(
          (request, response) =>
            void request.resume().on('end', () => setTimeout(() => response.end(), 12_000).unref()),
        ),
      ),
    code: 1,
    says: 'The endpoint answers after the sender has stopped waiting',
  },
  {
    name: 'resets',
    url: () => using(listen(createTcp((socket) => socket.once('data', () => socket.resetAndDestroy())))),
    code: 1,
    says: 'The endpoint closes the connection without an answer',
  },
  {
    name: 'endless response body',
    url: () =>
      using(
        serve((_, response) => {
          const block = Buffer.alloc(64 * 1024, 'x');
          const more = () => {
            while (!response.destroyed && response.write(block));
            if (!response.destroyed) response.once('drain', more);
          };
          more();
        }),
      ),
    code: 1,
    says: 'The answer of the endpoint does not end',
  },
  {
    name: '10 MB of headers',
    url: () =>
      using(
        listen(
          createTcp((socket) =>
            socket.once('data', () => {
              socket.write('HTTP/1.1 200 OK\r\n');
              for (let line = 0; line < 1000 && !socket.destroyed; line++)
                socket.write(`X-Line-${line}: ${'x'.repeat(10_000)}\r\n`);
              socket.end('Content-Length: 0\r\n\r\n');
            }),
          ),
        ),
      ),
    code: 1,
    says: 'The headers of the answer are too large',
  },
  {
    name: 'wrong secret',
    url: () => using(serve(verifying((body) => hmacOf('another-secret', body).toString('base64')))),
    code: 1,
    says: 'The endpoint rejects a delivery with valid credentials (401)',
  },
  {
    name: 'wrong header name',
    url: () => using(serve(verifying((body) => hmacOf(SECRET, body).toString('base64'), 'x-webhook-signature'))),
    code: 1,
    says: 'The endpoint reads the signature from X-Webhook-Signature, not from X-Service-Signature',
  },
  {
    name: 'hex verifier',
    url: () => using(serve(verifying((body) => hmacOf(SECRET, body).toString('hex')))),
    code: 1,
    says: 'hex',
  },
  {
    name: 're-serialising verifier',
    url: () =>
      using(serve(verifying((body) => hmacOf(SECRET, JSON.stringify(JSON.parse(body.toString()))).toString('base64')))),
    code: 1,
    says: 'Verifies the signature over re-serialised JSON',
  },
  {
    name: '403 instead of 401',
    url: () => using(serve(rightBut({ refusal: 403 }))),
    code: 1,
    says: 'Rejects an invalid signature with 403 instead of 401',
  },
  {
    name: 'missing header accepted',
    url: () => using(serve(rightBut({ lenient: true }))),
    code: 1,
    says: 'Accepts a delivery without the signature header',
  },
  {
    name: 'answers 500 to malformed payloads',
    url: () => using(serve(rightBut({ malformed: 500 }))),
    code: 1,
    says: 'Does not handle every error of decoding and parsing the body: answers 500 to malformed payloads',
  },
  {
    name: 'dies on bad JSON and is restarted',
    url: () => fragile(true),
    code: 1,
    says: 'Ends the process on a body that is not JSON',
  },
  {
    name: 'dies and stays down',
    url: () => fragile(false),
    code: 1,
    says: 'A single delivery stops the receiver, and it does not recover',
    args: ['--recovery', '1s'],
  },
  {
    name: 'rate-limits with 429',
    url: () => {
      let left = 40;
      return using(
        serve((request, response) => {
          const right = verifying((body) => hmacOf(SECRET, body).toString('base64'));
          if (left-- > 0) right(request, response);
          else
            void bodyOf(request).then(
              () => response.writeHead(429).end(),
              () => {},
            );
        }),
      );
    },
    code: 3,
    says: 'rate-limited',
    // For a rate limit, the run waits six times as long.
    args: ['--suite', 'valid', '--suite', 'signature', '--recovery', '500ms'],
  },
];

describe('a run without credentials', () => {
  it('sends nothing, and names the variables', async () => {
    const { code, stderr, stdout } = await hookproof(['run', await using(answering(200))]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    for (const name of ['HOOKPROOF_SECRET', 'HOOKPROOF_API_KEY', '--open']) expect(stderr).toContain(name);
  });

  it.each([
    ['the flag', ['--open'], {}],
    ['the file', [], { 'hookproof.yaml': 'open: true\n' }],
  ])('has a verdict with --open, by %s, and says that authentication was not checked', async (_, args, files) => {
    const cwd = workspace(files);
    const { stdout } = await hookproof(['run', await using(answering(200)), ...args], { cwd });
    expect(stdout).toContain('no secret and no API key: authentication was not checked');
  });

  it('reports with --open that the endpoint requires them', async () => {
    const { code, stdout } = await hookproof(['run', await using(answering(401)), '--open']);
    expect({ code, title: stdout.includes('The endpoint requires credentials, but none are configured') }).toEqual({
      code: 1,
      title: true,
    });
  });

  it('rejects a secret on the command line', async () => {
    const { code, stderr } = await hookproof(['run', 'http://127.0.0.1:9/', '--secret', SECRET]);
    expect({ code, named: stderr.includes('--secret-file'), shown: stderr.includes(SECRET) }).toEqual({
      code: 2,
      named: true,
      shown: false,
    });
  });
});

describe('a broken endpoint', () => {
  it.concurrent.each(inTurn(WRONG, 3))(
    '$name: exit $code and one clear explanation',
    async ({ url, code, says, args = [] }) => {
      const finished: Finished = await hookproof(['run', await url(), '--yes', ...args], {
        env: { HOOKPROOF_SECRET: SECRET },
      });
      expect({ code: finished.code, stderr: finished.code === code ? '' : finished.stderr }).toEqual({
        code,
        stderr: '',
      });
      expect(finished.stdout.replace(/\s+/g, ' ')).toContain(says);
      expect(finished.stdout).toMatch(/\d+ of \d+ planned checks evaluated/);
      expect(finished.stdout).not.toContain(SECRET);
    },
  );
});
