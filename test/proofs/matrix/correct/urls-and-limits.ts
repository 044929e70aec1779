/** Receivers that serve one exact URL, answer in their own way at other URLs, limit the rate, or look up ids. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { ID_FIELDS, SAMPLE_KINDS, type SampleKind, scenariosOwning } from '../../../../scenarios/index.ts';
import { runNginx } from '../../tls-matrix/nginx.ts';
import {
  bodyOf,
  type CorrectOptions,
  type CorrectReceiver,
  idOf,
  isAuthentic,
  listenOn,
  statusOf,
} from './correct-receiver.ts';

type Elsewhere = (req: IncomingMessage, res: ServerResponse) => void;

/** Creates a receiver at exactly `/hooks`. */
function exactly(name: string, title: string, elsewhere: Elsewhere): CorrectReceiver {
  return {
    name,
    title,
    start: (options) =>
      listenOn(
        createServer((req, res) => {
          if (req.url !== '/hooks') {
            req.resume();
            req.once('end', () => elsewhere(req, res));
            req.once('error', () => res.destroy());
            return;
          }
          statusOf(req, options).then(
            (status) => res.writeHead(status, { 'Content-Type': 'text/plain' }).end('done'),
            () => res.destroy(),
          );
        }),
      ),
  };
}

const PAGE =
  '<!doctype html><html lang="en"><title>Shop</title><div id="app"></div><script src="/app.js"></script></html>';

/** Number of deliveries that each rate limit accepts per second, and in a burst. */
const RATE = { perSecond: 200, atOnce: 30 };

/** Rejects requests above the rate limit before it reads their bodies. */
function limiting(status: number, headers: Readonly<Record<string, string>>): CorrectReceiver['start'] {
  return (options) => {
    let left = RATE.atOnce;
    let since = performance.now();
    return listenOn(
      createServer((req, res) => {
        const now = performance.now();
        left = Math.min(RATE.atOnce, left + ((now - since) * RATE.perSecond) / 1000);
        since = now;
        if (left < 1) {
          req.resume();
          req.once('end', () => res.writeHead(status, headers).end());
          req.once('error', () => res.destroy());
          return;
        }
        left -= 1;
        statusOf(req, options).then(
          (result) => res.writeHead(result).end(),
          () => res.destroy(),
        );
      }),
    );
  };
}

/** The known ids. One id of each list is shared, and each check that must not share its id gets a separate one. */
const KNOWN: Readonly<Partial<Record<SampleKind, readonly string[]>>> = Object.fromEntries(
  SAMPLE_KINDS.map((kind) => [
    kind,
    Array.from({ length: scenariosOwning(kind).length + 1 }, (_, at) => `known-${kind}-${at + 1}`),
  ]),
);

/** Returns whether every id is in its list, and the field that this receiver needs is present. */
function isKnown(body: Uint8Array): boolean {
  const { data } = JSON.parse(new TextDecoder().decode(body)) as { data: Record<string, unknown> };
  const unknown = Object.entries(ID_FIELDS).some(
    ([field, kind]) => Object.hasOwn(data, field) && !KNOWN[kind]?.includes(String(data[field])),
  );
  return !unknown && data.tenant === 'acme';
}

async function statusOfKnown(req: IncomingMessage, options: CorrectOptions, unknown: number): Promise<number> {
  const body = await bodyOf(req);
  if (req.method !== 'POST') return 405;
  if (!isAuthentic(req, body, options)) return 401;
  if (idOf(body) === undefined) return 400;
  return isKnown(body) ? 200 : unknown;
}

function lookingUp(name: string, title: string, unknown: number): CorrectReceiver {
  return {
    name,
    title,
    samples: { ids: KNOWN, fields: [['data.tenant', 'acme']] },
    start: (options) =>
      listenOn(
        createServer((req, res) => {
          statusOfKnown(req, options, unknown).then(
            (status) => res.writeHead(status).end(),
            () => res.destroy(),
          );
        }),
      ),
  };
}

const BURSTS = ['http/burst', 'http/burst-mixed', 'http/forged-while-others-arrive', 'http/while-a-body-is-unfinished'];

export const urlsAndLimits: readonly CorrectReceiver[] = [
  exactly('exact-url', 'Answers 404 to everything except the exact URL, even with a query string.', (_req, res) => {
    res.writeHead(404).end();
  }),
  exactly('catch-all-page', 'Answers every other URL with the page of an application.', (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/html' }).end(PAGE);
  }),
  exactly('redirects-elsewhere', 'Redirects every other URL to the front page.', (_req, res) => {
    res.writeHead(302, { Location: '/' }).end();
  }),
  exactly('gone-elsewhere', 'Answers 410 with a problem document to every other URL.', (_req, res) => {
    res.writeHead(410, { 'Content-Type': 'application/problem+json' }).end('{"title":"Gone"}');
  }),
  exactly('login-elsewhere', 'Answers every other URL with 403 and a page to log in.', (_req, res) => {
    res.writeHead(403, { 'Content-Type': 'text/html' }).end('<form action="/login"><input name="user"></form>');
  }),
  {
    name: 'limits-by-429',
    title: 'Limits the rate with 429 and Retry-After.',
    start: limiting(429, { 'Retry-After': '1' }),
  },
  {
    name: 'limits-by-503',
    title: 'Limits the rate with 503 and no Retry-After.',
    trueWarnings: BURSTS,
    start: limiting(503, {}),
  },
  {
    name: 'nginx-limit-req',
    title: 'Behind nginx with limit_req, which answers 503.',
    needs: ['nginx'],
    trueWarnings: BURSTS,
    start: async (options) => {
      const receiver = await listenOn(
        createServer((req, res) => {
          statusOf(req, options).then(
            (status) => res.writeHead(status).end('{}'),
            () => res.destroy(),
          );
        }),
      );
      const nginx = await runNginx(1, async ([port]) => {
        return (
          'limit_req_zone $binary_remote_addr zone=hooks:1m rate=100r/s; ' +
          `server { listen 127.0.0.1:${port}; ` +
          `location / { limit_req zone=hooks burst=20 nodelay; proxy_pass ${new URL(receiver.url).origin}; } }`
        );
      });
      const close = async () => {
        await nginx.close();
        await receiver.close();
      };
      return { url: `http://127.0.0.1:${nginx.ports[0]}/hooks`, close };
    },
  },
  lookingUp('unknown-ids-404', 'Answers 404 to ids that it does not know, and needs a further field.', 404),
  lookingUp('unknown-ids-422', 'Answers 422 to ids that it does not know, and needs a further field.', 422),
];
