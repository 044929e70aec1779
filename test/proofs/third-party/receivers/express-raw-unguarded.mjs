import { createHmac, timingSafeEqual } from 'node:crypto';
import express from 'express';
import { port, secret } from './start.mjs';

const app = express();
app.post('/hooks', express.raw({ type: 'application/json' }), (req, res) => {
  const signature = req.header('X-Service-Signature');
  const computed = createHmac('sha256', secret).update(req.body).digest('base64');
  if (!signature || !timingSafeEqual(Buffer.from(signature), Buffer.from(computed))) {
    return res.status(401).send('Invalid signature');
  }
  JSON.parse(req.body.toString());
  res.status(200).send('ok');
});
app.listen(port);
