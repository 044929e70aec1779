/** Small receivers over real sockets, and the runs against them. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Partner } from '../../../harness/partner.ts';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { run } from '../../../harness/run/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { bodyOf, hmacOf } from '../../endpoints/verifying.ts';

export const SECRET = randomBytes(32).toString('base64');
export const SIGNING = { signing: { secret: SECRET } };

export interface Received {
  readonly request: IncomingMessage;
  readonly body: Buffer;
  readonly given: string | undefined;
  readonly isValid: boolean;
  /** The answer of a correct receiver. */
  readonly correct: Answer;
  /** The notification. Undefined if it cannot be read. */
  readonly event: { type: string; data: { type?: string; metadata?: { orderStatus?: string } } } | undefined;
}

export type Answer = readonly [status: number, text?: string, headers?: Record<string, string>];
export type Receiver = (received: Received) => Answer | Promise<Answer>;

function parsed(body: Buffer): Received['event'] {
  try {
    const value = JSON.parse(`${body}`) as Received['event'];
    return typeof value?.type === 'string' && typeof value.data === 'object' && value.data ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Runs these checks. Default: all checks of a few suites. */
export async function played(
  receiver: Receiver,
  scenarios: readonly string[] = ['valid/plain'],
  partner: Omit<Partner, 'url'> = SIGNING,
  suites: readonly string[] = [],
  shard: ResultDocument['shard'] = null,
): Promise<{ document: ResultDocument; requests: number }> {
  let requests = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    requests++;
    const body = await bodyOf(request);
    const given = request.headers['x-service-signature']?.toString();
    const isValid = given === hmacOf(SECRET, body).toString('base64');
    const event = parsed(body);
    const correct: Answer = !isValid ? [401, 'invalid signature'] : event === undefined ? [400, 'malformed'] : [200];
    const [status, text = '', headers = {}] = await receiver({ request, body, given, isValid, correct, event });
    response.writeHead(status, { 'Content-Type': 'text/plain', ...headers }).end(text);
  };
  const { url, close } = await serve((request, response) => {
    answer(request, response).catch(() => request.destroy());
  });
  try {
    const document = await run({
      partner: { url, ...partner },
      selection: { scenarios, suites, shard },
      seed: 'first-delivery',
      limits: { timeoutMs: 5000, recoveryMs: 200, backoffMs: 20 },
    });
    return { document, requests };
  } finally {
    await close();
  }
}

export const found = async (...given: Parameters<typeof played>) => (await played(...given)).document.diagnosis[0];

export const verdicts = ({ results }: ResultDocument, verdict: string) =>
  results.filter((result) => result.verdict === verdict).map(({ id }) => id);
