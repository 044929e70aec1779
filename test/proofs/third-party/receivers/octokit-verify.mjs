import { Webhooks } from '@octokit/webhooks';
import express from 'express';
import { port, secret } from './start.mjs';

const webhooks = new Webhooks({ secret });
const app = express();
app.post('/hooks', express.text({ type: 'application/json' }), async (req, res) => {
  if (!(await webhooks.verify(req.body, req.get('X-Hub-Signature-256')))) return res.status(401).send('Unauthorized');
  res.status(200).send();
});
app.listen(port);
