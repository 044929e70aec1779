import linebot from 'linebot';
import { port, secret } from './start.mjs';

const bot = linebot({ channelId: 'id', channelSecret: secret, channelAccessToken: 'token' });
bot.on('message', (event) => event.reply(event.message.text));
bot.listen('/hooks', port);
