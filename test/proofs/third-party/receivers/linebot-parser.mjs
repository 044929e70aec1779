import express from 'express';
import linebot from 'linebot';
import { port, secret } from './start.mjs';

const bot = linebot({ channelId: 'id', channelSecret: secret, channelAccessToken: 'token' });
const app = express();
app.post('/hooks', bot.parser());
app.listen(port);
