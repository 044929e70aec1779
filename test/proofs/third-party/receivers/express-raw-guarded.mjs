import { createHmac, timingSafeEqual } from 'node:crypto';
import express from 'express';
import { port, secret } from './start.mjs';

function isFromSender(body, signature) {
  if (!signature) return false;
  const computed = createHmac('sha256', secret).update(body).digest('base64');
  try {
    return timingSafeEqual(Buffer.from(signature), Buffer.from(computed));
  } catch {
    return false;
  }
}

const app = express();
app.post('/hooks', express.raw({ type: 'application/json' }), (req, res) => {
  if (!isFromSender(req.body, req.headers['x-service-signature'])) return res.status(400).send('Invalid signature');
  const payload = JSON.parse(req.body.toString());
  switch (payload.type) {
    case 'CAAS':
      console.log('order', payload.id);
      break;
    default:
      console.log('other', payload.id);
  }
  res.status(200).send('OK');
});
app.listen(port);
