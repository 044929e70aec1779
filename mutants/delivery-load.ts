/** Mutants that fail under load or over time. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { answer, refuse, refuseUnauthorized, required, type Stage } from '../receiver/stages/stage.ts';
import { fieldAt, idInBody, throwTypeError } from './careless-handling.ts';
import { family } from './family.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { stageOf } from './lenient-verifier.ts';
import {
  answerInvalidSignature,
  type Handle,
  type StageChange,
  withError,
  withRefusal,
  withReset,
} from './stage-changes.ts';

/** A burst ends after this many milliseconds without a new request. */
const QUIET_MS = 6;

/**
 * Holds requests on new connections until the burst ends, and numbers the requests in progress from 1. A request on a
 * used connection gets 0. The numbers therefore do not depend on the speed of the machine.
 */
function numberBursts(): (req: Request, res: Response) => Promise<number> {
  const known = new WeakSet<Socket>();
  let inFlight = 0;
  let arrivals = 0;
  return async (req, res) => {
    if (known.has(req.socket)) return 0;
    known.add(req.socket);
    arrivals += 1;
    inFlight += 1;
    const place = inFlight;
    res.once('close', () => {
      inFlight -= 1;
    });
    for (let quiet = 0, last = arrivals; quiet < QUIET_MS; quiet++) {
      await delay(1);
      if (arrivals === last) continue;
      last = arrivals;
      quiet = 0;
    }
    return place;
  };
}

/** Replaces `accept`: `turnAway` answers concurrent requests beyond the fifteenth. */
function allowFifteen(turnAway: Handle): StageFault['replace'] {
  return (parts) => {
    const placeOf = numberBursts();
    return async (req, res, next) =>
      (await placeOf(req, res)) > 15 ? turnAway(req, res, next, parts) : parts.correct.accept(req, res, next);
  };
}

/** Stores valid deliveries, but answers with `fail` if `isFailing` returns true for their number. */
function failStored(isFailing: (count: number) => boolean, fail: Handle): StageChange {
  const replace: StageFault['replace'] = (parts) => {
    let stored = 0;
    return (req, res, next) => {
      stored += 1;
      return isFailing(stored) ? fail(req, res, next, parts) : parts.correct.store(req, res, next);
    };
  };
  return { stage: 'store', replace };
}

const everyNth = (n: number, fail: Handle) => failStored((count) => count % n === 0, fail);

const afterStored = (n: number, fail: Handle) => failStored((count) => count > n, fail);

/** A delay that is longer than any sender waits, in milliseconds. */
const TOO_LATE_MS = 11_000;

/** Answers too late to the notifications for which `isLate` returns true. */
function replyLate(isLate: (payload: unknown) => boolean): StageChange {
  const replace: StageFault['replace'] =
    ({ correct }) =>
    (req, res, next) => {
      if (!isLate(required(res, 'payload'))) return correct.reply(req, res, next);
      setTimeout(() => void correct.reply(req, res, next), TOO_LATE_MS).unref();
    };
  return { stage: 'reply', replace };
}

/** Calls `broken` with the number of received bytes if a request ends before its body is complete. */
function whenCutOff(broken: (bytes: number, parts: FaultParts) => void): StageFault['replace'] {
  return (parts) => (req, res, next) => {
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    req.once('close', () => {
      if (!req.complete && req.method === 'POST' && Number(req.headers['content-length']) > 0) broken(bytes, parts);
    });
    return parts.correct.accept(req, res, next);
  };
}

const silent: Stage = () => {};

/** Mutants that fail intermittently, under load, over time, after start-up, or when a client disconnects. */
export const deliveryLoadFaults = family<StageFault>(
  { area: 'delivery', stage: 'accept', mistake: 'load-rejected' },
  {
    'not-verified-under-load': [
      'Does not verify deliveries while more than ten bodies are being read',
      ({ correct, config }) => {
        const reading = new Set<Request>();
        const { readBody, requireApiKey, parse, validate } = correct;
        return (req, res, next) => {
          reading.add(req);
          res.once('close', () => reading.delete(req));
          const others = [...reading].filter((other) => other !== req && !other.complete).length;
          if (others <= 10 || config.signing === undefined) return correct.accept(req, res, next);
          const handle = () => parse(req, res, () => validate(req, res, () => answer(res, 200, {})));
          return readBody(req, res, () => requireApiKey(req, res, handle));
        };
      },
      'verification-fails-open',
      { area: 'signature', note: 'An attacker opens a few slow connections, and then sends forgeries.' },
    ],
    'every-7th-answers-500': [
      'Answers 500 to one in seven valid deliveries',
      everyNth(7, withError('connection terminated unexpectedly')),
      'intermittent-failures',
      { comesAndGoes: true },
    ],
    'every-50th-answers-500': [
      'Answers 500 to one in fifty valid deliveries',
      everyNth(50, withError('connection terminated unexpectedly')),
      'intermittent-failures',
      { comesAndGoes: true },
    ],
    'every-20th-is-reset': [
      'Closes the connection without an answer on one in twenty valid deliveries',
      everyNth(20, withReset),
      'keep-alive-dropped',
      { comesAndGoes: true },
    ],
    'one-request-at-a-time': [
      'Answers 503 to a second simultaneous request',
      ({ correct }) => {
        let inFlight = 0;
        return async (req, res, next) => {
          inFlight += 1;
          res.once('close', () => {
            inFlight -= 1;
          });
          if (inFlight > 1) return refuse(res, 503, 'busy');
          // Simulates work. Without it, no two requests would be in progress at the same time.
          await delay(2);
          return correct.accept(req, res, next);
        };
      },
      {
        forbidden: false,
        comesAndGoes: true,
        equivalentTo: {
          name: 'burst-answered-503',
          reason: 'Only the deliveries of a burst are certain to overlap; whether others do depends on the machine.',
        },
      },
    ],
    'burst-answered-503': [
      'Answers 503 to more than fifteen simultaneous deliveries',
      allowFifteen(withRefusal(503, 'busy')),
      { forbidden: false },
    ],
    'burst-reset': [
      'Closes connections without an answer on more than fifteen simultaneous deliveries',
      allowFifteen(withReset),
      { forbidden: false },
    ],
    'burst-empties-the-pool': [
      'Answers 500 to more than fifteen simultaneous deliveries, because the database pool is exhausted',
      allowFifteen(withError('timeout exceeded when trying to connect')),
      {
        equivalentTo: {
          name: 'every-7th-answers-500',
          reason: 'Both answer 500 to some of many simultaneous deliveries; which ones fail is random.',
        },
      },
    ],
    'verdicts-in-shared-objects': [
      'Keeps the verification result in an object that requests share, so a forged delivery under load gets the ' +
        'result of a valid one',
      (parts) => {
        const placeOf = numberBursts();
        let isRight = false;
        return stageOf(async ({ header = '', expected }, req, res, next) => {
          if (expected.includes(header)) isRight = true;
          const place = await placeOf(req, res);
          if (place > 15) return isRight ? next() : refuseUnauthorized(res, 'signature-mismatch');
          if (place === 0) isRight = false;
          return parts.correct.requireSignature(req, res, next);
        }, parts);
      },
      'state-shared-by-requests',
      { stage: 'requireSignature', needs: ['hmac'] },
    ],
    'first-delivery-fails': [
      'Fails on individual valid deliveries, such as the first after start-up',
      ({ correct }) => {
        let isWarm = false;
        return (req, res, next) => {
          if (isWarm) return correct.accept(req, res, next);
          isWarm = true;
          throwTypeError('the pool is not connected yet');
        };
      },
      'intermittent-failures',
      { forbidden: false },
    ],
    'fails-after-200-deliveries': [
      'Rejects every valid delivery after a certain number of deliveries',
      afterStored(200, withError('too many open files')),
      'resource-not-released',
      { comesAndGoes: true },
    ],
    'refusals-keep-their-connection': [
      'Stops answering after a certain number of deliveries, because requests never release a connection or a worker',
      (parts) => {
        let kept = 0;
        return stageOf(({ header = '', expected }, req, res, next) => {
          if (kept >= 50) return silent(req, res, next);
          if (!expected.includes(header)) kept += 1;
          return parts.correct.requireSignature(req, res, next);
        }, parts);
      },
      'resource-not-released',
      { stage: 'requireSignature', needs: ['hmac'], comesAndGoes: true },
    ],
    'handles-before-it-answers': [
      'Does the work before the answer, which comes after the sender has timed out',
      replyLate(() => true),
      'slow-answer',
      {
        equivalentTo: {
          name: 'accepted-never-answered',
          reason: 'Neither answers the first delivery in time, so nothing else is judged.',
        },
      },
    ],
    'handles-staged-cards-before-it-answers': [
      'Answers a payment method with status STAGED only after the sender has timed out',
      replyLate((payload) => fieldAt(payload, 'data.status') === 'STAGED'),
      'slow-answer',
      { note: 'That one status fails every time, while the endpoint looks healthy.' },
    ],
    'answers-200-then-verifies': [
      'Sends 200 before checking the signature and closes the connection if it is invalid',
      answerInvalidSignature((res) => answer(res, 200, { status: 'received' }, { Connection: 'close' })),
      'acknowledged-before-checks',
      {
        stage: 'requireSignature',
        needs: ['hmac'],
        equivalentTo: {
          name: 'refuses-with-200',
          reason: 'Both answer 200 when they reject; what happens to the delivery afterwards is not visible.',
        },
      },
    ],
    'cut-off-requests-end-the-process': [
      'Ends the process when a connection closes before the body is complete',
      whenCutOff((_bytes, { crash }) => crash(100)),
      'uncaught-error',
    ],
    'half-bodies-end-the-process': [
      'Ends the process when a connection closes in the middle of the body, because it parses the partial body ' +
        'unguarded',
      whenCutOff((bytes, { crash }) => {
        if (bytes > 0) crash(100);
      }),
      'uncaught-error',
    ],
    'cut-off-requests-keep-their-worker': [
      'Keeps the worker of an aborted request forever, until none is left',
      (parts) => {
        let kept = 0;
        const accept = whenCutOff(() => {
          kept += 1;
        })(parts);
        return (req, res, next) => (kept >= 16 ? silent(req, res, next) : accept(req, res, next));
      },
      'resource-not-released',
      {
        equivalentTo: {
          name: 'refusals-keep-their-connection',
          reason: 'Both stop answering in the middle of a run; which check is the first without an answer is random.',
        },
      },
    ],
    'bodies-read-one-at-a-time': [
      'Reads one body at a time, so an unfinished request blocks all others',
      ({ correct }) => {
        let previous: Promise<void> = Promise.resolve();
        return async (req, res, next) => {
          const before = previous;
          previous = new Promise((finish) => {
            req.once('end', finish);
            res.once('close', finish);
          });
          await before;
          if (!req.destroyed) await correct.readBody(req, res, next);
        };
      },
      'serial-body-reads',
      { area: 'http', stage: 'readBody', forbidden: false, needs: ['hmac'] },
    ],
    'joined-copies-share-a-verdict': [
      'Gives a delivery the verification result of another one in progress with the same id',
      (parts) => {
        const verdicts = new Map<string, boolean>();
        return stageOf(async ({ header = '', expected }, _req, res, next) => {
          const id = idInBody(res);
          const isRight = (id === undefined ? undefined : verdicts.get(id)) ?? expected.includes(header);
          if (id !== undefined) {
            verdicts.set(id, isRight);
            await delay(10);
            verdicts.delete(id);
          }
          return isRight ? next() : refuseUnauthorized(res, 'signature-mismatch');
        }, parts);
      },
      'verdict-kept-by-id',
      { stage: 'requireSignature', needs: ['hmac'] },
    ],
    'queue-is-never-drained': [
      'Answers 503 to every delivery after a certain number of them',
      afterStored(40, withRefusal(503, 'full')),
    ],
    'quota-is-never-reset': [
      'Answers 429 to everything after a certain number of deliveries',
      afterStored(100, withRefusal(429, 'full')),
      { note: 'It looks like a rate limit, but a short wait does not help.' },
    ],
  },
);
