import { createServer } from 'node:http';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import { port, secret } from './start.mjs';

const webhooks = new Webhooks({ secret });
webhooks.onAny(({ name }) => console.log(name));
createServer(createNodeMiddleware(webhooks, { path: '/hooks' })).listen(port);
