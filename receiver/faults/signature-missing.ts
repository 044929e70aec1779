import type { StageFault } from './fault.ts';
import { alsoAccepting, dying, failing, SIGNATURE } from './lenient-verifier.ts';

/** What becomes of a delivery whose signature is missing or empty. */
export const missingSignatureFaults: readonly StageFault[] = [
  {
    ...SIGNATURE,
    name: 'missing-signature-accepted',
    title: 'A delivery without the signature header is accepted.',
    seen: 'Handlers in which the check stands behind "if the header is there", often so that unsigned test requests went through; found in published integrations.',
    why: 'Whoever finds the URL can report a completed sale: leaving one header out is all it takes.',
    fix: {
      rule: 'Treat a missing signature like a wrong one and answer 401.',
      express:
        'Begin with `if (req.get("X-Service-Signature") === undefined) return res.sendStatus(401)`, and put the check in no branch.',
    },
    severity: 'critical',
    forbidden: true,
    replace: alsoAccepting(({ header }) => header === undefined),
  },
  {
    ...SIGNATURE,
    name: 'falsy-signature-accepted',
    title: 'A delivery whose signature is missing or empty is accepted.',
    seen: 'JavaScript and PHP code with `if (signature && !valid)`, and verifiers that return true when the secret or the header is falsy.',
    why: 'Nobody needs the secret: an empty header passes just like none, also behind a gateway that insists on the header.',
    fix: {
      rule: 'Let the outcome of the check alone decide. A value that is absent or empty is a wrong one.',
      express: 'Write `if (!signature || !isValid(signature, req.body)) return res.sendStatus(401)`.',
      laravel: 'Write `if (! $signature || ! hash_equals($expected, $signature)) abort(401);`.',
    },
    severity: 'critical',
    forbidden: true,
    replace: alsoAccepting(({ header }) => header === undefined || header === ''),
  },
  {
    ...SIGNATURE,
    name: 'empty-signature-accepted',
    title: 'An empty signature header is accepted, while a missing one is refused.',
    seen: 'Code that checks whether the header is there and then compares as many bytes as came, which are none.',
    why: 'Anybody can send an empty header. A test that only leaves the header out does not notice.',
    fix: {
      rule: 'Require the full length before you compare.',
      express: 'Compare lengths first, then call `timingSafeEqual`; an empty value has the wrong length.',
    },
    severity: 'critical',
    forbidden: true,
    replace: alsoAccepting(({ header }) => header === ''),
  },
  {
    ...SIGNATURE,
    name: 'missing-signature-answers-500',
    title: 'A delivery without the signature header is answered 500, because its absence was not thought of.',
    seen: 'Reading `signature.length` of undefined in JavaScript, of nil in Ruby, or a header by index in Python, where the error page of the framework answers.',
    why: 'A stranger fills your error log, and the sender takes a refusal for a breakdown and tries again.',
    fix: {
      rule: 'Look whether the header is there before you use it, and answer 401 when it is not.',
      express: 'Check `typeof signature !== "string"` before the comparison.',
      flask: 'Use `request.headers.get("X-Service-Signature")`, not the index, which raises.',
      rails: 'Use `request.headers["X-Service-Signature"].to_s` and require 44 characters.',
      go: '`r.Header.Get` gives an empty string; do not index the slice in `r.Header`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: failing(({ header }) => header === undefined),
  },
  {
    ...SIGNATURE,
    name: 'missing-signature-kills',
    title: 'A delivery without the signature header ends the process.',
    seen: 'An exception in an event callback or in an async function that nobody awaits; at least one published webhook library exits in this way.',
    why: 'One request that anybody can send switches the receiver off, and every delivery until the restart is lost.',
    fix: {
      rule: 'Look whether the header is there before you use it, and catch everything that runs outside of the framework.',
      express:
        'Verify inside the handler and not in a `data` or `end` callback; Express 5 turns a rejected handler into a 500, Express 4 does not.',
    },
    severity: 'critical',
    forbidden: true,
    replace: dying(({ header }) => header === undefined),
  },
];
