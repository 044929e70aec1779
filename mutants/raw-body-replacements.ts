/** Helpers for the two ways in which a receiver hashes something other than the received bytes. */
import type { Request } from 'express';
import { refuseUnauthorized, requestHeader, required } from '../receiver/stages/stage.ts';
import { verifySignature } from '../receiver/verify-signature.ts';
import type { StageFault } from './fault.ts';

type Replacement = Pick<StageFault, 'stage' | 'replace'>;

/** What is hashed instead of the raw body. Text is encoded as UTF-8. */
type Input = string | Uint8Array;

/**
 * Runs the correct comparison over other bytes: the signature must match one of the `inputs`. If `inputs` throws, the
 * signature counts as invalid. Later stages get the original body.
 */
export function verifyAny(inputs: (rawBody: Buffer, req: Request) => readonly Input[]): Replacement {
  return {
    stage: 'requireSignature',
    replace: ({ correct, config }) => {
      const { signing } = config;
      if (signing === undefined) return correct.requireSignature;
      return (req, res, next) => {
        const header = requestHeader(req, signing.header);
        const fits = (input: Input) =>
          verifySignature({ rawBody: Buffer.from(input), header, secrets: signing.secrets }).ok;
        try {
          if (inputs(required(res, 'rawBody'), req).some(fits)) return next();
        } catch {
          // For example, the body is not JSON, so nothing can be compared.
        }
        refuseUnauthorized(res, 'signature-mismatch');
      };
    },
  };
}

/** Verifies one input instead of the body. */
export function verifyOver(input: (rawBody: Buffer, req: Request) => Input): Replacement {
  return verifyAny((rawBody, req) => [input(rawBody, req)]);
}

/** Verifies an input that is derived from the text of the body. */
export function verifyText(input: (text: string) => Input): Replacement {
  return verifyOver((rawBody) => input(rawBody.toString('utf8')));
}

/** Replaces the body with the result of `change` for this stage and all later ones. An exception leads to a 500. */
export function rewriteBody(change: (rawBody: Buffer, req: Request) => Input): Replacement {
  return {
    stage: 'readBody',
    replace:
      ({ correct }) =>
      (req, res, next) =>
        correct.readBody(req, res, (error?: unknown) => {
          if (error !== undefined) return next(error);
          try {
            res.locals.rawBody = Buffer.from(change(required(res, 'rawBody'), req));
          } catch (thrown) {
            return next(thrown);
          }
          next();
        }),
  };
}

/**
 * Replaces the text of the body. A body that is not UTF-8 is left unchanged, because decoding it would be another
 * fault.
 */
export function rewriteText(change: (text: string) => string): Replacement {
  return rewriteBody((rawBody) => {
    const text = rawBody.toString('utf8');
    return Buffer.from(text, 'utf8').equals(rawBody) ? change(text) : rawBody;
  });
}
