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
  /** The budget shared by all connections. */
  readonly budget: KeepBudget;
  /** Maximum size of a request in bytes; larger ones are shown without their body. */
  readonly maxRequestBytes: number;
  readonly report: (exchange: ForwardedExchange) => void;
}

/** Maximum number of bytes kept of an answer's body. */
const MAX_ANSWER_BODY = 64 * 1024;
/** Maximum number of unanswered requests on a connection; beyond it, the rest of the connection is not shown. */
const MAX_PENDING = 100;

/** The approximate memory of an exchange without its bodies. */
const OBJECT_SIZE = 1000;

interface Pending {
  readonly method: string;
  readonly receivedAt: Date;
  readonly start: number;
  request?: Message;
  answer?: Message;
  /** The bytes charged to the budget for request and answer. */
  charged: number;
}

export function createTap(options: TapOptions): (client: { readonly remoteAddress: string }) => ConnectionTap {
  return ({ remoteAddress }) => new ExchangeTap(options, remoteAddress);
}

/** Taps one connection. Stops if too many requests are unanswered or the protocol changes. */
class ExchangeTap implements ConnectionTap {
  readonly #options: TapOptions;
  readonly #remoteAddress: string;
  readonly #requests: MessageReader;
  readonly #answers: MessageReader;
  /** Unanswered requests, in order of arrival. */
  readonly #pending: Pending[] = [];
  #active = true;
  #reading: Pending | undefined;
  #begin: { readonly at: Date; readonly start: number } | undefined;
  /** The answer to a request whose head never ended. */
  #early: Message | undefined;

  constructor(options: TapOptions, remoteAddress: string) {
    this.#options = options;
    this.#remoteAddress = remoteAddress;
    const { budget, maxRequestBytes } = options;
    this.#requests = new MessageReader({
      budget,
      maxKept: maxRequestBytes,
      onHead: (head) => this.#startRequest(head),
      onMessage: (message) => this.#endRequest(message),
    });
    this.#answers = new MessageReader({
      budget,
      maxKept: MAX_ANSWER_BODY,
      keepsBeginning: true,
      onHead: (head) => answerFraming(head, this.#firstUnanswered()?.method),
      onMessage: (message) => this.#endAnswer(message),
    });
  }

  fromClient(piece: Buffer): void {
    if (!this.#active) return;
    this.#begin ??= { at: new Date(), start: performance.now() };
    this.#requests.read(piece);
    if (this.#pending.length > MAX_PENDING) this.#stop();
  }

  fromServer(piece: Buffer): void {
    if (this.#active) this.#answers.read(piece);
  }

  clientEnded(): void {}

  serverEnded(): void {
    if (this.#active) this.#answers.end();
  }

  closed(): void {
    if (!this.#active) return;
    this.#answers.end();
    this.#requests.end();
    this.#stop();
  }

  #startRequest(head: Head): Framing {
    this.#reading = this.#newPending(head.startLine.split(' ', 1)[0] ?? '');
    this.#pending.push(this.#reading);
    return /^\S+ \S+ HTTP\/1\.\d$/.test(head.startLine) ? (declaredFraming(head.headers) ?? 0) : 'to-the-end';
  }

  #endRequest(message: Message): void {
    const mine = this.#reading ?? this.#newPending('');
    if (this.#reading === undefined) this.#pending.push(mine);
    this.#reading = undefined;
    this.#begin = undefined;
    mine.request = this.#charge(mine, message);
    if (this.#early !== undefined && mine.answer === undefined) {
      mine.answer = this.#charge(mine, this.#early);
      this.#early = undefined;
    }
    this.#emitComplete();
  }

  #endAnswer(message: Message): void {
    const status = statusOf(message);
    if (status >= 100 && status < 200 && status !== 101) return;
    const mine = this.#firstUnanswered();
    if (mine === undefined) this.#early ??= message;
    else mine.answer = this.#charge(mine, message);
    this.#emitComplete();
    // After 101, the connection uses another protocol.
    if (status === 101) this.#stop();
  }

  #firstUnanswered(): Pending | undefined {
    return this.#pending.find(({ answer }) => answer === undefined);
  }

  #newPending(method: string): Pending {
    return {
      method,
      receivedAt: this.#begin?.at ?? new Date(),
      start: this.#begin?.start ?? performance.now(),
      charged: 0,
    };
  }

  /**
   * Charges the bytes of a message to the budget until both halves of the exchange are complete. Drops the bytes that
   * the budget does not allow.
   */
  #charge(one: Pending, message: Message): Message {
    const size = OBJECT_SIZE + (message.raw?.length ?? 0) + (message.body?.length ?? 0);
    if (!this.#options.budget.take(size)) return { ...message, raw: undefined, body: undefined };
    one.charged += size;
    return message;
  }

  /** Emits the complete exchanges in order. */
  #emitComplete(): void {
    while (this.#pending[0]?.request !== undefined && this.#pending[0].answer !== undefined) {
      this.#emit(this.#pending.shift());
    }
  }

  #emit(one: Pending | undefined): void {
    this.#options.budget.release(one?.charged ?? 0);
    if (one?.request !== undefined) this.#options.report(exchangeOf(one, one.request, this.#remoteAddress));
  }

  #stop(): void {
    this.#active = false;
    this.#requests.stop();
    this.#answers.stop();
    for (const one of this.#pending.splice(0)) this.#emit(one);
  }
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
