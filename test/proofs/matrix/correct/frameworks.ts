/** Receivers in the Node frameworks that partners use, as their documentation suggests. */
import { createServer } from 'node:http';
import { serve } from '@hono/node-server';
import type { ErrorRequestHandler, Express, Request } from 'express';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import {
  bodyOf,
  type CorrectReceiver,
  idOf,
  isAuthentic,
  listenOn,
  sameText,
  signatureOf,
} from './correct-receiver.ts';

/** Maximum size of a body, in bytes. */
const LIMIT = 2 * 1024 * 1024;

/** Answers with the status of an error and a fixed text. */
const errorPage: ErrorRequestHandler = (error: { status?: number }, _req, res, _next) => {
  const status = error.status ?? 500;
  res.status(status).json(status === 401 ? { error: 'unauthorized' } : { error: 'rejected' });
};

function listening(app: Express) {
  app.all('/hooks', (_req, res) => void res.set('Allow', 'POST').sendStatus(405));
  app.use(errorPage);
  return listenOn(createServer(app));
}

export const frameworks: readonly CorrectReceiver[] = [
  {
    name: 'express-raw',
    title: 'Express with express.raw for every type, and JSON.parse after the checks.',
    start: (options) => {
      const app = express();
      app.post('/hooks', express.raw({ type: () => true, limit: LIMIT, inflate: false }), (req: Request, res) => {
        const body: Buffer = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
        if (!isAuthentic(req, body, options)) return void res.status(401).json({ error: 'unauthorized' });
        res.sendStatus(idOf(body) === undefined ? 400 : 200);
      });
      return listening(app);
    },
  },
  {
    name: 'express-verify',
    title: 'Express with the verify option of express.json, which checks before it parses.',
    start: (options) => {
      const app = express();
      const verify: NonNullable<NonNullable<Parameters<typeof express.json>[0]>['verify']> = (req, _res, body) => {
        if (!isAuthentic(req, body, options)) throw Object.assign(new Error('unauthorized'), { status: 401 });
      };
      app.post('/hooks', express.json({ type: () => true, limit: LIMIT, inflate: false, verify }), (req, res) => {
        res.sendStatus(typeof req.body?.id === 'string' ? 200 : 400);
      });
      return listening(app);
    },
  },
  {
    name: 'fastify',
    title: 'Fastify with a content type parser that keeps the raw bytes.',
    start: async (options) => {
      const app = fastify({ bodyLimit: LIMIT, forceCloseConnections: true });
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('*', { parseAs: 'buffer' }, (_req, body, done) => done(null, body));
      app.post('/hooks', (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        if (!isAuthentic(request.raw, body, options)) return reply.code(401).send({ error: 'unauthorized' });
        return reply.code(idOf(body) === undefined ? 400 : 200).send({});
      });
      const url = await app.listen({ port: 0, host: '127.0.0.1' });
      return { url: `${url}/hooks`, close: () => app.close() };
    },
  },
  {
    name: 'hono',
    title: 'Hono on Node, with the headers and the body of the Fetch standard.',
    start: ({ secret, apiKey }) => {
      const app = new Hono();
      // The sender disconnected in the middle of a body.
      app.onError((_error, context) => context.json({ error: 'aborted' }, 400));
      app.post('/hooks', async (context) => {
        const body = new Uint8Array(await context.req.arrayBuffer());
        const signed = sameText(context.req.header('X-Service-Signature') ?? '', signatureOf(body, secret));
        const keyed = sameText(context.req.header('X-API-Key') ?? '', apiKey);
        if (!signed || !keyed) return context.json({ error: 'unauthorized' }, 401);
        return idOf(body) === undefined ? context.json({ error: 'malformed' }, 400) : context.json({ ok: true });
      });
      return new Promise((resolve) => {
        const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
          const close = () =>
            new Promise<void>((closed) => {
              server.close(() => closed());
              if ('closeAllConnections' in server) server.closeAllConnections();
            });
          resolve({ url: `http://127.0.0.1:${port}/hooks`, close });
        });
      });
    },
  },
  {
    name: 'koa',
    title: 'Koa that reads the request stream itself.',
    start: (options) => {
      const app = new Koa();
      app.silent = true;
      app.use(async (context) => {
        if (context.path !== '/hooks') return;
        if (context.method !== 'POST') context.throw(405);
        const body = await bodyOf(context.req);
        if (!isAuthentic(context.req, body, options)) {
          context.status = 401;
          context.body = { error: 'unauthorized' };
          return;
        }
        context.status = idOf(body) === undefined ? 400 : 200;
        context.body = {};
      });
      return listenOn(createServer(app.callback()));
    },
  },
];
