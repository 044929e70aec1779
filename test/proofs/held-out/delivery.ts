/** Faults with duplicates, order, load and malformed bodies, written independently. */
import type { IncomingMessage } from 'node:http';
import type { ReceivedNotification } from '../../../contract/index.ts';
import { Refusal } from './bare-receiver.ts';
import { type FaultMixin, type FaultMixins, peek, usesUnchecked } from './fault-mixins.ts';

/** Handles a duplicate notification. */
const onCopy =
  (then: (receiver: { die(): void }, notification: ReceivedNotification, count: number) => void): FaultMixin =>
  (Base) => {
    class Copies extends Base {
      private readonly counts = new Map<string, number>();
      protected override remember(notification: ReceivedNotification, raw: Buffer): void | Promise<void> {
        const count = (this.counts.get(notification.id) ?? 0) + 1;
        this.counts.set(notification.id, count);
        if (count > 1) then({ die: () => this.die() }, notification, count);
        return super.remember(notification, raw);
      }
    }
    return Copies;
  };

const no = (status: number) => {
  throw new Refusal(status);
};

/** Claims an id before the credentials or the payload are checked, and answers 409 to a claimed id. */
const claims =
  (beforeCredentials: boolean): FaultMixin =>
  (Base) => {
    class Claiming extends Base {
      private readonly claimed = new Map<string, 'claimed' | 'stored'>();
      private claim(id: unknown): void {
        if (typeof id !== 'string') return;
        if (this.claimed.get(id) === 'claimed') no(409);
        if (!this.claimed.has(id)) this.claimed.set(id, 'claimed');
      }
      protected override requireKey(req: IncomingMessage, raw: Buffer | null): void {
        // Without the body there is no id, so the key check must wait.
        if (!beforeCredentials || raw !== null) super.requireKey(req, raw);
      }
      protected override async authenticate(req: IncomingMessage, raw: Buffer): Promise<void> {
        if (beforeCredentials) this.claim(peek(raw)?.id);
        await super.authenticate(req, raw);
        if (beforeCredentials) super.requireKey(req, raw);
        else this.claim(peek(raw)?.id);
      }
      protected override remember(notification: ReceivedNotification, raw: Buffer): void | Promise<void> {
        this.claimed.set(notification.id, 'stored');
        return super.remember(notification, raw);
      }
    }
    return Claiming;
  };

/** Handles a later notification of the same transaction. */
const onTransaction =
  // biome-ignore lint/suspicious/noExplicitAny: the code of a partner that looks at nothing.
    (then: (known: readonly any[], value: any) => void): FaultMixin =>
    (Base) => {
      class Transactions extends Base {
        private readonly known = new Map<string, unknown[]>();
        protected override use(notification: ReceivedNotification, value: unknown): void {
          super.use(notification, value);
          const id = (value as { readonly data: { readonly transactionId: unknown } }).data.transactionId;
          if (typeof id !== 'string' || this.seen.has(notification.id)) return;
          const before = this.known.get(id) ?? [];
          then(before, value);
          this.known.set(id, [...before, value]);
        }
      }
      return Transactions;
    };

// biome-ignore lint/suspicious/noExplicitAny: the code of a partner that looks at nothing.
const statusOf = (value: any): string => value.data.metadata?.orderStatus ?? value.data.status ?? '';
const STEPS = ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED', 'COMPLETED'];

/** Handles the body before it is parsed. */
const onBody =
  (then: (raw: Buffer, receiver: { die(): void }) => void, verified = true): FaultMixin =>
  (Base) =>
    class extends Base {
      protected override async authenticate(req: IncomingMessage, raw: Buffer): Promise<void> {
        if (!verified) then(raw, { die: () => this.die() });
        await super.authenticate(req, raw);
        if (verified) then(raw, { die: () => this.die() });
      }
    };

const isBroken = (raw: Buffer) => raw.length > 0 && peek(raw) === undefined;
const crash = ({ die }: { die(): void }) => {
  die();
  throw new Error('uncaught');
};
const depthOf = (raw: Buffer) => {
  let [depth, deepest] = [0, 0];
  for (const byte of raw) {
    if (byte === 0x5b || byte === 0x7b) deepest = Math.max(deepest, ++depth);
    if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return deepest;
};

export const deliveryFaults: FaultMixins = {
  'copies-answered-409': onCopy(() => no(409)),
  'copies-answered-400': onCopy(() => no(400)),
  'copies-hit-the-unique-key': onCopy(() => {
    throw new Error('duplicate key value violates unique constraint');
  }),
  'copies-end-the-process': onCopy(crash),
  'third-copy-refused': onCopy((_receiver, _notification, count) => (count > 2 ? no(409) : undefined)),
  'deposit-copies-refused': onCopy((_receiver, { kind }) => (kind === 'CAAS_BLOCKCHAIN' ? no(409) : undefined)),
  'ids-claimed-before-every-check': claims(true),
  'ids-claimed-before-the-schema': claims(false),
  'steps-back-refused': onTransaction((known, value) => {
    const at = STEPS.indexOf(statusOf(value));
    if (at >= 0 && known.some((one) => STEPS.indexOf(statusOf(one)) > at)) no(409);
  }),
  'completed-is-final': onTransaction((known, value) => {
    if (statusOf(value) !== 'COMPLETED' && known.some((one) => statusOf(one) === 'COMPLETED')) no(409);
  }),
  'time-must-not-go-back': onTransaction((known, { at }) => {
    const time = (one: unknown) => (typeof one === 'number' ? one * 1000 : Date.parse(String(one)));
    if (known.some((one) => time(one.at) > time(at))) no(409);
  }),
  'failed-is-final': onTransaction((known, value) => {
    if (value.type === 'REFUND' && known.some((one) => statusOf(one) === 'FAILED')) no(409);
  }),
  'refund-needs-its-failed-sell': onTransaction((known, value) => {
    if (value.type === 'REFUND' && !known.some((one) => statusOf(one) === 'FAILED')) no(404);
  }),
  'transactions-created-again': onTransaction((known) => {
    if (known.length > 0) throw new Error('duplicate key value violates unique constraint');
  }),
  'burst-answered-503': (Base) => {
    class Narrow extends Base {
      private underWay = 0;
      protected override async bodyOf(req: IncomingMessage): Promise<Buffer> {
        if (++this.underWay > 15) {
          this.underWay--;
          throw new Refusal(503);
        }
        try {
          const raw = await super.bodyOf(req);
          await new Promise((resolve) => setTimeout(resolve, 20));
          return raw;
        } finally {
          this.underWay--;
        }
      }
    }
    return Narrow;
  },
  'broken-json-answers-500': onBody((raw) => void (raw.length > 0 && JSON.parse(raw.toString()))),
  'broken-json-ends-the-process': onBody((raw, receiver) => (isBroken(raw) ? crash(receiver) : undefined)),
  'empty-body-answers-500': onBody((raw) => (raw.length === 0 ? no(500) : undefined)),
  'parsed-before-verified': onBody((raw) => (isBroken(raw) || raw.length === 0 ? no(400) : undefined), false),
  'unverified-json-answers-500': onBody((raw) => void JSON.parse(raw.toString()), false),
  'null-ends-the-process': onBody((raw, receiver) => (peek(raw) === null ? crash(receiver) : undefined)),
  'arrays-answer-500': onBody((raw) => (Array.isArray(peek(raw)) ? no(500) : undefined)),
  'scalars-answer-500': onBody((raw) =>
    peek(raw) !== undefined && (typeof peek(raw) !== 'object' || peek(raw) === null) ? no(500) : undefined,
  ),
  'nesting-of-900-answers-500': onBody((raw) => (depthOf(raw) > 900 ? no(500) : undefined)),
  'nesting-of-10000-answers-500': onBody((raw) => (depthOf(raw) > 10_000 ? no(500) : undefined)),
  'null-characters-answer-500': onBody((raw) => (raw.includes('\\u0000') && peek(raw)?.data ? no(500) : undefined)),
  'four-byte-characters-answer-500': onBody((raw) =>
    /[\u{10000}-\u{10ffff}]/u.test(JSON.stringify(peek(raw) ?? '')) ? no(500) : undefined,
  ),
  'large-bodies-answer-500': onBody((raw) => (raw.length > 512 * 1024 ? no(500) : undefined), false),
  'reads-fields-of-null-data': usesUnchecked((value) => (value && 'data' in value ? value.data.type : null)),
  'types-in-lower-case': usesUnchecked((value) => value?.type?.toLowerCase()),
};
