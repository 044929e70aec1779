import bodyParser from 'body-parser';
import express from 'express';
import { Webhook } from 'svix';
import { port, secret } from './start.mjs';

const app = express();
app.post('/hooks', bodyParser.raw({ type: 'application/json' }), (req, res) => {
  const webhook = new Webhook(Buffer.from(secret).toString('base64'));
  try {
    webhook.verify(req.body, req.headers);
  } catch (error) {
    return res.status(400).json({ message: error.message });
  }
  res.json({});
});
app.listen(port);
