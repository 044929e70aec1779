import express from 'express';
import { isSigned, port } from './start.mjs';

function verify(req, res, buffer) {
  if (isSigned(buffer, req.headers['x-service-signature'])) return;
  res.statusCode = 401;
  throw Object.assign(new Error('Invalid signature'), { status: 401 });
}

const app = express();
app.use(express.json({ verify }));
app.use(express.urlencoded({ extended: true }));
app.use(express.text());
app.post('/hooks', (_req, res) => res.status(200).send('EVENT_RECEIVED'));
app.listen(port);
