/**
 * Makes a million deliveries, with retries, to an endpoint that is slow, resets or hangs at random: `npm run proofs --
 * sender-soak [--deliveries N]`. The endpoint, in another process, counts the requests that arrived for each number.
 * Prints the figures, and exits with 1 if a delivery is not accepted in the end, if more of its requests arrived than
 * attempts were recorded, or if memory grows.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createSender, deliverWithRetry, type Prepared } from '../../harness/sender/index.ts';

const NUMBER_HEADER = 'X-Number';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CHUNKED_OK = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
const BUSY = 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n';

/** The behaviours of the endpoint, each with its share of requests. Otherwise, it answers at once. */
const BEHAVIOUR: readonly (readonly [share: number, act: (socket: Socket) => void])[] = [
  [0.02, (socket) => setTimeout(() => socket.write(OK), 5 + Math.random() * 50)],
  [0.01, (socket) => socket.write(CHUNKED_OK)],
  [0.005, (socket) => socket.write(BUSY)],
  // Resets the connection instead of answering.
  [0.005, (socket) => socket.resetAndDestroy()],
  // Resets the connection after an answer, while the next request may be in transit.
  [0.005, (socket) => socket.write(OK, () => setImmediate(() => socket.resetAndDestroy()))],
  [0.005, (socket) => socket.end(OK)],
  // Resets the connection in the middle of an answer.
  [0.002, (socket) => socket.write(OK.slice(0, 20), () => socket.resetAndDestroy())],
  // Hangs, but continues to read.
  [0.0005, () => undefined],
];

function actOn(socket: Socket): void {
  let draw = Math.random();
  for (const [share, act] of BEHAVIOUR) {
    draw -= share;
    if (draw < 0) {
      act(socket);
      return;
    }
  }
  socket.write(OK);
}

/** Counts the complete requests of each number. */
function serve(deliveries: number): void {
  const arrived = new Uint8Array(deliveries);
  const server = createServer((socket) => {
    let text = '';
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (end === -1 || text.length < end + 4 + length) return;
      const number = Number(/x-number: (\d+)/i.exec(text)?.[1]);
      arrived[number] = (arrived[number] ?? 0) + 1;
      text = '';
      actOn(socket);
    });
  }).listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));
  process.on('message', () => process.send?.({ arrived }));
  process.on('disconnect', () => process.exit());
}

/** Time limit of a delivery, in milliseconds. It is short, so that many deliveries can hang. */
const TIMEOUT_MS = 2_000;
const CONNECTIONS = 128;
/** Maximum number of attempts. More are not needed, even by chance. */
const MAX_ATTEMPTS = 12;
const SAMPLES = 20;
/** Maximum growth of the heap from the first fifth to the end that counts as noise, in megabytes. */
const MAX_GROWTH_MB = 8;

async function soak(deliveries: number): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const child = fork(fileURLToPath(import.meta.url), ['--serve', '--deliveries', String(deliveries)], {
    serialization: 'advanced',
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const url = `http://127.0.0.1:${port}/hooks`;
  const body = Buffer.alloc(700, 'x');
  const request = (number: number): Prepared => ({
    url,
    method: 'POST',
    target: '/hooks',
    headers: [
      ['Host', `127.0.0.1:${port}`],
      ['Content-Type', 'application/json'],
      ['Content-Length', String(body.length)],
      [NUMBER_HEADER, String(number)],
    ],
    body,
  });

  const attempts = new Uint8Array(deliveries);
  const outcomes: Record<string, number> = {};
  let sentAgain = 0;
  const sender = createSender({
    maxSockets: CONNECTIONS,
    maxWaiting: CONNECTIONS,
    timeoutMs: TIMEOUT_MS,
    onAttempt(attempt, { headers }) {
      const number = Number(headers.at(-1)?.[1]);
      attempts[number] = (attempts[number] ?? 0) + 1;
      const outcome = String(attempt.answer?.status ?? attempt.error?.kind);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (attempt.sentAgain === true) sentAgain += 1;
    },
  });
  let accepted = 0;
  let ended = 0;
  let mostWaiting = 0;
  const memory: { readonly rss: number; readonly heap: number }[] = [];
  const started = performance.now();
  const deliver = async (number: number) => {
    const policy = { attempts: MAX_ATTEMPTS, baseDelayMs: 1, maxDelayMs: 10 };
    const { last } = await deliverWithRetry(sender, request(number), policy);
    if (last.answer?.status === 200) accepted += 1;
    ended += 1;
  };
  for (let number = 0; number < deliveries; number++) {
    await sender.ready(url);
    void deliver(number);
    mostWaiting = Math.max(mostWaiting, sender.state().waiting);
    if (number % Math.floor(deliveries / SAMPLES) === 0) {
      collect();
      const { rss, heapUsed } = process.memoryUsage();
      memory.push({ rss: rss / 1e6, heap: heapUsed / 1e6 });
    }
  }
  while (ended < deliveries) await new Promise((resolve) => setTimeout(resolve, 20));
  const seconds = (performance.now() - started) / 1000;
  const left = sender.state();
  sender.close();
  child.send('count');
  const [{ arrived }] = (await once(child, 'message')) as [{ arrived: Uint8Array }];
  child.disconnect();

  const sum = (counts: Uint8Array) => counts.reduce((total, count) => total + count, 0);
  const twice = arrived.reduce((total, count) => total + (count > 1 ? 1 : 0), 0);
  const unrecorded = arrived.reduce((total, count, at) => total + (count > (attempts[at] ?? 0) ? 1 : 0), 0);
  const missing = arrived.reduce((total, count) => total + (count === 0 ? 1 : 0), 0);
  const heap = memory.map((one) => one.heap);
  const growth = Math.max(...heap.slice(-SAMPLES / 2)) - Math.max(...heap.slice(0, SAMPLES / 5));
  const count = (value: number) => value.toLocaleString('en');
  console.log(`${count(deliveries)} deliveries in ${seconds.toFixed(0)} s: ${count(accepted)} accepted in the end`);
  console.log(`attempts recorded: ${count(sum(attempts))}; requests that arrived: ${count(sum(arrived))}`);
  console.log(`outcomes of attempts: ${JSON.stringify(outcomes)}; sent again at once: ${count(sentAgain)}`);
  console.log(
    `deliveries that arrived more than once: ${count(twice)}; with an arrival that has no attempt: ${unrecorded}`,
  );
  console.log(`deliveries that never arrived: ${missing}; most waiting for a connection: ${mostWaiting}`);
  console.log(`connections at the end: ${JSON.stringify(left)}`);
  console.log(`heap after collection, MB: ${heap.map((mb) => mb.toFixed(1)).join(' ')}; growth ${growth.toFixed(1)}`);
  console.log(`resident memory, MB: ${memory.map(({ rss }) => rss.toFixed(0)).join(' ')}`);
  const isGood = accepted === deliveries && unrecorded === 0 && missing === 0 && growth < MAX_GROWTH_MB;
  console.log(isGood ? 'none lost, every arrival has its attempt, memory is flat' : 'FAILED');
  if (!isGood) process.exitCode = 1;
}

const { values } = parseArgs({
  options: { serve: { type: 'boolean' }, deliveries: { type: 'string', default: '1000000' } },
});
if (values.serve === true) serve(Number(values.deliveries));
else await soak(Number(values.deliveries));
