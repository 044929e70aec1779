import { timingSafeEqual } from 'node:crypto';
import { requestHeader } from '../stages/request-header.ts';
import type { StageFault } from './fault.ts';
import { dying, failing, SIGNATURE } from './lenient-verifier.ts';

const NOT_ASCII = /[^\x00-\x7f]/;

/** Signatures that no right sender makes, and at which the check throws. */
export const signatureCrashes: readonly StageFault[] = [
  {
    ...SIGNATURE,
    name: 'other-length-answers-500',
    title: 'A signature of another length is answered 500, because the constant-time comparison throws.',
    seen: 'timingSafeEqual of Node, called without a look at the lengths; one of the most reported faults of webhook receivers.',
    why: 'The sender takes a refusal for a breakdown and tries again, and a stranger fills your error log.',
    fix: {
      rule: 'Compare the lengths before the constant-time comparison, and answer 401 when they differ.',
      express: 'Write `if (a.length !== b.length || !timingSafeEqual(a, b)) return res.sendStatus(401)`.',
      rails:
        'Use `ActiveSupport::SecurityUtils.secure_compare`, which takes any length; `fixed_length_secure_compare` raises.',
      dotnet: '`CryptographicOperations.FixedTimeEquals` gives false for other lengths and needs no guard.',
    },
    severity: 'medium',
    forbidden: true,
    replace: failing(({ header, right }) => {
      if (header !== undefined) for (const one of right) timingSafeEqual(Buffer.from(header), Buffer.from(one));
      return false;
    }),
  },
  {
    ...SIGNATURE,
    name: 'other-length-kills',
    title: 'A signature of another length ends the process.',
    seen: 'The same comparison in a callback or a promise that nobody awaits, where no framework catches what it throws.',
    why: 'One request that anybody can send switches the receiver off, and every delivery until the restart is lost.',
    fix: {
      rule: 'Compare the lengths before the constant-time comparison, and catch what is thrown outside of the framework.',
      express:
        'Write `if (a.length !== b.length || !timingSafeEqual(a, b)) return res.sendStatus(401)`, and verify inside the handler.',
    },
    severity: 'critical',
    forbidden: true,
    replace: dying(({ header, right }) => header !== undefined && Buffer.byteLength(header) !== right[0]?.length),
  },
  {
    ...SIGNATURE,
    name: 'other-byte-length-answers-500',
    title: 'A signature with the right number of characters and more bytes is answered 500.',
    seen: 'The guard for the lengths looks at the texts, and the comparison at their UTF-8 bytes; found in a review of a published receiver.',
    why: 'The guard was written against exactly this crash, and characters outside ASCII go round it.',
    fix: {
      rule: 'Check the lengths of the byte buffers that you compare, not of the texts.',
      express: 'Make the two buffers first, then compare `a.length` with `b.length`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: failing(({ header, right }) =>
      right.some((one) => header?.length === one.length && Buffer.byteLength(header) !== one.length),
    ),
  },
  {
    ...SIGNATURE,
    name: 'non-ascii-answers-500',
    title: 'A signature with a character outside ASCII is answered 500.',
    seen: 'Python: hmac.compare_digest raises TypeError for texts that are not ASCII; found in several published receivers.',
    why: 'Anybody can make the receiver fail with one byte, and each failure stands in the log with a trace.',
    fix: {
      rule: 'Turn both sides into bytes before they are compared.',
      express: 'Refuse a header that does not match `/^[A-Za-z0-9+/]{43}=$/` before anything decodes it.',
      django: 'Call `hmac.compare_digest(received.encode("utf-8", "replace"), expected.encode())`.',
      flask: 'Call `hmac.compare_digest(received.encode("utf-8", "replace"), expected.encode())`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: failing(({ header = '' }) => NOT_ASCII.test(header)),
  },
  {
    ...SIGNATURE,
    name: 'not-base64-answers-500',
    title: 'A signature that is no Base64 is answered 500, because the decoder throws.',
    seen: 'Strict decoders (Base64.getDecoder in Java, Convert.FromBase64String in .NET, atob in JavaScript) outside of any guard.',
    why: 'The sender takes a refusal for a breakdown and tries again, and a stranger fills your error log.',
    fix: {
      rule: 'Compare texts and decode nothing, or treat an error of the decoder as a wrong signature.',
      express: 'Compare `Buffer.from(header)` with `Buffer.from(expectedBase64)`.',
      spring: 'Catch IllegalArgumentException around `Base64.getDecoder().decode` and answer 401.',
      dotnet: 'Use `Convert.TryFromBase64String`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: failing(({ header }) => {
      if (header !== undefined) atob(header);
      return false;
    }),
  },
  {
    ...SIGNATURE,
    name: 'repeated-signature-answers-500',
    title: 'Two signature headers in one request are answered 500.',
    seen: 'Code that gets a list of values where it expects a text: API gateways with multi-value headers, Fastify and Koa with raw headers.',
    why: 'Proxies can double a header. The sender then sees a breakdown that no new try will mend.',
    fix: {
      rule: 'Make sure that the header is a single text before you use it as one, and answer 401 when it is not.',
      express: 'Check `typeof header === "string"`; read `req.headersDistinct` if you want to see repetitions.',
    },
    severity: 'low',
    forbidden: false,
    replace: failing(({ req }) => Array.isArray(requestHeader(req, 'x-service-signature'))),
  },
];
