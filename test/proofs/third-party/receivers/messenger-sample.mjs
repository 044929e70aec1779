import { createHmac } from 'node:crypto';
import bodyParser from 'body-parser';
import express from 'express';
import { port, secret } from './start.mjs';

function verifyRequestSignature(req, _res, buffer) {
  const signature = req.headers['x-service-signature'];
  if (!signature) {
    console.warn('No signature in the headers.');
    return;
  }
  const expected = createHmac('sha256', secret).update(buffer).digest('base64');
  if (signature !== expected) throw new Error('The signature of the request does not match.');
}

const app = express();
app.use(bodyParser.json({ verify: verifyRequestSignature }));
app.post('/hooks', (_req, res) => res.status(200).send('EVENT_RECEIVED'));
app.listen(port);
