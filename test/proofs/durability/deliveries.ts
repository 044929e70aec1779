/** Signed deliveries in large numbers, over connections that stay open, and what was answered to each. */
import { createHmac, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** New in every run. */
export const SECRET = randomBytes(32).toString('hex');

export interface Delivery {
  readonly id: string;
  readonly transactionId: string;
  readonly body: Buffer;
  readonly signature: string;
}

export interface Answer {
  readonly status: number;
  readonly word: string;
  readonly ms: number;
}

/** About as long as a real one. `at` in seconds since 1970: the order within the transaction. */
export function notification(id: string, transactionId: string, at: number): Delivery {
  const metadata = { orderType: 'BUY', providerTransactionStatus: 'PROCESSING', note: 'x'.repeat(400) };
  const data = { type: 'ORDER_TRACKING', providerId: 'provider-1', transactionId, metadata, errorData: null };
  const body = Buffer.from(JSON.stringify({ id, type: 'CAAS', at, data }));
  return { id, transactionId, body, signature: createHmac('sha256', SECRET).update(body).digest('base64') };
}

/** Null when the connection ended without an answer: then nobody knows whether it was stored. */
export function deliver(url: string, agent: Agent, { body, signature }: Delivery): Promise<Answer | null> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      'X-Service-Signature': signature,
    };
    const req = request(url, { method: 'POST', agent, headers }, (res) => {
      let text = '';
      res.setEncoding('latin1');
      res.on('data', (chunk: string) => {
        text += chunk;
      });
      res.on('end', () => {
        const { status = '', error = '' } = JSON.parse(text) as { status?: string; error?: string };
        resolve({ status: res.statusCode ?? 0, word: status || error, ms: performance.now() - startedAt });
      });
      res.on('error', () => resolve(null));
    });
    req.on('error', () => resolve(null));
    req.end(body);
  });
}

/** Delivers what `next` gives over so many connections, until it gives null or `stop` is called. */
export function startLoad(options: {
  readonly url: string;
  readonly connections: number;
  readonly next: () => Delivery | null;
  readonly told: (delivery: Delivery, answer: Answer | null) => void;
}): { stop(): Promise<void>; readonly ended: Promise<void> } {
  const { url, connections, next, told } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let stopped = false;
  const work = async () => {
    while (!stopped) {
      const delivery = next();
      if (delivery === null) return;
      const answer = await deliver(url, agent, delivery);
      told(delivery, answer);
      // Nobody listens, or it said that it cannot: a sender pauses too.
      if (answer?.status !== 200) await pause(5);
    }
  };
  const ended = Promise.all(Array.from({ length: connections }, work)).then(() => agent.destroy());
  return {
    ended,
    stop() {
      stopped = true;
      return ended;
    },
  };
}
