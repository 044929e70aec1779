/** Standard output for the log. A log that cannot be written must not end the receiver: the disk that is full may be that of the log only. */
import { type DestinationStream, pino } from 'pino';

/** What waits to be written is dropped beyond so many characters. */
const MOST_WAITING = 1024 * 1024;

export function standardOutput(): DestinationStream {
  const destination = pino.destination({ dest: 1, sync: false, maxLength: MOST_WAITING });
  let failing = false;
  // Without a listener pino throws. It tries the same lines again with the next one.
  destination.on('error', () => {
    failing = true;
  });
  destination.on('write', () => {
    failing = false;
  });
  // At the end of the process it would try for ever.
  const flush = destination.flushSync.bind(destination);
  destination.flushSync = () => {
    if (!failing) flush();
  };
  return destination;
}
