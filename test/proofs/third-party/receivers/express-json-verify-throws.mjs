import express from 'express';
import { isSigned, port } from './start.mjs';

const app = express();
app.use(
  express.json({
    verify: (req, _res, buffer) => {
      if (!isSigned(buffer, req.headers['x-service-signature'])) throw new Error('Invalid signature');
    },
  }),
);
app.post('/hooks', (_req, res) => res.sendStatus(200));
app.listen(port);
