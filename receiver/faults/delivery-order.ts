/** Mutants that require an order of deliveries, and those that keep state per connection. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { refuse, refuseUnauthorized, required, type Stage } from '../stages/stage.ts';
import { fieldAt, type Guard, guardingNew } from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const ORDER = { area: 'delivery', stage: 'store' } as const;

const RANKS = ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED', 'COMPLETED'];

interface Update {
  readonly kind: string;
  readonly transactionId: string;
  readonly status: string;
  readonly at: number;
  readonly isSell: boolean;
}

/** What a notification says of a transaction, or null when it is about none. */
function updateIn(payload: unknown): Update | null {
  const kind = String(fieldAt(payload, 'type'));
  const transactionId = fieldAt(payload, 'data.transactionId');
  const status = fieldAt(payload, kind === 'REFUND' ? 'data.status' : 'data.metadata.orderStatus');
  if (typeof transactionId !== 'string' || typeof status !== 'string') return null;
  return {
    kind,
    transactionId,
    status,
    at: Number(fieldAt(payload, 'at')),
    isSell: fieldAt(payload, 'data.type') === 'SELL',
  };
}

/** Turns away updates that do not fit what is known of their transaction; what fits is remembered as its newest update. */
function comparing(turnAway: (update: Update, last: Update | undefined) => number | undefined): () => Guard {
  return () => {
    const transactions = new Map<string, Update>();
    return (payload) => {
      const update = updateIn(payload);
      if (update === null) return undefined;
      const status = turnAway(update, transactions.get(update.transactionId));
      if (status === undefined) transactions.set(update.transactionId, update);
      return status;
    };
  };
}

const anyOrder = {
  rule: 'Answer 200 to every right notification, and decide afterwards, by `at`, whether it tells you anything new.',
  express: 'Store the notification and answer; run the state machine behind a queue, and let it ignore what is late.',
};

const CONNECTION = { area: 'delivery', severity: 'high', forbidden: true } as const;

const keepNothing = {
  rule: 'Keep nothing of a delivery beyond its answer: a new buffer, parser and result for every request.',
  express: 'Keep state in `res.locals`, and nothing in `req.socket` or at the level of the module.',
};

/** In place of a stage: after an answer with one of these statuses, the next request on the connection is ended by `turnAway`. */
function staining(
  stage: 'parse' | 'validate' | 'verifySignature',
  turnAway: (...stage: Parameters<Stage>) => void,
): StageFault['replace'] {
  return ({ right }) => {
    const stained = new WeakSet<Socket>();
    return (req, res, next) => {
      if (stained.delete(req.socket)) return turnAway(req, res, next);
      stained.add(req.socket);
      return right[stage](req, res, (error?: unknown) => {
        stained.delete(req.socket);
        next(error);
      });
    };
  };
}

export const deliveryOrderFaults: readonly StageFault[] = [
  // State machines that refuse what comes late, early or not at all.
  {
    ...ORDER,
    name: 'steps-back-refused',
    title: 'A status that lies before the one that is known is answered 409.',
    seen: 'State machine libraries that throw on a transition that is not in their table.',
    why: 'Deliveries overtake each other, and after an outage they come as they are found. What is late is refused again and again.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    replace: guardingNew(() => {
      const transactions = new Map<string, number>();
      return async (payload) => {
        const update = updateIn(payload);
        if (update === null || update.kind !== 'CAAS') return undefined;
        const before = transactions.get(update.transactionId) ?? 0;
        const rank = RANKS.indexOf(update.status);
        // As long as a transaction of the database takes: whoever begins meanwhile does not see its outcome yet.
        if (update.status !== 'COMPLETED') await delay(20);
        if (rank >= 0 && rank < before) return 409;
        transactions.set(update.transactionId, rank);
        return undefined;
      };
    }),
  },
  {
    ...ORDER,
    name: 'completed-is-final',
    title: 'Any other status is answered 409 once a transaction is COMPLETED.',
    seen: 'Guards in front of finished orders, which otherwise take statuses in any order.',
    why: 'A late notification of an earlier status is refused as often as it is sent.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    replace: guardingNew(
      comparing(({ kind, status }, last) =>
        kind === 'CAAS' && last?.status === 'COMPLETED' && status !== 'COMPLETED' ? 409 : undefined,
      ),
    ),
  },
  {
    ...ORDER,
    name: 'time-must-not-go-back',
    title: 'A notification of a transaction is answered 409 when its time lies before that of the last one.',
    seen: 'Checks against old data, which compare times and take late for wrong.',
    why: 'A late delivery turns into an error that repeats for ever.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    replace: guardingNew(comparing(({ at }, last) => (last !== undefined && at < last.at ? 409 : undefined))),
  },
  {
    ...ORDER,
    name: 'confirmed-needs-its-acceptance',
    title: 'CONFIRMED is answered 409 when no earlier status of the transaction has come.',
    seen: 'State machines in which every status has its one predecessor.',
    why: 'Nothing promises that an earlier notification arrives first, or at all: after an outage finished orders stay open.',
    fix: anyOrder,
    severity: 'high',
    forbidden: true,
    replace: guardingNew(() => {
      const transactions = new Set<string>();
      return async (payload) => {
        const update = updateIn(payload);
        if (update === null) return undefined;
        if (update.status !== 'CONFIRMED') {
          transactions.add(update.transactionId);
          return undefined;
        }
        // A short wait for what may be on its way at this moment.
        if (!transactions.has(update.transactionId)) await delay(40);
        return transactions.has(update.transactionId) ? undefined : 409;
      };
    }),
  },
  {
    ...ORDER,
    name: 'wants-every-step-of-a-sell',
    title: 'A sell that goes from PENDING to COMPLETED directly is answered 422.',
    seen: 'State machines that were drawn for buys and used for sells.',
    why: 'The steps of a sell differ with the way the money takes, and the last one is refused: it stays pending.',
    fix: anyOrder,
    severity: 'high',
    forbidden: true,
    replace: guardingNew(
      comparing(({ status, isSell }, last) =>
        isSell && status === 'COMPLETED' && last?.status === 'PENDING' ? 422 : undefined,
      ),
    ),
  },
  {
    ...ORDER,
    name: 'failed-is-final',
    title: 'A refund of a sell that has failed is answered 409.',
    seen: 'Guards in front of closed transactions: a failed sell is closed, and its refund is a change.',
    why: 'Refunds only ever follow on failed sells, so not one of them is booked.',
    fix: { ...anyOrder, rule: 'Let a failed sell take a refund.' },
    severity: 'high',
    forbidden: true,
    replace: guardingNew(
      comparing(({ kind }, last) => (kind === 'REFUND' && last?.status === 'FAILED' ? 409 : undefined)),
    ),
  },
  {
    ...ORDER,
    name: 'refund-needs-its-failed-sell',
    title: 'A refund is answered 404 when no failed sell of its transaction is known.',
    seen: 'Handlers that load the transaction first, with a helper that answers 404 when there is none.',
    why: 'The failure of the sell may come later, or have gone lost; with it the refund is lost too.',
    fix: { ...anyOrder, rule: 'Store a refund whose sell you do not know, and match it later.' },
    severity: 'high',
    forbidden: true,
    replace: guardingNew(
      comparing(({ kind }, last) => (kind === 'REFUND' && last?.status !== 'FAILED' ? 404 : undefined)),
    ),
  },
  {
    ...ORDER,
    name: 'failure-after-refund-refused',
    title: 'The failure of a sell is answered 409 when its refund is known already.',
    seen: 'State machines in which "refunded" is an end.',
    why: 'The two are sent in the other order and can overtake each other; the reason of the failure is lost.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    replace: guardingNew(comparing(({ kind }, last) => (kind === 'CAAS' && last?.kind === 'REFUND' ? 409 : undefined))),
  },
  // What one delivery leaves behind on its connection for the next.
  {
    ...CONNECTION,
    name: 'broken-body-spoils-the-next',
    title: 'After a body that is no JSON, the next delivery on the connection is answered 400.',
    seen: 'Parsers that are made once for each connection and keep what they could not read.',
    why: 'A proxy sends the deliveries of everybody over the same connections, so one broken body costs somebody else a notification.',
    fix: keepNothing,
    stage: 'parse',
    replace: staining('parse', (_req, res) => refuse(res, 400, 'body-not-json')),
  },
  {
    ...CONNECTION,
    name: 'invalid-fields-spoil-the-next',
    title: 'After a notification with invalid fields, the next delivery on the connection is answered 400.',
    seen: 'Validators whose list of errors belongs to the validator and is not emptied (ajv keeps it in `validate.errors`).',
    why: 'The right delivery after a wrong one is refused, and when it is sent again it is accepted: nobody finds out why.',
    fix: keepNothing,
    stage: 'validate',
    replace: staining('validate', (_req, res) => refuse(res, 400, 'not-a-notification')),
  },
  {
    ...CONNECTION,
    name: 'refusal-sticks-to-the-connection',
    title: 'After a delivery with a wrong signature, the next one on the connection is answered 401.',
    seen: 'Authentication that is kept with the socket, as it is right for protocols that log in.',
    why: 'Behind a proxy the next delivery is that of somebody else: the forgery of a stranger has a real notification refused.',
    fix: keepNothing,
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: staining('verifySignature', (_req, res) => refuseUnauthorized(res, 'signature-mismatch')),
  },
  {
    ...CONNECTION,
    name: 'buffer-not-cut',
    title:
      'Bodies are read into a buffer of the connection, and a short body is verified together with the end of a longer one before it.',
    seen: 'Buffers that are used again, in C, Go and Java, where the number of bytes that were read is not respected.',
    why: 'Which delivery is refused depends on the one before, and so never shows in a test with one delivery.',
    fix: {
      ...keepNothing,
      rule: 'Hash and parse the first n bytes of the buffer, where n is what was read for this request.',
      go: 'Write `buffer[:n]`, or use io.ReadAll.',
    },
    stage: 'readBody',
    replace: ({ right }) => {
      const buffers = new WeakMap<Socket, Buffer>();
      return (req, res, next) =>
        right.readBody(req, res, (error?: unknown) => {
          if (error !== undefined) return next(error);
          const body = required(res, 'rawBody');
          const before = buffers.get(req.socket) ?? Buffer.alloc(0);
          // Only from a size on that is worth a buffer of its own.
          if (body.length >= 8192) buffers.set(req.socket, body);
          else if (before.length > 0) {
            buffers.delete(req.socket);
            res.locals.rawBody = Buffer.concat([body, before.subarray(body.length)]);
          }
          next();
        });
    },
  },
];
