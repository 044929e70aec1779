/**
 * node:http or node:https with a keep-alive agent, sending the same ready bytes again and again: what our sender is
 * measured against.
 */
import http from 'node:http';
import https from 'node:https';
import { readyBody, readyHeaders } from './ready.ts';
import { IN_FLIGHT, runClient, URL_TO } from './run-client.ts';

const { request, Agent } = URL_TO.startsWith('https:') ? https : http;
const { hostname, port, pathname } = new URL(URL_TO);
const options = {
  agent: new Agent({ keepAlive: true, maxSockets: IN_FLIGHT }),
  hostname,
  port,
  path: pathname,
  method: 'POST',
  headers: readyHeaders,
};

runClient((_number, done) => {
  const sent = request(options, (response) => {
    response.on('data', () => {});
    response.on('end', () => done(response.statusCode ?? 0));
  });
  sent.end(readyBody);
});
