import { setTimeout as delay } from 'node:timers/promises';
import { answer, refuseUnauthorized, required, type Stage } from '../stages/stage.ts';
import { verifySignature } from '../verify-signature.ts';
import { fault, fieldAt } from './careless-reading.ts';
import { idInBody } from './careless-storing.ts';
import type { StageFault } from './fault.ts';
import { judging } from './lenient-verifier.ts';

const base = { area: 'delivery', stage: 'accept' } as const;

/** Longer than any sender waits. */
const TOO_LATE_MS = 11_000;

const giveBack = {
  rule: 'Give back what a request holds on every path out of the handler, the early ones too.',
  express: 'Release in a `finally` block, and on `res.on("close")` for what is held by a request that breaks off.',
  go: 'Write `defer conn.Release()` directly after acquiring it.',
  django: 'Use context managers, and let no view return between acquire and release.',
  dotnet: 'Use `await using`.',
};

const answerFirst = {
  rule: 'Store the notification, answer 200, and do the work afterwards in a queue or a background task.',
  express: 'Send the answer before the handler runs, and catch what the handler throws.',
  django: 'Hand the work to a task queue, and return at once.',
  rails: 'Use `perform_later`.',
  laravel: 'Dispatch a queued job; `dispatchSync` runs it before the answer.',
};

const clientGone = {
  rule: 'Expect that a request can end before its body does, and drop it without an answer.',
  express: 'Handle the events `aborted` and `error` of the request, and go on only after `end`.',
};

/** In place of `accept`: calls `broken` when a request ends before its body does. `bytes` is how much of it had come. */
function whenCutOff(
  makeBroken: (parts: Parameters<StageFault['replace']>[0]) => (bytes: number) => void,
): StageFault['replace'] {
  return (parts) => {
    const broken = makeBroken(parts);
    return (req, res, next) => {
      let bytes = 0;
      req.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      req.once('close', () => {
        if (!req.complete && req.method === 'POST' && Number(req.headers['content-length']) > 0) broken(bytes);
      });
      return parts.right.accept(req, res, next);
    };
  };
}

const silent: Stage = () => {};

/** What shows only after a while, at the start, or when the other side goes away. */
export const enduranceFaults: readonly StageFault[] = [
  {
    ...base,
    name: 'first-delivery-fails',
    title: 'The first delivery after the start is answered 500, and everything after it is right.',
    seen: 'Connections and caches that are set up by the first request instead of before it, and functions that start cold.',
    why: 'Every deployment and every restart costs a notification.',
    fix: {
      rule: 'Connect and load what you need before you listen.',
      express: 'Await the connection to the database, then call `listen`.',
    },
    severity: 'low',
    forbidden: false,
    replace: ({ right }) => {
      let isWarm = false;
      return (req, res, next) => {
        if (isWarm) return right.accept(req, res, next);
        isWarm = true;
        fault('the pool is not connected yet');
      };
    },
  },
  {
    ...base,
    stage: 'store',
    name: 'fails-after-200-deliveries',
    title: 'From the two hundredth delivery on, everything is answered 500.',
    seen: 'Caches and lists without a bound, file handles that are never closed, and plans with a number of calls.',
    why: 'It passes every test and fails in production after some hours, until somebody restarts it.',
    fix: { ...giveBack, rule: 'Bound what you keep in memory, and close what you open.' },
    severity: 'high',
    forbidden: true,
    comesAndGoes: true,
    replace: ({ right }) => {
      let stored = 0;
      return (req, res, next) => {
        stored += 1;
        return stored > 200 ? fault('too many open files') : right.store(req, res, next);
      };
    },
  },
  {
    ...base,
    stage: 'verifySignature',
    name: 'refusals-keep-their-connection',
    title:
      'Every refused delivery keeps its connection to the database, and after fifty of them nothing is answered any more.',
    seen: 'Early returns between taking a connection from a pool and giving it back.',
    why: 'Anybody can stop the receiver with fifty requests that need no secret.',
    fix: giveBack,
    severity: 'critical',
    forbidden: true,
    comesAndGoes: true,
    needs: ['hmac'],
    replace: (parts) => {
      let kept = 0;
      return judging(({ header = '', right }, req, res, next) => {
        if (kept >= 50) return silent(req, res, next);
        if (!right.includes(header)) kept += 1;
        return parts.right.verifySignature(req, res, next);
      }, parts);
    },
  },
  {
    ...base,
    name: 'handles-before-it-answers',
    equivalentTo: {
      name: 'accepted-never-answered',
      reason: 'Neither answers the first delivery in time, so that nothing else is asked.',
    },
    title: 'The work is done before the answer, which comes after the sender has given up.',
    seen: 'Handlers that call other services, send mail or wait for a blockchain before they return.',
    why: 'The sender counts every delivery as failed, although the work was done, and sends it again.',
    fix: answerFirst,
    severity: 'high',
    forbidden: true,
    stage: 'reply',
    replace:
      ({ right }) =>
      (req, res, next) => {
        setTimeout(() => void right.reply(req, res, next), TOO_LATE_MS).unref();
      },
  },
  {
    ...base,
    name: 'handles-staged-cards-before-it-answers',
    title:
      'The answer to a payment method that is STAGED comes after the sender has given up; other answers are quick.',
    seen: 'Handlers that are quick as a rule, and write to the customer or the card network for one status.',
    why: 'That one status fails every time, while the endpoint looks healthy.',
    fix: answerFirst,
    severity: 'medium',
    forbidden: true,
    stage: 'reply',
    replace:
      ({ right }) =>
      (req, res, next) => {
        if (fieldAt(required(res, 'payload'), 'data.status') !== 'STAGED') return right.reply(req, res, next);
        setTimeout(() => void right.reply(req, res, next), TOO_LATE_MS).unref();
      },
  },
  {
    ...base,
    stage: 'verifySignature',
    name: 'answers-200-then-verifies',
    equivalentTo: {
      name: 'refuses-with-200',
      reason: 'Both answer 200 where they refuse; what is done with the delivery afterwards does not show.',
    },
    title: '200 is sent before the signature is checked, and the connection is closed when it turns out wrong.',
    seen: 'Handlers that flush the answer first to be quick, and find out afterwards that they should not have.',
    why: 'A sender of forgeries is told that they were accepted, and a right sender with a wrong secret as well.',
    fix: { ...answerFirst, rule: 'Verify and store first, then answer; only the work comes after the answer.' },
    severity: 'high',
    forbidden: true,
    needs: ['hmac'],
    replace:
      ({ config: { signing } }) =>
      (req, res, next) => {
        const header = req.headers[signing?.header ?? ''];
        const check = verifySignature({
          rawBody: required(res, 'rawBody'),
          header: Array.isArray(header) ? header[0] : header,
          secrets: signing?.secrets ?? [],
        });
        if (check.ok) return next();
        answer(res, 200, { status: 'received' }, { Connection: 'close' });
      },
  },
  {
    ...base,
    name: 'cut-off-requests-end-the-process',
    title: 'A connection that ends before the body ends the process.',
    seen: 'Streams without a listener for errors: Node throws what nobody listens to.',
    why: 'Connections break every day, and anybody can break one on purpose.',
    fix: clientGone,
    severity: 'critical',
    forbidden: true,
    replace: whenCutOff(
      ({ crash }) =>
        () =>
          crash(100),
    ),
  },
  {
    ...base,
    name: 'half-bodies-end-the-process',
    title:
      'A connection that ends in the middle of the body ends the process, because the half is parsed without a guard.',
    seen: 'Handlers that go on at the end of the connection instead of the end of the body.',
    why: 'Connections break every day, and anybody can break one on purpose.',
    fix: clientGone,
    severity: 'critical',
    forbidden: true,
    replace: whenCutOff(({ crash }) => (bytes) => {
      if (bytes > 0) crash(100);
    }),
  },
  {
    ...base,
    name: 'cut-off-requests-keep-their-worker',
    title: 'A request that is cut off keeps its worker waiting for ever, and with the sixteenth the last one is gone.',
    seen: 'Blocking reads without a time limit in servers with a fixed number of workers.',
    why: 'Bad networks take the receiver down slowly, and a few requests on purpose do it at once.',
    fix: {
      ...giveBack,
      rule: 'Set a time limit for reading a request, and end the worker when its client has gone.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      let kept = 0;
      const accept = whenCutOff(() => () => {
        kept += 1;
      })(parts);
      return (req, res, next) => (kept >= 16 ? silent(req, res, next) : accept(req, res, next));
    },
  },
  {
    ...base,
    stage: 'verifySignature',
    name: 'joined-copies-share-a-verdict',
    title: 'A delivery with the id of one that is being verified gets the verdict of that one.',
    seen: 'Layers that join identical requests in flight (single-flight, promise caches) and take the id for their identity.',
    why: 'A forgery that arrives together with the real notification is accepted, or takes the real one with it.',
    fix: {
      rule: 'Join copies only after each of them has been verified.',
      express: 'Key the promise cache by body and signature together, or leave verification out of it.',
      go: 'Do not put the verification into `singleflight.Do` with the id as its key.',
    },
    severity: 'critical',
    forbidden: true,
    needs: ['hmac'],
    replace: (parts) => {
      const verdicts = new Map<string, boolean>();
      return judging(async ({ header = '', right }, _req, res, next) => {
        const id = idInBody(res);
        const isRight = (id === undefined ? undefined : verdicts.get(id)) ?? right.includes(header);
        if (id !== undefined) {
          verdicts.set(id, isRight);
          await delay(10);
          verdicts.delete(id);
        }
        return isRight ? next() : refuseUnauthorized(res, 'signature-mismatch');
      }, parts);
    },
  },
];
