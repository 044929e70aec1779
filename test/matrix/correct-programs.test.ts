import { describe } from 'vitest';
import { noAlarms, waits } from './expect-no-alarm.ts';

// `npm run matrix` plays all of them, and so does every CI run: here one program of another language, one behind a proxy, and one over TLS.
const HERE = ['python-http-server', 'behind-nginx', 'http2-capable'];

describe('receivers that are right and slow, or programs of their own, raise no alarm', () => {
  noAlarms((receiver) => waits(receiver) && HERE.includes(receiver.name));
});

describe('receivers that are right and different over TLS raise no alarm', () => {
  noAlarms((receiver) => receiver.tls === true && !waits(receiver) && HERE.includes(receiver.name));
});
