import { middleware } from '@line/bot-sdk';
import express from 'express';
import { port, secret } from './start.mjs';

const app = express();
app.post('/hooks', middleware({ channelSecret: secret }), (req, res) => res.json(req.body.events));
app.listen(port);
