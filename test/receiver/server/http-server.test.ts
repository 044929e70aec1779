/** Requests and responses have the prototypes of the app from the start, which V8 handles faster. */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import type { Express } from 'express';
import express from 'express';
import { afterAll, describe, expect, it } from 'vitest';
import { matchedClasses } from '../../../receiver/server/http-server.ts';

setFlagsFromString('--allow-natives-syntax');
/** Returns whether V8 stores the fields of an object in order in memory instead of in a hash table. */
const isFast = new Function('object', 'return %HasFastProperties(object)') as (object: object) => boolean;

type Classes = ReturnType<typeof matchedClasses>;

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** Returns the state of the last of 20 requests through an app of ten layers, after its response. */
async function lookAt(classesFor: (app: Express) => Classes) {
  const app = express();
  for (let layer = 0; layer < 10; layer++) app.use((_req, _res, next) => next());
  let seen: Record<'matched' | 'request' | 'response' | 'locals' | 'inherits', boolean> | undefined;
  app.use((req, res) => {
    res.locals.rawBody = 'body';
    res.on('close', () => {
      const inherits = 'constructor' in res.locals || 'toString' in res.locals;
      seen = { matched, request: isFast(req), response: isFast(res), locals: isFast(res.locals), inherits };
    });
    res.end();
  });
  let matched = false;
  const server = createServer(classesFor(app));
  servers.push(server);
  server.on('request', (req, res) => {
    matched = Object.getPrototypeOf(req) === app.request && Object.getPrototypeOf(res) === app.response;
    app(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // V8 settles the layout of a class after the first few objects.
  for (let request = 0; request < 20; request++) await (await fetch(`http://127.0.0.1:${port}/`)).text();
  return seen;
}

describe('the classes of requests and responses', () => {
  it('have the prototypes of the app, and fast properties', async () => {
    const expected = { matched: true, request: true, response: true, locals: true, inherits: false };
    expect(await lookAt(matchedClasses)).toEqual(expected);
  });

  it('differ from those of node:http, whose prototype Express changes', async () => {
    expect(await lookAt(() => ({}))).toMatchObject({ matched: false, locals: false, inherits: false });
  });

  it('differ from plain functions, whose objects become slow', async () => {
    const careless = (app: Express): Classes => {
      const subclass = (parent: typeof IncomingMessage | typeof ServerResponse, prototype: object) => {
        function Matched(this: object, ...args: unknown[]) {
          Reflect.apply(parent as unknown as CallableFunction, this, args);
        }
        Matched.prototype = prototype;
        return Matched as unknown;
      };
      return {
        IncomingMessage: subclass(IncomingMessage, app.request) as typeof IncomingMessage,
        ServerResponse: subclass(ServerResponse, app.response) as typeof ServerResponse,
      };
    };
    expect(await lookAt(careless)).toMatchObject({ matched: true, response: false });
  });
});
