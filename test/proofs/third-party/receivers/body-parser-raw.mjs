import bodyParser from 'body-parser';
import express from 'express';
import { isSigned, port } from './start.mjs';

const app = express();
app.post('/hooks', bodyParser.raw({ type: '*/*', limit: '2mb' }), (req, res) => {
  if (!Buffer.isBuffer(req.body) || !isSigned(req.body, req.get('X-Service-Signature'))) return res.status(401).end();
  try {
    JSON.parse(req.body);
  } catch {
    return res.status(400).end();
  }
  res.status(200).end();
});
app.listen(port);
