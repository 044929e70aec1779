/** What the mutants of the signature check are made of: the right check, which a mutant opens, narrows or passes by. */
import { createHmac } from 'node:crypto';
import type { Request } from 'express';
import { refuseUnauthorized, requestHeader, required, type Stage } from '../stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';

/** One delivery, as a check of the signature sees it. */
export interface Signed {
  readonly req: Request;
  /** The value of the signature header as node:http gives it: trimmed, repeated lines joined by a comma. */
  readonly header: string | undefined;
  readonly body: Buffer;
  readonly secrets: readonly string[];
  /** The right signatures, one for each secret. */
  readonly right: readonly string[];
  readonly apiKeys: readonly string[];
}

/** What a mutant says of a delivery. */
export type Test = (delivery: Signed) => boolean;

type Replace = StageFault['replace'];

/** HMAC of a body in Base64. */
export function signed(secret: string | Uint8Array, body: Uint8Array, algorithm = 'sha256'): string {
  return createHmac(algorithm, secret).update(body).digest('base64');
}

/** A stage that looks at the delivery and goes on as `judge` says; without a secret it is the right one. */
export function judging(
  judge: (delivery: Signed, ...stage: Parameters<Stage>) => void,
  { right, config }: FaultParts,
): Stage {
  const { signing, apiKey } = config;
  if (signing === undefined) return right.verifySignature;
  return (req, res, next) => {
    const body = required(res, 'rawBody');
    const lines = requestHeader(req, signing.header);
    const { secrets } = signing;
    const delivery: Signed = {
      req,
      header: Array.isArray(lines) ? lines.join(', ') : lines,
      body,
      secrets,
      right: secrets.map((secret) => signed(secret, body)),
      apiKeys: apiKey?.keys ?? [],
    };
    return judge(delivery, req, res, next);
  };
}

/** The right check, which something else passes beside. */
export function alsoAccepting(test: Test): Replace {
  return (parts) =>
    judging(
      (delivery, req, res, next) => (test(delivery) ? next() : parts.right.verifySignature(req, res, next)),
      parts,
    );
}

/** Another check in place of the right one. */
export function accepting(test: Test): Replace {
  return (parts) =>
    judging((delivery, _req, res, next) => {
      if (test(delivery)) next();
      else refuseUnauthorized(res, 'signature-wrong');
    }, parts);
}

/** A comparison in place of the right one: of the header, which has to be there, with each right signature. */
export function comparing(equal: (header: string, right: string) => boolean): Replace {
  return accepting(({ header, right }) => header !== undefined && right.some((one) => equal(header, one)));
}

/** The right check, except that an exception (what `test` throws, or true from it) is answered 500. */
export function failing(test: Test): Replace {
  return (parts) =>
    judging((delivery, req, res, next) => {
      if (test(delivery)) throw new TypeError('The check of the signature threw.');
      return parts.right.verifySignature(req, res, next);
    }, parts);
}

/** The right check, except that an exception ends the process, which a supervisor starts again. */
export function dying(test: Test): Replace {
  return (parts) =>
    judging((delivery, req, res, next) => {
      if (test(delivery)) return parts.crash(100);
      return parts.right.verifySignature(req, res, next);
    }, parts);
}

/** The body as an object, or an empty one: what code reads that looks into a body before it is verified. */
export function unverified({ body }: Signed): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** What the mutants of the signature check have in common. */
export const SIGNATURE = { area: 'signature', stage: 'verifySignature' } as const;

/** The right check, which lets pass whatever `test` takes for right as well. */
export function lettingPass(test: Test, text: Pick<StageFault, 'name' | 'title' | 'seen' | 'why' | 'fix'>): StageFault {
  return { ...SIGNATURE, ...text, severity: 'critical', forbidden: true, replace: alsoAccepting(test) };
}
