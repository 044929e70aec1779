/** Sends many signed deliveries over keep-alive connections, and records the answer to each. */
import { createHmac, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** The secret, which is generated for each run. */
export const SECRET = randomBytes(32).toString('hex');

export interface Delivery {
  readonly id: string;
  readonly transactionId: string;
  readonly body: Buffer;
  readonly signature: string;
}

interface Answer {
  readonly status: number;
  readonly word: string;
  readonly ms: number;
}

/**
 * Creates a notification that is about as long as a real one. `at`, in seconds since 1970, determines the order within
 * the transaction.
 */
export function notification(id: string, transactionId: string, at: number): Delivery {
  const metadata = { orderType: 'BUY', providerTransactionStatus: 'PROCESSING', note: 'x'.repeat(400) };
  const data = { type: 'ORDER_TRACKING', providerId: 'provider-1', transactionId, metadata, errorData: null };
  const body = Buffer.from(JSON.stringify({ id, type: 'CAAS', at, data }));
  return { id, transactionId, body, signature: createHmac('sha256', SECRET).update(body).digest('base64') };
}

/**
 * Returns the answer. Null if the connection ended without one, in which case it is unknown whether the delivery was
 * stored.
 */
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
        // The reference receiver answers with JSON; a recipe may answer with any text.
        const answer: { status?: string; error?: string } = text.startsWith('{') ? JSON.parse(text) : {};
        const { status = '', error = '' } = answer;
        resolve({ status: res.statusCode ?? 0, word: status || error, ms: performance.now() - startedAt });
      });
      res.on('error', () => resolve(null));
    });
    req.on('error', () => resolve(null));
    req.end(body);
  });
}

/** Delivers what `next` returns over these connections, until it returns null or `stop` is called. */
export function startLoad(options: {
  readonly url: string;
  readonly connections: number;
  readonly next: () => Delivery | null;
  readonly onAnswer: (delivery: Delivery, answer: Answer | null) => void;
}): { stop(): Promise<void>; readonly ended: Promise<void> } {
  const { url, connections, next, onAnswer } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let stopped = false;
  const work = async () => {
    while (!stopped) {
      const delivery = next();
      if (delivery === null) return;
      const answer = await deliver(url, agent, delivery);
      onAnswer(delivery, answer);
      // Nothing is listening, or the receiver answered 503. A real sender also pauses.
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

interface Entry {
  readonly delivery: Delivery;
  /** How often the receiver answered that the notification is new. More than once means a duplicate insert. */
  accepted: number;
  acknowledged: boolean;
}

interface Ledger {
  /** Returns the next delivery. One in twenty repeats an earlier one, whether it was answered or not. */
  next(): Delivery;
  onAnswer(delivery: Delivery, answer: Answer | null): void;
  acknowledged(): string[];
  /** Returns the deliveries that have not yet been answered 200. A sender delivers them again. */
  unacknowledged(): Delivery[];
  acceptedTwice(): string[];
  readonly counts: { sent: number; ok: number; refused: number; unanswered: number; slowestMs: number };
  /** Number of answers other than 200, by status. */
  readonly statuses: Map<number, number>;
}

/**
 * Creates a record of what the sender knows about each notification. `make` returns the n-th one; `random` returns
 * numbers from 0 to 1.
 */
export function openLedger(make: (n: number) => Delivery, random: () => number): Ledger {
  const lines = new Map<string, Entry>();
  const order: Entry[] = [];
  const counts = { sent: 0, ok: 0, refused: 0, unanswered: 0, slowestMs: 0 };
  const statuses = new Map<number, number>();
  return {
    counts,
    statuses,
    next() {
      counts.sent += 1;
      const again = order[Math.floor(random() * 20 * order.length)];
      if (again !== undefined) return again.delivery;
      const line: Entry = { delivery: make(order.length), accepted: 0, acknowledged: false };
      lines.set(line.delivery.id, line);
      order.push(line);
      return line.delivery;
    },
    onAnswer({ id }, answer) {
      const line = lines.get(id);
      if (line === undefined) throw new Error(`${id} was not sent`);
      if (answer === null) {
        counts.unanswered += 1;
        return;
      }
      counts.slowestMs = Math.max(counts.slowestMs, answer.ms);
      if (answer.status === 200) {
        counts.ok += 1;
        line.acknowledged = true;
        if (answer.word === 'accepted') line.accepted += 1;
      } else {
        counts.refused += 1;
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      }
    },
    acknowledged: () => order.filter(({ acknowledged }) => acknowledged).map(({ delivery }) => delivery.id),
    unacknowledged: () => order.filter(({ acknowledged }) => !acknowledged).map(({ delivery }) => delivery),
    acceptedTwice: () => order.filter(({ accepted }) => accepted > 1).map(({ delivery }) => delivery.id),
  };
}
