import express from 'express';
import { apiKey, isSigned, port } from './start.mjs';

const app = express();
app.use(
  express.json({
    verify: (req, _res, buffer) => {
      req.rawBody = buffer;
    },
  }),
);
app.post('/hooks', (req, res) => {
  if (req.get('X-API-Key') !== apiKey) return res.sendStatus(401);
  if (!isSigned(req.rawBody, req.get('X-Service-Signature'))) return res.sendStatus(401);
  res.sendStatus(200);
});
app.listen(port);
