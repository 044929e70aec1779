import { createHmac } from 'node:crypto';
import express from 'express';
import { port, secret } from './start.mjs';

const app = express();
app.use(express.json());
app.post('/hooks', (req, res) => {
  const computed = createHmac('sha256', secret).update(JSON.stringify(req.body), 'utf8').digest('base64');
  res.sendStatus(req.get('X-Service-Signature') === computed ? 200 : 401);
});
app.listen(port);
