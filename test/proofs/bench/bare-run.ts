/**
 * A bare client in a new process, with which a run of the catalogue is compared. It makes, signs and sends one
 * notification for each size in BENCH_SIZES, with as many in flight as a run, and ends.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { buyNotification } from './notification.ts';

const { BENCH_URL = '', BENCH_SECRET = '', BENCH_API_KEY = '', BENCH_SIZES = '', BENCH_IN_FLIGHT = '' } = process.env;
const { hostname, port, pathname: path } = new URL(BENCH_URL);
const inFlight = Number(BENCH_IN_FLIGHT);
const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
const sizes = JSON.parse(readFileSync(BENCH_SIZES, 'utf8')) as number[];
const smallest = Buffer.byteLength(bodyWithMemo(''));

function bodyWithMemo(memo: string): string {
  return JSON.stringify(buyNotification(randomUUID(), memo));
}

let next = 0;
let answered = 0;
function sendNext(): void {
  const size = sizes[next++];
  if (size === undefined) return;
  const body = bodyWithMemo('m'.repeat(Math.max(0, size - smallest)));
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    'X-Service-Signature': createHmac('sha256', BENCH_SECRET).update(body).digest('base64'),
    'X-API-Key': BENCH_API_KEY,
  };
  const sent = request({ agent, hostname, port, path, method: 'POST', headers }, (response) => {
    if (response.statusCode !== 200) throw new Error(`bare client: answered ${response.statusCode}`);
    response.resume();
    response.on('end', () => {
      answered += 1;
      if (answered === sizes.length) agent.destroy();
      else sendNext();
    });
  });
  sent.end(body);
}
for (let started = 0; started < inFlight; started++) sendNext();
