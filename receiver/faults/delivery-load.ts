import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { refuse, refuseUnauthorized, type Stage } from '../stages/stage.ts';
import { fault } from './careless-reading.ts';
import type { StageFault } from './fault.ts';
import { judging } from './lenient-verifier.ts';

const base = { area: 'delivery', stage: 'accept' } as const;

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

/** Failures that come and go, or come with the load. */
export const loadFaults: readonly StageFault[] = [
  {
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
];
