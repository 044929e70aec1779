import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { listen } from '../../../endpoints/listen.ts';
import type { Open } from '../cell.ts';

/** The same endpoint, with everything so many milliseconds on the way, there and back. */
export async function farAway(near: Open, oneWayMs: number): Promise<Open> {
  const { port } = new URL(near.url);
  const front = await listen(
    createServer({ allowHalfOpen: true }, (socket) => {
      const peer = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
      carry(socket, peer, oneWayMs);
      carry(peer, socket, oneWayMs);
    }),
  );
  return {
    url: `https://localhost:${front.port}/hooks`,
    tls: near.tls,
    close: async () => void (await Promise.all([front.close(), near.close()])),
  };
}

/** Timers of the same length go off in the order in which they were set, so nothing overtakes anything. */
function carry(from: Socket, to: Socket, oneWayMs: number): void {
  const later = (act: () => void) => void delay(oneWayMs).then(act);
  from.on('data', (piece) => later(() => to.write(piece)));
  from.on('end', () => later(() => to.end()));
  from.on('error', () => to.destroy());
  from.on('close', () => later(() => to.destroy()));
}
