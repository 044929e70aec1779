import { createServer } from 'node:http';
import { createApp, createError, createRouter, defineEventHandler, getHeader, readRawBody, toNodeListener } from 'h3';
import { isSigned, port } from './start.mjs';

const router = createRouter().post(
  '/hooks',
  defineEventHandler(async (event) => {
    const body = await readRawBody(event);
    if (!isSigned(body, getHeader(event, 'x-service-signature'))) {
      throw createError({ statusCode: 401, statusMessage: 'Invalid signature' });
    }
    return { id: JSON.parse(body).id };
  }),
);
createServer(toNodeListener(createApp().use(router))).listen(port);
