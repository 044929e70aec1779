import { setTimeout as delay } from 'node:timers/promises';
import { refuse, refuseUnauthorized, type Stage } from '../stages/stage.ts';
import { fault } from './careless-reading.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'delivery', stage: 'accept' } as const;

const lookAtPools = {
  rule: 'Give every instance the same configuration, give back what you take from a pool on every path, and look at what happens at the times of the failures.',
  express: 'Release connections in a `finally`, and compare the instances behind the load balancer.',
};

const raiseLimits = {
  rule: 'Take all deliveries that come and do the work behind a queue; limit the work and not the requests.',
  express: 'Store and answer at once; limit the concurrency of the handlers.',
};

/** In place of `accept`: with more than `most` requests in flight, `turnAway` ends the one that is too many. */
function allowing(most: number, turnAway: (...stage: Parameters<Stage>) => void): StageFault['replace'] {
  return ({ right }) => {
    let inFlight = 0;
    return async (req, res, next) => {
      inFlight += 1;
      res.once('close', () => {
        inFlight -= 1;
      });
      if (inFlight > most) return turnAway(req, res, next);
      // As long as the work takes: without it, no two requests would ever be in flight at the same time.
      if (inFlight > 1) await delay(10);
      return right.accept(req, res, next);
    };
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
    title: 'One in fifty right deliveries is answered 500.',
    seen: 'Connections that the database closed while they lay in the pool.',
    why: 'One order in fifty is refused, and nobody can reproduce it.',
    fix: { ...lookAtPools, rule: 'Let the pool check a connection before it hands it out, and try once more.' },
    severity: 'medium',
    forbidden: true,
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
    name: 'refuses-parallel-requests-429',
    title: 'A second request at the same time is answered 429.',
    seen: 'Rate limiters for logins that stand in front of every route.',
    why: 'Notifications come in bursts, and most of a burst is refused.',
    fix: raiseLimits,
    severity: 'medium',
    forbidden: false,
    comesAndGoes: true,
    replace: allowing(1, (_req, res) => refuse(res, 429, 'too-many-requests')),
  },
  {
    ...base,
    name: 'refuses-parallel-requests-503',
    title: 'A second request at the same time is answered 503.',
    seen: 'A single worker without a queue behind a proxy that does not wait.',
    why: 'Notifications come in bursts, and most of a burst is refused.',
    fix: raiseLimits,
    severity: 'medium',
    forbidden: false,
    comesAndGoes: true,
    replace: allowing(1, (_req, res) => refuse(res, 503, 'busy')),
  },
  {
    ...base,
    name: 'resets-parallel-requests',
    title: 'A request beyond fifteen at the same time finds its connection closed.',
    seen: 'Limits on connections (limit_conn, a small backlog) that were set for people and not for machines.',
    why: 'Notifications come in bursts, and a part of each is lost without a trace in the log of the application.',
    fix: raiseLimits,
    severity: 'high',
    forbidden: true,
    replace: allowing(15, (req) => void req.socket.destroy()),
  },
  {
    ...base,
    name: 'pool-of-fifteen-runs-out',
    title: 'A delivery beyond fifteen at the same time is answered 500, because no connection to the database is left.',
    seen: 'Pools whose time limit for waiting is zero or too short; the default sizes are 5 to 20.',
    why: 'A burst is when most notifications come, and what does not fit into the pool is refused.',
    fix: { ...raiseLimits, rule: 'Let requests wait for a connection, and hold one only while you store.' },
    severity: 'high',
    forbidden: true,
    replace: allowing(15, () => fault('timeout exceeded when trying to connect')),
  },
  {
    ...base,
    stage: 'verifySignature',
    name: 'verdicts-in-shared-objects',
    title:
      'The outcome of the check is kept in objects that requests share, so under load a delivery gets the verdict of another one.',
    seen: 'Module-level variables, singletons with the state of a request, and request objects that are used again before they are free.',
    why: 'A forged delivery that arrives beside a right one is accepted, and the right one may be refused.',
    fix: {
      rule: 'Pass the body and the outcome of the check along as values of their request.',
      express: 'Keep them in `res.locals`, and nowhere at the level of the module.',
      spring: 'Keep no state of a request in the fields of a bean.',
      flask: 'Keep it in `g`, and not in a global.',
    },
    severity: 'critical',
    forbidden: true,
    needs: ['hmac'],
    replace: ({ right }) => {
      const pool: { isRight: boolean }[] = Array.from({ length: 15 }, () => ({ isRight: false }));
      let turn = 0;
      return async (req, res, next) => {
        const slot = turn++ % pool.length;
        const check = pool[slot] ?? { isRight: false };
        const { locals } = res;
        // The right stage says by next() that the signature is right; what else it does goes to a response that nobody sees.
        check.isRight = false;
        const isRight = await new Promise<boolean>((resolve) => {
          const unseen = Object.create(res, {
            locals: { value: locals },
            writeHead: { value: () => unseen },
            end: { value: () => resolve(false) },
          });
          void right.verifySignature(req, unseen, () => resolve(true));
        });
        check.isRight = isRight;
        await delay(10);
        if (check.isRight) return next();
        refuseUnauthorized(res, 'signature-mismatch');
      };
    },
  },
];
