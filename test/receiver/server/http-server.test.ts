/** That requests and responses are quick to work with: born with the prototypes of the app, and no hash tables. */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import type { Express } from 'express';
import express from 'express';
import { afterAll, describe, expect, it } from 'vitest';
import { matchedClasses } from '../../../receiver/server/http-server.ts';

setFlagsFromString('--allow-natives-syntax');
/** Whether V8 keeps the fields of an object in their order in memory, and not in a hash table. */
const isFast = new Function('object', 'return %HasFastProperties(object)') as (object: object) => boolean;

type Classes = ReturnType<typeof matchedClasses>;

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** What the last of some requests through an app of ten layers looked like, once it had been answered. */
async function lookAt(classesFor: (app: Express) => Classes) {
  const app = express();
  for (let layer = 0; layer < 10; layer++) app.use((_req, _res, next) => next());
  let seen: { born: boolean; request: boolean; response: boolean } | undefined;
  app.use((req, res) => {
    res.on('close', () => {
      seen = { ...born, request: isFast(req), response: isFast(res) };
    });
    res.end();
  });
  const born = { born: false };
  const server = createServer(classesFor(app));
  servers.push(server);
  server.on('request', (req, res) => {
    born.born = Object.getPrototypeOf(req) === app.request && Object.getPrototypeOf(res) === app.response;
    app(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // V8 settles the layout of a class after the first few objects.
  for (let request = 0; request < 20; request++) await (await fetch(`http://127.0.0.1:${port}/`)).text();
  return seen;
}

describe('the classes of requests and responses', () => {
  it('are born with the prototypes of the app, and are no hash tables', async () => {
    expect(await lookAt(matchedClasses)).toEqual({ born: true, request: true, response: true });
  });

  it('are told from those of node:http, whose prototype Express has to change', async () => {
    expect(await lookAt(() => ({}))).toMatchObject({ born: false });
  });

  it('are told from functions that do not say of which class they are, and outgrow their room', async () => {
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
    expect(await lookAt(careless)).toMatchObject({ born: true, response: false });
  });
});
