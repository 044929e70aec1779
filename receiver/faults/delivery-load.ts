/** Mutants that fail under load or over time. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { answer, refuse, refuseUnauthorized, required, type Stage } from '../stages/stage.ts';
import { verifySignature } from '../verify-signature.ts';
import { fault, fieldAt, idInBody } from './careless-handling.ts';
import type { StageFault } from './fault.ts';
import { judging } from './lenient-verifier.ts';

const LOAD = { area: 'delivery', stage: 'accept' } as const;

const lookAtPools = {
  rule: 'Give every instance the same configuration, give back what you take from a pool on every path, and look at what happens at the times of the failures.',
  express: 'Release connections in a `finally`, and compare the instances behind the load balancer.',
};

const raiseLimits = {
  rule: 'Take all deliveries that come and do the work behind a queue; limit the work and not the requests.',
  express: 'Store and answer at once; limit the concurrency of the handlers.',
};

/** How many milliseconds without a new request end a burst. */
const QUIET_MS = 6;

/**
 * Holds requests on new connections until no more of them come in, and gives each its place among those that are being worked on, from 1;
 * 0 for a request on a connection that had one before. So the places do not depend on how fast the machine is.
 */
function placing(): (req: Request, res: Response) => Promise<number> {
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

/** In place of `accept`: `turnAway` ends the requests beyond the fifteenth of those that come in at the same time. */
function allowingFifteen(turnAway: (...stage: Parameters<Stage>) => void): StageFault['replace'] {
  return ({ right }) => {
    const placeOf = placing();
    return async (req, res, next) =>
      (await placeOf(req, res)) > 15 ? turnAway(req, res, next) : right.accept(req, res, next);
  };
}

/** One in so many right deliveries goes wrong. */
function everyNth(count: number, goWrong: (...stage: Parameters<Stage>) => void): StageFault['replace'] {
  return ({ right }) => {
    let stored = 0;
    return (req, res, next) => {
      stored += 1;
      return stored % count === 0 ? goWrong(req, res, next) : right.store(req, res, next);
    };
  };
}

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

export const deliveryLoadFaults: readonly StageFault[] = [
  // Failures that come and go, or come with the load.
  {
    ...LOAD,
    stage: 'store',
    name: 'every-7th-answers-500',
    title: 'One in seven right deliveries is answered 500.',
    seen: 'One bad instance of seven behind a load balancer.',
    why: 'A single test nearly always passes, and in production one order in seven needs a second try.',
    fix: lookAtPools,
    severity: 'high',
    forbidden: true,
    comesAndGoes: true,
    replace: everyNth(7, () => fault('connection terminated unexpectedly')),
  },
  {
    ...LOAD,
    stage: 'store',
    name: 'every-50th-answers-500',
    equivalentTo: {
      name: 'first-delivery-fails',
      reason: 'Of both it is sure only that a plain valid delivery failed once; which one is chance.',
    },
    title: 'One in fifty right deliveries is answered 500.',
    seen: 'Connections that the database closed while they lay in the pool.',
    why: 'One order in fifty is refused, and nobody can reproduce it.',
    fix: { ...lookAtPools, rule: 'Let the pool check a connection before it hands it out, and try once more.' },
    severity: 'medium',
    forbidden: false,
    comesAndGoes: true,
    replace: everyNth(50, () => fault('connection terminated unexpectedly')),
  },
  {
    ...LOAD,
    stage: 'store',
    name: 'every-20th-is-reset',
    title: 'At one in twenty right deliveries the connection is closed without an answer.',
    seen: 'Workers that are recycled after so many requests while one is being handled, and keep-alive limits of proxies that differ.',
    why: 'The sender cannot tell whether the notification was stored, and has to send it again.',
    fix: {
      rule: 'End workers between requests, with a graceful shutdown; let the proxy close idle connections before the server does.',
      express:
        'Close the server on SIGTERM and let what is under way end; set `keepAliveTimeout` above the one of the proxy.',
    },
    severity: 'medium',
    forbidden: true,
    comesAndGoes: true,
    replace: everyNth(20, (req) => void req.socket.destroy()),
  },
  {
    ...LOAD,
    name: 'one-request-at-a-time',
    title: 'A second request at the same time is answered 503.',
    seen: 'A single worker without a queue behind a proxy that does not wait.',
    why: 'Notifications come in bursts, and most of a burst is refused.',
    fix: raiseLimits,
    severity: 'medium',
    forbidden: false,
    comesAndGoes: true,
    replace: ({ right }) => {
      let inFlight = 0;
      return async (req, res, next) => {
        inFlight += 1;
        res.once('close', () => {
          inFlight -= 1;
        });
        if (inFlight > 1) return refuse(res, 503, 'busy');
        // As long as the work takes: without it, no two requests would ever be in flight at the same time.
        await delay(2);
        return right.accept(req, res, next);
      };
    },
  },
  {
    ...LOAD,
    name: 'burst-answered-503',
    title: 'A delivery beyond fifteen at the same time is answered 503.',
    seen: 'Guards against overload (under-pressure, load shedding of a proxy) that are set too tightly.',
    why: 'Bursts are when notifications come, and each one that is shed comes later and out of order.',
    fix: raiseLimits,
    severity: 'low',
    forbidden: false,
    replace: allowingFifteen((_req, res) => refuse(res, 503, 'busy')),
  },
  {
    ...LOAD,
    name: 'burst-reset',
    title: 'A delivery beyond fifteen at the same time finds its connection closed without an answer.',
    seen: 'Limits on connections (limit_conn, a small backlog) that were set for people and not for machines.',
    why: 'A part of each burst is lost without a trace in the log of the application.',
    fix: raiseLimits,
    severity: 'high',
    forbidden: true,
    replace: allowingFifteen((req) => void req.socket.destroy()),
  },
  {
    ...LOAD,
    name: 'burst-empties-the-pool',
    title: 'A delivery beyond fifteen at the same time is answered 500, because no connection to the database is left.',
    seen: 'Pools of connections whose time limit for waiting is zero or too short; the default sizes are 5 to 20.',
    why: 'A burst is when most notifications come, and what does not fit into the pool is refused.',
    fix: { ...raiseLimits, rule: 'Let requests wait for a connection, and hold one only while you store.' },
    severity: 'high',
    forbidden: true,
    replace: allowingFifteen(() => fault('timeout exceeded when trying to connect')),
  },
  {
    ...LOAD,
    stage: 'verifySignature',
    name: 'verdicts-in-shared-objects',
    title:
      'Under load the outcome of the check is kept in an object that requests share, so a forged delivery gets the verdict of a right one.',
    seen: 'Module-level variables, singletons with the state of a request, and pools of objects that are used again before they are free.',
    why: 'A forged delivery that arrives beside right ones is accepted, and one at a time everything looks right.',
    fix: {
      rule: 'Pass the body and the outcome of the check along as values of their request.',
      express: 'Keep them in `res.locals`, and nowhere at the level of the module.',
      spring: 'Keep no state of a request in the fields of a bean.',
      flask: 'Keep it in `g`, and not in a global.',
    },
    severity: 'critical',
    forbidden: true,
    needs: ['hmac'],
    replace: (parts) => {
      const placeOf = placing();
      let isRight = false;
      return judging(async ({ header = '', right }, req, res, next) => {
        if (right.includes(header)) isRight = true;
        const place = await placeOf(req, res);
        if (place > 15) return isRight ? next() : refuseUnauthorized(res, 'signature-mismatch');
        if (place === 0) isRight = false;
        return parts.right.verifySignature(req, res, next);
      }, parts);
    },
  },
  // What shows only after a while, at the start, or when the other side goes away.
  {
    ...LOAD,
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
    ...LOAD,
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
    ...LOAD,
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
    ...LOAD,
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
    ...LOAD,
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
    ...LOAD,
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
    ...LOAD,
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
    ...LOAD,
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
    ...LOAD,
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
    ...LOAD,
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
