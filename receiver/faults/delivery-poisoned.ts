import { requestHeader } from '../stages/request-header.ts';
import { refuse, refuseUnauthorized, required } from '../stages/stage.ts';
import { verifySignature } from '../verify-signature.ts';
import { fieldAt } from './careless-reading.ts';
import { claiming, idInBody, idInStream, written } from './careless-storing.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'delivery', forbidden: true } as const;

const claimLast = {
  rule: 'Look at the id only after key, signature and payload were found right, and remember it together with the notification.',
  express: 'Move the de-duplication behind the verification and the schema, into the transaction that stores.',
  laravel: 'Put the middleware for idempotency after the one that verifies.',
  rails: 'Verify in a `before_action` that is declared before the one that looks ids up.',
};

const vanishes =
  'Anybody who knows or guesses an id can make the real notification vanish: it is refused as often as it is sent.';

/** Refused deliveries that leave something behind under the id of a right one. */
export const poisonedIds: readonly StageFault[] = [
  {
    ...base,
    name: 'ids-claimed-before-every-check',
    title:
      'An id is claimed before key and signature are checked, and a right delivery that follows on a refused one is answered 409.',
    seen: 'Middleware for idempotency that stands first in the chain, which is where its guides put it.',
    why: vanishes,
    fix: claimLast,
    severity: 'critical',
    stage: 'checkApiKey',
    replace: ({ right }) => claiming(idInStream, right.checkApiKey),
  },
  {
    ...base,
    name: 'ids-claimed-before-the-signature',
    title:
      'An id is claimed after the key was checked and before the signature is, and a right delivery that follows on a forged one is answered 409.',
    seen: 'A gateway that checks the key and drops repetitions, in front of an application that verifies.',
    why: vanishes,
    fix: claimLast,
    severity: 'critical',
    stage: 'verifySignature',
    replace: ({ right }) => claiming(idInBody, right.verifySignature),
  },
  {
    ...base,
    name: 'ids-claimed-before-the-key',
    title:
      'An id is claimed after the signature was verified and before the key is, and a right delivery that follows on one with a wrong key is answered 409.',
    seen: 'Key and signature checked in two places, with the de-duplication in between.',
    why: 'A deployment with a wrong key is mended within minutes, and what was sent meanwhile can never be delivered again.',
    fix: claimLast,
    severity: 'high',
    needs: ['api-key', 'hmac'],
    stage: 'checkApiKey',
    replace: ({ right, config: { signing } }) => {
      const claimed = claiming(idInBody, right.checkApiKey);
      return (req, res, next) => {
        const rawBody = required(res, 'rawBody');
        const header = signing && requestHeader(req, signing.header);
        const isSigned = verifySignature({ rawBody, header, secrets: signing?.secrets ?? [] }).ok;
        return isSigned ? claimed(req, res, next) : right.checkApiKey(req, res, next);
      };
    },
  },
  {
    ...base,
    name: 'ids-claimed-before-the-schema',
    title: 'An id is claimed before the payload is validated, and the corrected notification is answered 409.',
    seen: 'An insert into the inbox at the start of the handler, outside of the transaction that validates and stores.',
    why: 'Once the sender has mended a malformed notification, it is taken for the old one.',
    fix: claimLast,
    severity: 'medium',
    stage: 'validate',
    replace: ({ right }) => claiming((res) => String(fieldAt(required(res, 'payload'), 'id')), right.validate),
  },
  {
    ...base,
    name: 'ids-claimed-while-parsing',
    title: 'An id is claimed as soon as a parser has read it, and stays claimed when the rest of the body is broken.',
    seen: 'Parsers that report fields while they read, and routers that fetch the id from the text with a pattern.',
    why: 'A body that was cut off on its way blocks the whole one that follows.',
    fix: { ...claimLast, rule: 'Parse and validate the whole body before you act on any part of it.' },
    severity: 'medium',
    stage: 'parse',
    replace: ({ right }) => claiming(idInStream, right.parse),
  },
  {
    ...base,
    name: 'refused-content-kept',
    title:
      'Content is kept before it is verified, and what comes later under the id with other content is answered 409.',
    seen: 'Receivers that store first and verify later, and compare a copy with what they hold under its id.',
    why: 'A forged notification is kept, and the real one is refused because it differs from the forgery.',
    fix: { ...claimLast, rule: 'Store nothing of a delivery that is not verified.' },
    severity: 'critical',
    stage: 'verifySignature',
    replace: ({ right }) => {
      const kept = new Map<string, string>();
      return (req, res, next) => {
        const id = idInBody(res);
        const content = id && written(JSON.parse(required(res, 'rawBody').toString('utf8')));
        if (id === undefined || content === undefined) return right.verifySignature(req, res, next);
        const held = kept.get(id) ?? content;
        kept.set(id, held);
        return right.verifySignature(req, res, (error?: unknown) =>
          error === undefined && held !== content ? refuse(res, 409, 'conflict') : next(error),
        );
      };
    },
  },
  {
    ...base,
    name: 'refusals-remembered-by-id',
    title: 'Once a delivery was refused for its signature, every later one with its id is answered 401.',
    seen: 'Caches of the result of the check, with the id as their key.',
    why: vanishes,
    fix: {
      rule: 'Verify each delivery by itself; do not cache the result of the check by id.',
      express: 'Remove the cache: an HMAC over a few kilobytes takes microseconds.',
    },
    severity: 'critical',
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: ({ right }) => {
      const refused = new Set<string>();
      return (req, res, next) => {
        const id = idInBody(res);
        if (id === undefined) return right.verifySignature(req, res, next);
        if (refused.has(id)) return refuseUnauthorized(res, 'signature-mismatch');
        refused.add(id);
        return right.verifySignature(req, res, (error?: unknown) => {
          refused.delete(id);
          next(error);
        });
      };
    },
  },
];
