import express from 'express';
import { WebhooksHelper } from 'square';
import { port, secret } from './start.mjs';

const notificationUrl = `http://127.0.0.1:${port}/hooks`;
const app = express();
app.post('/hooks', express.text({ type: '*/*' }), async (req, res) => {
  const isValid = await WebhooksHelper.verifySignature({
    requestBody: req.body,
    signatureHeader: req.headers['x-square-hmacsha256-signature'],
    signatureKey: secret,
    notificationUrl,
  });
  res.sendStatus(isValid ? 200 : 403);
});
app.listen(port);
