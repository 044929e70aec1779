/** Shared by the mutants of the signature check: the correct check, which a mutant widens, narrows or skips. */
import type { Request, Response } from 'express';
import { hmac } from '../contract/signing/index.ts';
import { answer, refuseUnauthorized, requestHeader, required, type Stage } from '../receiver/stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';

/** A delivery as a signature check sees it. */
export interface Signed {
  readonly req: Request;
  /** The value of the signature header as node:http returns it: trimmed, repeated lines joined by a comma. */
  readonly header: string | undefined;
  readonly body: Buffer;
  readonly secrets: readonly string[];
  /** The valid signatures, one per secret. */
  readonly expected: readonly string[];
  readonly apiKeys: readonly string[];
}

/** Whether a mutant accepts a delivery. */
export type Test = (delivery: Signed) => boolean;

type Replace = StageFault['replace'];

/** HMAC of a body in Base64. */
export function signed(secret: string | Uint8Array, body: Uint8Array, algorithm = 'sha256'): string {
  return hmac(body, secret, algorithm).toString('base64');
}

/** A stage that passes the delivery to `judge`; without a secret, the correct stage. */
export function stageOf(
  judge: (delivery: Signed, ...stage: Parameters<Stage>) => void,
  { correct, config }: FaultParts,
): Stage {
  const { signing, apiKey } = config;
  if (signing === undefined) return correct.requireSignature;
  return (req, res, next) => {
    const body = required(res, 'rawBody');
    const lines = requestHeader(req, signing.header);
    const { secrets } = signing;
    const delivery: Signed = {
      req,
      header: Array.isArray(lines) ? lines.join(', ') : lines,
      body,
      secrets,
      expected: secrets.map((secret) => signed(secret, body)),
      apiKeys: apiKey?.keys ?? [],
    };
    return judge(delivery, req, res, next);
  };
}

/** The correct check, which also accepts deliveries that pass `test`. */
export function alsoAccept(test: Test): Replace {
  return (parts) =>
    stageOf(
      (delivery, req, res, next) => (test(delivery) ? next() : parts.correct.requireSignature(req, res, next)),
      parts,
    );
}

/** Replaces the correct check. */
export function acceptWhen(test: Test): Replace {
  return (parts) =>
    stageOf((delivery, _req, res, next) => {
      if (test(delivery)) next();
      else refuseUnauthorized(res, 'signature-wrong');
    }, parts);
}

/** Compares the header, which has to be present, with each valid signature in another way. */
export function comparing(equal: (header: string, expected: string) => boolean): Replace {
  return acceptWhen(({ header, expected }) => header !== undefined && expected.some((one) => equal(header, one)));
}

/** The correct check, but an exception (thrown by `test`, or if it returns true) is answered 500. */
export function throwWhen(test: Test): Replace {
  return (parts) =>
    stageOf((delivery, req, res, next) => {
      if (test(delivery)) throw new TypeError('The check of the signature threw.');
      return parts.correct.requireSignature(req, res, next);
    }, parts);
}

/** The correct check, but an exception ends the process, which a supervisor restarts. */
export function endProcessWhen(test: Test): Replace {
  return (parts) =>
    stageOf((delivery, req, res, next) => {
      if (test(delivery)) return parts.crash(100);
      return parts.correct.requireSignature(req, res, next);
    }, parts);
}

/** A mutant that answers some contents with 200 and an object, before the verification. */
export function early(
  answerTo: (payload: unknown, secret: string) => object | null,
  text: Pick<StageFault, 'name' | 'title' | 'seen' | 'why' | 'fix' | 'equivalentTo'>,
  severity: StageFault['severity'] = 'high',
): StageFault {
  return {
    ...SIGNATURE,
    ...text,
    severity,
    forbidden: true,
    replace: (parts) =>
      stageOf(({ body, secrets }, req, res, next) => {
        const found = answerTo(jsonOf(body), secrets[0] ?? '');
        return found === null ? parts.correct.requireSignature(req, res, next) : answer(res, 200, found);
      }, parts),
  };
}

/** Returns something after a valid delivery, and takes it instead of a signature. */
export function rememberingClient(give: (res: Response) => void, isGiven: (req: Request) => boolean): Replace {
  return ({ correct, config }) => {
    if (config.signing === undefined) return correct.requireSignature;
    return (req, res, next) => {
      if (isGiven(req)) return next();
      return correct.requireSignature(req, res, () => {
        give(res);
        next();
      });
    };
  };
}

/** The body as JSON, or undefined. */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The body as an object, or an empty object: what code reads before the verification. */
export function unverified({ body }: Pick<Signed, 'body'>): Record<string, unknown> {
  const value = jsonOf(body);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Common to the mutants of the signature check. */
export const SIGNATURE = { area: 'signature', stage: 'requireSignature' } as const;

/** A mutant that also accepts deliveries that pass `test`. */
export function lenientMutant(
  test: Test,
  text: Pick<StageFault, 'name' | 'title' | 'seen' | 'why' | 'fix' | 'comesAndGoes' | 'equivalentTo'>,
): StageFault {
  return { ...SIGNATURE, ...text, severity: 'critical', forbidden: true, replace: alsoAccept(test) };
}
