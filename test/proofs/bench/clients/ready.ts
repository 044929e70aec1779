/** One delivery, made and signed before anything is measured. */
import { createHmac } from 'node:crypto';
import { buyNotification, idOf } from '../notification.ts';
import { API_KEY, SECRET } from './run-client.ts';

export const readyBody = JSON.stringify(buyNotification(idOf(0)));

export const readyHeaders = {
  'Content-Type': 'application/json',
  'Content-Length': String(readyBody.length),
  'X-Service-Signature': createHmac('sha256', SECRET).update(readyBody).digest('base64'),
  'X-API-Key': API_KEY,
};
