/** Mutants that fail under load or over time. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { answer, refuse, refuseUnauthorized, required, type Stage } from '../receiver/stages/stage.ts';
import { verifySignature } from '../receiver/verify-signature.ts';
import { fieldAt, idInBody, throwTypeError } from './careless-handling.ts';
import type { StageFault } from './fault.ts';
import { stageOf } from './lenient-verifier.ts';

const LOAD = { area: 'delivery', stage: 'accept' } as const;

const checkPools = {
  rule:
    'Use the same configuration on every instance, return pooled resources on every path, and investigate the times ' +
    'of the failures.',
  express: 'Release connections in a `finally` block, and compare the instances behind the load balancer.',
};

const raiseLimits = {
  rule: 'Accept all deliveries and work through a queue; limit the work, not the requests.',
  express: 'Store and answer at once; limit the concurrency of the handlers.',
};

/** A burst ends after this many milliseconds without a new request. */
const QUIET_MS = 6;

/**
 * Holds requests on new connections until the burst ends, and numbers the requests in progress from 1; 0 is a request
 * on a used connection. So the numbers do not depend on the speed of the machine.
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

/** Replaces `accept`: `turnAway` answers simultaneous requests beyond the fifteenth. */
function allowFifteen(turnAway: (...stage: Parameters<Stage>) => void): StageFault['replace'] {
  return ({ correct }) => {
    const placeOf = numberBursts();
    return async (req, res, next) =>
      (await placeOf(req, res)) > 15 ? turnAway(req, res, next) : correct.accept(req, res, next);
  };
}

/** Fails every nth valid delivery. */
function everyNth(count: number, fail: (...stage: Parameters<Stage>) => void): StageFault['replace'] {
  return ({ correct }) => {
    let stored = 0;
    return (req, res, next) => {
      stored += 1;
      return stored % count === 0 ? fail(req, res, next) : correct.store(req, res, next);
    };
  };
}

/** Refuses every delivery after this many valid ones. */
function afterStored(count: number, status: number): StageFault['replace'] {
  return ({ correct }) => {
    let stored = 0;
    return (req, res, next) => {
      stored += 1;
      return stored > count ? refuse(res, status, 'full') : correct.store(req, res, next);
    };
  };
}

/** Longer than any sender waits. */
const TOO_LATE_MS = 11_000;

const releaseOnEveryPath = {
  rule: 'Release the resources of a request on every path out of the handler, including early returns.',
  express: 'Release in a `finally` block, and on `res.on("close")` for requests that are aborted.',
  go: 'Write `defer conn.Release()` directly after acquiring it.',
  python: 'Use context managers, and never return between acquire and release.',
  dotnet: 'Use `await using`.',
};

const answerFirst = {
  rule: 'Store the notification, answer 200, and do the work afterwards in a queue or a background task.',
  express: 'Send the answer before the handler runs, and catch exceptions of the handler.',
  django: 'Pass the work to a task queue, and return at once.',
  rails: 'Use `perform_later`.',
  laravel: 'Dispatch a queued job; `dispatchSync` runs it before the answer.',
};

const clientGone = {
  rule: 'Expect that a request can end before its body is complete, and drop it without an answer.',
  express: 'Handle the events `aborted` and `error` of the request, and continue only after `end`.',
};

/**
 * Replaces `accept`: calls `broken` if a request ends before its body is complete, with the number of bytes received.
 */
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
      return parts.correct.accept(req, res, next);
    };
  };
}

const silent: Stage = () => {};

export const deliveryLoadFaults: readonly StageFault[] = [
  // Intermittent failures, and failures under load.
  {
    ...LOAD,
    name: 'not-verified-under-load',
    area: 'signature',
    title: 'Does not verify deliveries while more than ten bodies are being read',
    seen: 'Load shedding that leaves "expensive" steps out, added for a burst that should not lose deliveries.',
    why: 'An attacker opens a few slow connections, and then sends forgeries.',
    fix: {
      rule: 'Verify every delivery: an HMAC takes microseconds. Under load, answer 503 or let requests wait.',
      express: 'Remove the condition around the verification, and limit the work that follows the answer.',
    },
    severity: 'critical',
    forbidden: true,
    replace: ({ correct, config }) => {
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
  },
  {
    ...LOAD,
    stage: 'store',
    name: 'every-7th-answers-500',
    title: 'Answers 500 to one in seven valid deliveries',
    seen: 'One faulty instance of seven behind a load balancer.',
    why: 'A single test nearly always passes, and in production one order in seven needs a retry.',
    fix: checkPools,
    severity: 'high',
    forbidden: true,
    comesAndGoes: true,
    replace: everyNth(7, () => throwTypeError('connection terminated unexpectedly')),
  },
  {
    ...LOAD,
    stage: 'store',
    name: 'every-50th-answers-500',
    equivalentTo: {
      name: 'first-delivery-fails',
      reason: 'Both certainly fail a plain valid delivery once; which one is random.',
    },
    title: 'Answers 500 to one in fifty valid deliveries',
    seen: 'Pooled connections that the database closed while they were idle.',
    why: 'One order in fifty is rejected, which is hard to reproduce.',
    fix: { ...checkPools, rule: 'Let the pool test connections before use, and retry once.' },
    severity: 'medium',
    forbidden: false,
    comesAndGoes: true,
    replace: everyNth(50, () => throwTypeError('connection terminated unexpectedly')),
  },
  {
    ...LOAD,
    stage: 'store',
    name: 'every-20th-is-reset',
    title: 'Closes the connection without an answer on one in twenty valid deliveries',
    seen:
      'Workers that are recycled after a number of requests while processing one, and different keep-alive timeouts ' +
      'of proxy and server.',
    why: 'The sender cannot know whether the notification was stored and has to repeat it.',
    fix: {
      rule:
        'Stop workers between requests, with a graceful shutdown; let the proxy close idle connections before the ' +
        'server does.',
      express:
        'Close the server on SIGTERM and complete the requests in progress; set `keepAliveTimeout` above the one of ' +
        'the proxy.',
    },
    severity: 'medium',
    forbidden: true,
    comesAndGoes: true,
    replace: everyNth(20, (req) => void req.socket.destroy()),
  },
  {
    ...LOAD,
    name: 'one-request-at-a-time',
    title: 'Answers 503 to a second simultaneous request',
    seen: 'A single worker without a queue, behind a proxy that does not wait.',
    why: 'Notifications come in bursts, and most of a burst is rejected.',
    fix: raiseLimits,
    severity: 'medium',
    forbidden: false,
    comesAndGoes: true,
    replace: ({ correct }) => {
      let inFlight = 0;
      return async (req, res, next) => {
        inFlight += 1;
        res.once('close', () => {
          inFlight -= 1;
        });
        if (inFlight > 1) return refuse(res, 503, 'busy');
        // Simulates work: without it, no two requests would be in progress at the same time.
        await delay(2);
        return correct.accept(req, res, next);
      };
    },
  },
  {
    ...LOAD,
    name: 'burst-answered-503',
    title: 'Answers 503 to more than fifteen simultaneous deliveries',
    seen: 'Overload protection (under-pressure, load shedding of a proxy) with limits that are too low.',
    why: 'Notifications come in bursts, and each rejected one arrives later and out of order.',
    fix: raiseLimits,
    severity: 'low',
    forbidden: false,
    replace: allowFifteen((_req, res) => refuse(res, 503, 'busy')),
  },
  {
    ...LOAD,
    name: 'burst-reset',
    title: 'Closes connections without an answer on more than fifteen simultaneous deliveries',
    seen: 'Connection limits (limit_conn, a small backlog) that were chosen for people, not for machines.',
    why: 'A part of each burst is lost without a trace in the application log.',
    fix: raiseLimits,
    severity: 'high',
    forbidden: false,
    replace: allowFifteen((req) => void req.socket.destroy()),
  },
  {
    ...LOAD,
    name: 'burst-empties-the-pool',
    title: 'Answers 500 to more than fifteen simultaneous deliveries, because the database pool is exhausted',
    seen: 'Connection pools with a short or no waiting time; default sizes are 5 to 20.',
    why: 'Most notifications come in bursts, and those that exceed the pool are rejected.',
    fix: { ...raiseLimits, rule: 'Let requests wait for a connection, and hold one only while you store.' },
    severity: 'high',
    forbidden: true,
    replace: allowFifteen(() => throwTypeError('timeout exceeded when trying to connect')),
  },
  {
    ...LOAD,
    stage: 'requireSignature',
    name: 'verdicts-in-shared-objects',
    title:
      'Keeps the verification result in an object that requests share, so a forged delivery under load gets the ' +
      'result of a valid one',
    seen: 'Module variables, singletons with per-request state, and object pools that reuse objects too early.',
    why:
      'A forged delivery that arrives at the same time as valid ones is accepted; one at a time, everything looks ' +
      'correct.',
    fix: {
      rule: 'Pass the body and the verification result as values of their request.',
      express: 'Keep them in `res.locals`, never in module variables.',
      spring: 'Keep no per-request state in the fields of a bean.',
      python: 'Keep it in a local variable instead of a global one.',
      fastapi: 'Keep it in `request.state` instead of a global variable.',
      flask: 'Keep it in `g` instead of a global variable.',
    },
    severity: 'critical',
    forbidden: true,
    needs: ['hmac'],
    replace: (parts) => {
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
  },
  // Faults that show over time, at the start, or when a client disconnects.
  {
    ...LOAD,
    name: 'first-delivery-fails',
    title: 'Fails on single valid deliveries, such as the first after the start',
    seen: 'Connections and caches that the first request sets up, and cold starts of functions.',
    why: 'Each failure costs a notification. If it is the first delivery, every deployment and every restart does.',
    fix: {
      rule: 'Connect and load everything that you need before you listen.',
      express: 'Await the connection to the database, then call `listen`.',
    },
    severity: 'low',
    forbidden: false,
    replace: ({ correct }) => {
      let isWarm = false;
      return (req, res, next) => {
        if (isWarm) return correct.accept(req, res, next);
        isWarm = true;
        throwTypeError('the pool is not connected yet');
      };
    },
  },
  {
    ...LOAD,
    stage: 'store',
    name: 'fails-after-200-deliveries',
    title: 'Accepts no valid delivery any more after a number of deliveries',
    seen: 'Unbounded caches, file handles that are never closed, and buffers or hash objects that requests share.',
    why: 'It passes every short test, fails in production sooner or later, and stays so until a restart.',
    fix: {
      ...releaseOnEveryPath,
      rule: 'Limit what you keep in memory, close what you open, and share nothing between requests.',
    },
    severity: 'high',
    forbidden: true,
    comesAndGoes: true,
    replace: ({ correct }) => {
      let stored = 0;
      return (req, res, next) => {
        stored += 1;
        return stored > 200 ? throwTypeError('too many open files') : correct.store(req, res, next);
      };
    },
  },
  {
    ...LOAD,
    stage: 'requireSignature',
    name: 'refusals-keep-their-connection',
    title: 'Answers nothing from some delivery on, because requests keep a resource such as a connection or a worker',
    seen: 'Early returns between acquiring a pooled connection and releasing it.',
    why: 'Anyone can stop the receiver with fifty requests, without a secret.',
    fix: releaseOnEveryPath,
    severity: 'critical',
    forbidden: true,
    comesAndGoes: true,
    needs: ['hmac'],
    replace: (parts) => {
      let kept = 0;
      return stageOf(({ header = '', expected }, req, res, next) => {
        if (kept >= 50) return silent(req, res, next);
        if (!expected.includes(header)) kept += 1;
        return parts.correct.requireSignature(req, res, next);
      }, parts);
    },
  },
  {
    ...LOAD,
    name: 'handles-before-it-answers',
    equivalentTo: {
      name: 'accepted-never-answered',
      reason: 'Neither answers the first delivery in time, so nothing else is judged.',
    },
    title: 'Does the work before the answer, which comes after the sender has timed out',
    seen: 'Handlers that call other services, send mail or wait for a blockchain before they return.',
    why: 'The sender counts every delivery as failed, although the work was done, and repeats it.',
    fix: answerFirst,
    severity: 'high',
    forbidden: true,
    stage: 'reply',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        setTimeout(() => void correct.reply(req, res, next), TOO_LATE_MS).unref();
      },
  },
  {
    ...LOAD,
    name: 'handles-staged-cards-before-it-answers',
    title: 'Answers a payment method with status STAGED only after the sender has timed out',
    seen: 'Handlers that are usually fast, but contact the customer or the card network for one status.',
    why: 'That one status fails every time, while the endpoint looks healthy.',
    fix: answerFirst,
    severity: 'medium',
    forbidden: true,
    stage: 'reply',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        if (fieldAt(required(res, 'payload'), 'data.status') !== 'STAGED') return correct.reply(req, res, next);
        setTimeout(() => void correct.reply(req, res, next), TOO_LATE_MS).unref();
      },
  },
  {
    ...LOAD,
    stage: 'requireSignature',
    name: 'answers-200-then-verifies',
    equivalentTo: {
      name: 'refuses-with-200',
      reason: 'Both answer 200 when they reject; what happens to the delivery afterwards is not visible.',
    },
    title: 'Sends 200 before checking the signature and closes the connection if it is invalid',
    seen: 'Handlers that flush the answer first to be fast, and reject afterwards.',
    why: 'An attacker learns that a forgery was accepted, and so does a sender with a wrong secret.',
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
    title: 'Ends the process when a connection closes before the body is complete',
    seen: 'Streams without an error listener: Node throws unhandled error events.',
    why: 'Connections break every day, and anyone can break one on purpose.',
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
      'Ends the process when a connection closes in the middle of the body, because it parses the partial body ' +
      'unguarded',
    seen: 'Handlers that continue at the end of the connection instead of the end of the body.',
    why: 'Connections break every day, and anyone can break one on purpose.',
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
    title: 'Keeps the worker of an aborted request forever, until none is left',
    seen: 'Blocking reads without a timeout in servers with a fixed number of workers.',
    why: 'Bad networks stop the receiver slowly, and a few deliberate requests do it at once.',
    fix: {
      ...releaseOnEveryPath,
      rule: 'Set a timeout for reading a request, and free the worker when its client is gone.',
    },
    severity: 'critical',
    forbidden: true,
    equivalentTo: {
      name: 'refusals-keep-their-connection',
      reason: 'Both stop answering in the middle of a run; which check is the first without an answer is chance.',
    },
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
    stage: 'readBody',
    name: 'bodies-read-one-at-a-time',
    area: 'http',
    title: 'Reads one body at a time, so an unfinished request blocks all others',
    seen: 'Servers with one thread or one worker and no proxy that buffers, and locks that are held during a read.',
    why: 'Anyone who sends half of a request, again and again, stops all notifications without knowing a secret.',
    fix: {
      rule:
        'Use a server that handles connections concurrently, hold no lock while you read a body, and set a time ' +
        'limit for requests.',
      express: 'Read bodies outside of locks and queues; only the work after the verification may be serial.',
      python: 'Use `ThreadingHTTPServer`, not `HTTPServer`.',
      flask: 'Do not use the development server with `threaded=False` or a single sync worker without nginx.',
      django: 'Do not use a single sync worker without nginx.',
      go: 'Call `io.ReadAll` before `mu.Lock()`, and set `ReadTimeout`.',
    },
    severity: 'high',
    forbidden: false,
    needs: ['hmac'],
    replace: ({ correct }) => {
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
  },
  {
    ...LOAD,
    stage: 'requireSignature',
    name: 'joined-copies-share-a-verdict',
    title: 'Gives a delivery the verification result of another one in progress with the same id',
    seen: 'Layers that join identical requests in flight (single-flight, promise caches) and use the id as their key.',
    why: 'A forgery that arrives together with the real notification is accepted, or makes the real one fail.',
    fix: {
      rule: 'Join duplicates only after each of them is verified.',
      express: 'Use body and signature together as the key of the promise cache, or leave verification out of it.',
      go: 'Do not put the verification into `singleflight.Do` with the id as its key.',
    },
    severity: 'critical',
    forbidden: true,
    needs: ['hmac'],
    replace: (parts) => {
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
  },
  {
    ...LOAD,
    stage: 'store',
    name: 'queue-is-never-drained',
    title: 'Answers 503 to every delivery after a number of them',
    seen: 'Bounded in-memory queues whose consumer has stopped, and pools whose resources are never released.',
    why: 'Everything works after a deployment, and a few minutes later nothing is accepted until a restart.',
    fix: raiseLimits,
    severity: 'high',
    forbidden: true,
    replace: afterStored(40, 503),
  },
  {
    ...LOAD,
    stage: 'store',
    name: 'quota-is-never-reset',
    title: 'Answers 429 to everything after a number of deliveries',
    seen: 'Rate limit counters without an expiry, such as INCR without EXPIRE in Redis, and lock-outs of all senders.',
    why: 'It looks like a rate limit, but a short wait does not help: nothing is accepted until the counter is reset.',
    fix: raiseLimits,
    severity: 'high',
    forbidden: true,
    replace: afterStored(100, 429),
  },
];
