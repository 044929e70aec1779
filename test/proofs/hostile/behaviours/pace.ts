/** Endpoints that answer just in time, so that a run against them would take hours. */
import { createServer } from 'node:net';
import { listen } from '../../../endpoints/listen.ts';
import { answer, type Behaviour, onRequests } from '../behaviour.ts';

/** Answers everything with 200 after so long. */
function slowly(afterMs: number): Behaviour['start'] {
  return () =>
    listen(
      createServer((socket) =>
        onRequests(socket, () => {
          setTimeout(() => socket.writable && socket.write(answer(200)), afterMs);
        }),
      ),
    );
}

export const PACE: readonly Behaviour[] = [
  {
    name: 'just-in-time',
    what: 'accepts everything after three quarters of the time limit; the run is limited to 8 s',
    flags: ['--max-time', '8s'],
    start: slowly(300),
  },
  {
    name: 'every-other-in-time',
    what: 'accepts every other request at once and the rest a moment too late',
    start: () => {
      let nth = 0;
      return listen(
        createServer((socket) =>
          onRequests(socket, () => {
            nth += 1;
            setTimeout(() => socket.writable && socket.write(answer(200)), nth % 2 === 0 ? 450 : 0);
          }),
        ),
      );
    },
  },
];
