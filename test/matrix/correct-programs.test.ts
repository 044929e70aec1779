import { describe } from 'vitest';
import { noAlarms, waits } from './expect-no-alarm.ts';

describe('receivers that are right and slow, or programs of their own, raise no alarm', () => {
  noAlarms(waits);
});

describe('receivers that are right and different over TLS raise no alarm', () => {
  noAlarms((receiver) => receiver.tls === true && !waits(receiver));
});
