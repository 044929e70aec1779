/**
 * A process of attackers, for `slow-loris.ts`: so many connections on which nothing, or a header, or a body comes drop
 * by drop. One that is closed is opened again a second later. Started with the port and the number; at the end of its
 * standard input it prints what it saw, as JSON, and ends.
 */
import { connect } from 'node:net';

const [port, count] = process.argv.slice(2).map(Number);
if (port === undefined || count === undefined) throw new Error('give a port and a number');

const DRIP_MS = 1000;
const REOPEN_MS = 1000;
const BEGINNINGS = [
  '',
  'POST / HTTP/1.1\r\nHost: x\r\nX-Drip: ',
  'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n',
];

const seen = { opened: 0, closedByReceiver: 0, answered408: 0, failedToConnect: 0 };
let over = false;

function attack(kind: number): void {
  if (over) return;
  const socket = connect(port ?? 0, '127.0.0.1');
  let connected = false;
  let timer: NodeJS.Timeout | undefined;
  socket.on('connect', () => {
    connected = true;
    seen.opened += 1;
    const beginning = BEGINNINGS[kind % BEGINNINGS.length] ?? '';
    if (beginning === '') return;
    socket.write(beginning);
    timer = setInterval(() => socket.write('a'), DRIP_MS);
  });
  socket.on('data', (chunk) => {
    if (chunk.toString('latin1').startsWith('HTTP/1.1 408 ')) seen.answered408 += 1;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(timer);
    if (over) return;
    if (connected) seen.closedByReceiver += 1;
    else seen.failedToConnect += 1;
    setTimeout(() => attack(kind), REOPEN_MS);
  });
}

// A few at a time: not a flood of SYNs, which the kernel would answer for, but a flood of connections.
let started = 0;
const starting = setInterval(() => {
  for (let some = 0; some < 50 && started < count; some += 1) attack(started++);
  if (started >= count) clearInterval(starting);
}, 10);

process.stdin.resume().once('end', () => {
  over = true;
  process.stdout.write(JSON.stringify(seen), () => process.exit(0));
});
