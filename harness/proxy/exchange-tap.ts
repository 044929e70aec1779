/** Pairs the requests of a connection with their answers, from a copy of the bytes in both directions. */
import { performance } from 'node:perf_hooks';
import type { ForwardedAnswer, ForwardedExchange } from '../../contract/index.ts';
import {
  declaredFraming,
  type Framing,
  type Head,
  type KeepBudget,
  type Message,
  MessageReader,
} from '../transport/index.ts';
import type { ConnectionTap } from './relay.ts';

export interface TapOptions {
  /** Shared by all connections. */
  readonly budget: KeepBudget;
  /** Of one request, in bytes: larger ones are shown without their body. */
  readonly maxRequestBytes: number;
  readonly report: (exchange: ForwardedExchange) => void;
}

/** Of the body of an answer, in bytes. */
const MAX_ANSWER_BODY = 64 * 1024;
/** Requests on a connection that wait for their answers; with more, the rest of the connection is not shown. */
const MAX_PENDING = 100;

/** Roughly, of an exchange without its bodies. */
const OBJECT_SIZE = 1000;

interface Pending {
  readonly method: string;
  readonly receivedAt: Date;
  readonly start: number;
  request?: Message;
  answer?: Message;
  /** What the budget was charged for both. */
  charged: number;
}

export function createTap(options: TapOptions): (client: { readonly remoteAddress: string }) => ConnectionTap {
  return ({ remoteAddress }) => tapConnection(options, remoteAddress);
}

function tapConnection({ budget, maxRequestBytes, report }: TapOptions, remoteAddress: string): ConnectionTap {
  /** In the order of their arrival. */
  const pending: Pending[] = [];
  let active = true;
  let reading: Pending | undefined;
  let begin: { readonly at: Date; readonly start: number } | undefined;
  /** An answer to a request whose head never ended. */
  let early: Message | undefined;

  const requests = new MessageReader({
    budget,
    maxKept: maxRequestBytes,
    onHead(head) {
      reading = newPending(head.startLine.split(' ', 1)[0] ?? '');
      pending.push(reading);
      return /^\S+ \S+ HTTP\/1\.\d$/.test(head.startLine) ? (declaredFraming(head.headers) ?? 0) : 'to-the-end';
    },
    onMessage(message) {
      const mine = reading ?? newPending('');
      if (reading === undefined) pending.push(mine);
      reading = undefined;
      begin = undefined;
      mine.request = charged(mine, message);
      if (early !== undefined && mine.answer === undefined) {
        mine.answer = charged(mine, early);
        early = undefined;
      }
      settle();
    },
  });
  const answers = new MessageReader({
    budget,
    maxKept: MAX_ANSWER_BODY,
    keepsBeginning: true,
    onHead: (head) => answerFraming(head, pending.find(({ answer }) => answer === undefined)?.method),
    onMessage(message) {
      const status = statusOf(message);
      if (status >= 100 && status < 200 && status !== 101) return;
      const mine = pending.find(({ answer }) => answer === undefined);
      if (mine === undefined) early ??= message;
      else mine.answer = charged(mine, message);
      settle();
      // What follows is another protocol.
      if (status === 101) stop();
    },
  });

  const newPending = (method: string): Pending => ({
    method,
    receivedAt: begin?.at ?? new Date(),
    start: begin?.start ?? performance.now(),
    charged: 0,
  });
  /** The bodies of a message are kept within the budget until both halves of the exchange are complete. */
  const charged = (one: Pending, message: Message): Message => {
    const size = OBJECT_SIZE + (message.raw?.length ?? 0) + (message.body?.length ?? 0);
    if (!budget.take(size)) return { ...message, raw: undefined, body: undefined };
    one.charged += size;
    return message;
  };
  const stop = () => {
    active = false;
    requests.stop();
    answers.stop();
    for (const one of pending.splice(0)) emit(one);
  };
  /** Those that are complete, in their order. */
  const settle = () => {
    while (pending[0]?.request !== undefined && pending[0].answer !== undefined) emit(pending.shift());
  };
  const emit = (one: Pending | undefined) => {
    budget.release(one?.charged ?? 0);
    if (one?.request !== undefined) report(exchangeOf(one, one.request, remoteAddress));
  };

  return {
    fromClient(piece) {
      if (!active) return;
      begin ??= { at: new Date(), start: performance.now() };
      requests.read(piece);
      if (pending.length > MAX_PENDING) stop();
    },
    fromServer(piece) {
      if (active) answers.read(piece);
    },
    clientEnded() {},
    serverEnded() {
      if (active) answers.end();
    },
    closed() {
      if (!active) return;
      answers.end();
      requests.end();
      stop();
    },
  };
}

function statusOf({ startLine }: Pick<Head, 'startLine'>): number {
  return Number(/^HTTP\/1\.\d (\d{3})(?: |$)/.exec(startLine)?.[1] ?? 0);
}

function answerFraming(head: Head, method: string | undefined): Framing {
  const status = statusOf(head);
  if (status === 0) return 'to-the-end';
  if (status < 200 || status === 204 || status === 304 || method === 'HEAD') return 0;
  return declaredFraming(head.headers) ?? 'to-the-end';
}

function exchangeOf(
  { receivedAt, start, answer }: Pending,
  request: Message,
  remoteAddress: string,
): ForwardedExchange {
  const { startLine, headers, raw, body, bodyLength, complete } = request;
  const [, method = '', target = '', httpVersion = ''] = /^(\S+) (.*) HTTP\/(\d\.\d)$/.exec(startLine) ?? [];
  return {
    receivedAt,
    durationMs: performance.now() - start,
    remoteAddress,
    request: { method, target, httpVersion, headers, raw, body, bodyLength, complete },
    answer: answer && answerOf(answer),
  };
}

function answerOf({ startLine, headers, body = Buffer.alloc(0), bodyLength }: Message): ForwardedAnswer {
  const [, status = '0', reasonPhrase = ''] = /^HTTP\/1\.\d (\d{3})(?: (.*))?$/.exec(startLine) ?? [];
  return { status: Number(status), reasonPhrase, headers, body, bodyLength };
}
