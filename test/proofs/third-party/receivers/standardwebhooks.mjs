import express from 'express';
import { Webhook } from 'standardwebhooks';
import { port, secret } from './start.mjs';

const webhook = new Webhook(Buffer.from(secret).toString('base64'));
const app = express();
app.post('/hooks', express.raw({ type: '*/*' }), (req, res) => {
  try {
    webhook.verify(req.body, req.headers);
  } catch {
    return res.status(401).send('invalid signature');
  }
  res.status(200).send('ok');
});
app.listen(port);
