import { timingSafeEqual } from 'node:crypto';
import type { StageFault } from './fault.ts';
import { accepting, alsoAccepting, SIGNATURE } from './lenient-verifier.ts';

/** Checks that check nothing, or only what a signature looks like. */
export const uncheckedSignatures: readonly StageFault[] = [
  {
    ...SIGNATURE,
    name: 'signature-not-checked',
    title: 'The signature is not checked at all.',
    seen: 'Placeholder handlers, routes that were added beside the one with the check, and released products with an advisory of their own for it.',
    why: 'Whoever knows the URL can make you believe that money arrived, or that it left.',
    fix: {
      rule: 'Compute HMAC-SHA256 over the raw body, compare it with the header in constant time, and answer 401 when it differs or is missing.',
      express: 'Put the check in a middleware on this very route, before the handler.',
    },
    severity: 'critical',
    forbidden: true,
    replace: accepting(() => true),
  },
  {
    ...SIGNATURE,
    name: 'check-not-awaited',
    title: 'The check is asynchronous and is not awaited, so that its promise counts as true.',
    seen: 'JavaScript with WebCrypto, whose `verify` gives a promise: `if (!verify(...))` never holds.',
    why: 'The code looks as if it verified, passes review, and accepts every forgery.',
    fix: {
      rule: 'Wait for the result of the check and test that it is exactly true.',
      express:
        'Write `if ((await verify(req)) !== true) return res.sendStatus(401)`, and turn on the lint rule against unawaited promises in conditions.',
    },
    severity: 'critical',
    forbidden: true,
    equivalentTo: {
      name: 'signature-not-checked',
      reason: 'A promise is true whatever it will resolve to, so nothing is ever refused.',
    },
    replace: accepting((delivery) => {
      const verify = async () => delivery.right.includes(delivery.header ?? '');
      return Boolean(verify());
    }),
  },
  {
    ...SIGNATURE,
    name: 'monitor-mode',
    title: 'Wrong signatures are written to the log, and the delivery goes on.',
    seen: 'Roll-outs that began with a dry run which nobody ended, and sample handlers that only print a warning.',
    why: 'The log tells afterwards who forged what. Until somebody reads it, everything is accepted.',
    fix: {
      rule: 'Turn enforcement on; a failed check ends the request with 401.',
      express: 'Return after `res.sendStatus(401)` in the branch that now only logs.',
    },
    severity: 'critical',
    forbidden: true,
    equivalentTo: {
      name: 'signature-not-checked',
      reason: 'The log cannot be seen from outside, and the answers are the same.',
    },
    replace:
      ({ config, right }) =>
      (req, res, next) => {
        if (config.signing === undefined) return right.verifySignature(req, res, next);
        config.logger.warn({ event: 'signature-not-enforced' }, 'the signature is not enforced');
        next();
      },
  },
  {
    ...SIGNATURE,
    name: 'signature-presence-is-enough',
    title: 'Any signature is accepted as long as the header is not empty.',
    seen: 'Gateway rules of the form "header present", with a receiver behind them that trusts the gateway.',
    why: 'A forger writes anything into the header. A test with a missing header passes and lulls you.',
    fix: {
      rule: 'Compare the header with the HMAC of the body; presence proves nothing.',
      express: 'Replace `if (!req.get("X-Service-Signature"))` by the whole check.',
    },
    severity: 'critical',
    forbidden: true,
    replace: accepting(({ header = '' }) => header !== ''),
  },
  {
    ...SIGNATURE,
    name: 'signature-length-is-enough',
    title: 'Any signature of 44 characters is accepted.',
    seen: 'A slip in a hand-written comparison, `a.length === b.length` where the contents were meant.',
    why: 'The length is no secret: every forger gets it right.',
    fix: {
      rule: 'The equal length is what a comparison starts from, not what it ends with.',
      express: 'Use `a.length === b.length && timingSafeEqual(a, b)`.',
    },
    severity: 'critical',
    forbidden: true,
    replace: accepting(({ header = '' }) => header.length === 44),
  },
  {
    ...SIGNATURE,
    name: 'signature-form-is-enough',
    title: 'Any 32 bytes in Base64 are accepted as a signature.',
    seen: 'Schema validation of headers (a pattern for Base64) that was taken for the check itself.',
    why: 'It refuses everything that looks odd, so that a quick test with garbage passes, and accepts every forgery that looks right.',
    fix: {
      rule: 'Keep the pattern if you like, and compare with the HMAC of the body after it.',
      express: 'Call the verification after the validation middleware, not in place of it.',
    },
    severity: 'critical',
    forbidden: true,
    replace: accepting(({ header = '' }) => /^[A-Za-z0-9+/]{43}=$/.test(header)),
  },
  {
    ...SIGNATURE,
    name: 'error-in-check-accepts',
    title: 'When the check throws, the exception is swallowed and the delivery is accepted.',
    seen: 'A try/catch around the verification whose catch only logs, with a comparison inside that throws on unequal lengths.',
    why: 'A forger does not need the right signature, only one that makes the comparison fail: any of another length.',
    fix: {
      rule: 'Every way out of the check other than "equal" is a refusal, exceptions included.',
      express: 'Answer 401 in the `catch`, and return.',
      spring: 'Do not catch `GeneralSecurityException` around the call of `MessageDigest.isEqual` without refusing.',
    },
    severity: 'critical',
    forbidden: true,
    replace: accepting(({ header, right }) => {
      try {
        return right.some((one) => timingSafeEqual(Buffer.from(header as string), Buffer.from(one)));
      } catch {
        return true;
      }
    }),
  },
  {
    ...SIGNATURE,
    name: 'forged-tenth-let-through',
    title: 'After nine wrong signatures in a row on a connection, the tenth is let through.',
    seen: 'Circuit breakers around a verification service that fail open, and receivers that verify a sample of the deliveries only.',
    why: 'A forger just keeps trying. Tests that send a handful of wrong signatures see nothing.',
    fix: {
      rule: 'Verify every delivery, and refuse when the verification is not available.',
      express: 'Take the sampling or the breaker away from the check: an HMAC costs microseconds.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      // By connection, so that what is sent on others at the same time does not decide what is seen.
      const wrong = new WeakMap<object, number>();
      return alsoAccepting(({ req, header = '', right }) => {
        const count = right.includes(header) ? 0 : (wrong.get(req.socket) ?? 0) + 1;
        wrong.set(req.socket, count % 10);
        return count === 10;
      })(parts);
    },
  },
];
