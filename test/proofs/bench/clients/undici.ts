/** The undici package with a pool of connections, sending ready bytes. */
import { Pool } from 'undici';
import { readyBody, readyHeaders } from './ready.ts';
import { IN_FLIGHT, runClient, URL_TO } from './run-client.ts';

const { origin, pathname } = new URL(URL_TO);
const pool = new Pool(origin, { connections: IN_FLIGHT });

runClient((_number, done) => {
  void pool
    .request({ path: pathname, method: 'POST', headers: readyHeaders, body: readyBody })
    .then(async ({ statusCode, body }) => {
      await body.dump();
      done(statusCode);
    });
});
