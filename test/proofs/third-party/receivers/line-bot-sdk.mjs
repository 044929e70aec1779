import { JSONParseError, middleware, SignatureValidationFailed } from '@line/bot-sdk';
import express from 'express';
import { port, secret } from './start.mjs';

const app = express();
app.post('/hooks', middleware({ channelSecret: secret }), (req, res) => res.json(req.body.events));
app.use((error, _req, res, next) => {
  if (error instanceof SignatureValidationFailed) return res.status(401).send(error.signature);
  if (error instanceof JSONParseError) return res.status(400).send(error.raw);
  next(error);
});
app.listen(port);
