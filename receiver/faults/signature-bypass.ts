import type { Request } from 'express';
import type { StageFault } from './fault.ts';
import { lettingPass } from './lenient-verifier.ts';

/** A mutant that lets requests pass unverified by something that every client can write. */
function trusting(claims: (req: Request) => boolean, text: Parameters<typeof lettingPass>[1]): StageFault {
  return lettingPass(({ req }) => claims(req), text);
}

const LOOPBACK = /\b127\.0\.0\.1\b|::1/;
const query = (req: Request) => new URL(req.url, 'http://receiver').searchParams;

/** Ways around the check for whoever claims to need none. */
export const bypassFaults: readonly StageFault[] = [
  trusting((req) => LOOPBACK.test(req.get('X-Forwarded-For') ?? ''), {
    name: 'trusts-forwarded-for',
    title: 'Requests that claim in X-Forwarded-For to come from the own machine are not verified.',
    seen: 'Exceptions for local health checks in frameworks that are told to trust every proxy.',
    why: 'Every client can write this header.',
    fix: {
      rule: 'Verify local requests too, and derive no trust from an address that the request names.',
      express:
        'Remove the exception for `req.ip`, and set "trust proxy" to the addresses of your proxies, not to true.',
      laravel: 'Do not trust "*" in TrustProxies, and keep addresses out of the decision.',
    },
  }),
  trusting((req) => LOOPBACK.test(req.get('X-Real-IP') ?? '') || LOOPBACK.test(req.get('Forwarded') ?? ''), {
    name: 'trusts-real-ip',
    title: 'Requests that claim in X-Real-IP or Forwarded to come from the own machine are not verified.',
    seen: 'Libraries that find "the real address" in a list of headers, with an exception for local addresses behind them.',
    why: 'Every client can write these headers, unless a proxy in front overwrites each of them.',
    fix: {
      rule: 'Verify local requests too, and derive no trust from an address that the request names.',
      express: 'Remove the exception, and the library that reads these headers.',
    },
  }),
  trusting((req) => req.get('X-Debug') !== undefined || query(req).has('debug'), {
    name: 'debug-switch',
    title: 'With the header X-Debug or ?debug in the query, nothing is verified.',
    seen: 'Switches for debugging that nobody took out; found in released agents and commerce samples.',
    why: 'It is a back door with a well-known name.',
    fix: {
      rule: 'Remove the switch; sign the requests that you send while debugging.',
      express: 'Delete the branch on `req.query.debug` and `X-Debug`.',
    },
  }),
  trusting((req) => query(req).has('skip') || query(req).has('test'), {
    name: 'query-switch',
    title: 'With ?skip or ?test in the query, nothing is verified.',
    seen: 'Options that turn the verification off for tests by hand.',
    why: 'Anyone who reads an old log line or the documentation of the library finds the parameter.',
    fix: {
      rule: 'Delete the option, or tie it to a build that never leaves your machine.',
      express: 'Delete the branch on `req.query`.',
    },
  }),
  trusting((req) => ['test', 'development', 'local'].includes(req.get('X-Environment') ?? ''), {
    name: 'environment-header',
    title: 'The request may name its environment, and in a test environment nothing is verified.',
    seen: 'Receivers that serve test and production from one process and are told by a header which of them is meant.',
    why: 'Production can be told that it is a test.',
    fix: {
      rule: 'Read the environment from your own configuration, and verify in all of them.',
      express: 'Use `process.env`, not `req.get("X-Environment")`, and drop the exception.',
    },
  }),
  trusting((req) => req.get('X-Service-Verified') === 'true', {
    name: 'trusts-verified-header',
    title: 'A header in which the gateway says that it has verified is believed from anybody.',
    seen: 'Setups with the check in a gateway that does not delete the header from what comes in.',
    why: 'Whoever reaches the receiver, or gets the header through the gateway, needs no signature.',
    fix: {
      rule: 'Verify in the receiver itself.',
      express: 'Remove the exception, and mount the verification here as well.',
    },
  }),
  trusting((req) => /^Service-Webhooks\//.test(req.get('User-Agent') ?? ''), {
    name: 'trusts-user-agent',
    title: 'Requests whose User-Agent names the sender are not verified.',
    seen: 'Lists of known clients in middleware against robots.',
    why: 'The name of a program is a claim without any proof.',
    fix: {
      rule: 'Keep the User-Agent for statistics.',
      express: 'Take the list of clients away from the verification.',
    },
  }),
  trusting((req) => /^https?:\/\/localhost\b/.test(req.get('Origin') ?? req.get('Referer') ?? ''), {
    name: 'trusts-origin',
    title: 'Requests with an internal Origin or Referer are not verified.',
    seen: 'Buttons "send a test" in admin pages, whose requests are let through by where they come from.',
    why: 'Only browsers are bound to tell the truth there.',
    fix: {
      rule: 'Let the admin page sign its test deliveries.',
      express: 'Keep the settings of `cors` apart from the verification.',
    },
  }),
  trusting((req) => !['POST', undefined].includes(req.get('X-HTTP-Method-Override')), {
    name: 'method-override',
    title: 'The check runs for POST only, and X-HTTP-Method-Override makes the request something else.',
    seen: 'Frameworks with method overriding in front of a check that is bound to the method.',
    why: 'The handler runs all the same.',
    fix: {
      rule: 'Switch method overriding off, and verify every method.',
      express: 'Remove the method-override middleware from this route.',
    },
  }),
  trusting((req) => req.get('Authorization') !== undefined, {
    name: 'authorization-suffices',
    title:
      'Requests with an Authorization header are not verified, because another check is expected to have looked at it.',
    seen: 'Chains of checks in which each leaves the request to the next one that seems to be in charge.',
    why: 'When no check is in charge after all, any token is accepted.',
    fix: {
      rule: 'Make the signature required on this route, whatever else the request carries.',
      express: 'Remove `if (req.get("Authorization")) return next()`.',
    },
  }),
  trusting((req) => /health|status|ping/.test(req.url), {
    name: 'health-urls-exempt',
    title: 'Requests whose URL contains a word such as "health" are not verified.',
    seen: 'A list of open paths that is searched for in the whole URL, where the query counts as well.',
    why: 'A forger adds `?x=/health` to the URL of the webhook.',
    fix: {
      rule: 'Compare the path as a whole and exactly.',
      express: 'Give the health check a route of its own before the verification; do not test `req.url.includes(...)`.',
    },
  }),
];
