import { describe } from 'vitest';
import { noAlarms, waits } from './expect-no-alarm.ts';

// The matrix plays all of them: here one of a language, and two over TLS.
const ELSEWHERE = [
  'python-wsgi',
  'ruby-sockets',
  'processes',
  'behind-nginx-tls',
  'behind-nginx-http-2',
  'https-1-2',
  'https-1-3',
  'https-401',
];

describe('receivers that are right and slow, or programs of their own, raise no alarm', () => {
  noAlarms((receiver) => waits(receiver) && !ELSEWHERE.includes(receiver.name));
});

describe('receivers that are right and different over TLS raise no alarm', () => {
  noAlarms((receiver) => receiver.tls === true && !waits(receiver) && !ELSEWHERE.includes(receiver.name));
});
