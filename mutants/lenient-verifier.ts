/** Shared by the mutants of the signature check: the correct check, which a mutant widens, narrows or skips. */
import type { Request, Response } from 'express';
import { hmac } from '../contract/signing/index.ts';
import { answer, refuseUnauthorized, requestHeader, required, type Stage } from '../receiver/stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';

/** Common to the mutants of the signature check. */
export const SIGNATURE = { area: 'signature', stage: 'requireSignature' } as const;

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
type Test = (delivery: Signed) => boolean;

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

/** The correct check, except for deliveries for which `instead` returns a stage. */
export function handleSome(instead: (delivery: Signed, parts: FaultParts) => Stage | null): Replace {
  return (parts) =>
    stageOf((delivery, ...stage) => (instead(delivery, parts) ?? parts.correct.requireSignature)(...stage), parts);
}

/** Passes the delivery to the next stage. */
export const goOn: Stage = (_req, _res, next) => next();

/** Rejects the signature. */
export const reject: Stage = (_req, res) => refuseUnauthorized(res, 'signature-wrong');

/** The correct check, which also accepts deliveries that pass `test`. */
export const alsoAccept = (test: Test): Replace => handleSome((delivery) => (test(delivery) ? goOn : null));

/** Accepts exactly the deliveries that pass `test`. */
export const acceptWhen = (test: Test): Replace => handleSome((delivery) => (test(delivery) ? goOn : reject));

/** Whether the header, which has to be present, passes a comparison with one of the valid signatures. */
export function matching(equal: (header: string, expected: string) => boolean): Test {
  return ({ header, expected }) => header !== undefined && expected.some((one) => equal(header, one));
}

/** Compares the header with the valid signatures in another way. */
export const comparing = (equal: (header: string, expected: string) => boolean) => acceptWhen(matching(equal));

/** The bytes of a signature, decoded leniently. */
export const bytesOf = (signature: string) => Buffer.from(signature, 'base64');

/** A signature in hexadecimal. */
export const hexOf = (signature: string) => bytesOf(signature).toString('hex');

/** Whether the header is the same as a value that is computed with one of the secrets. */
export function computed(compute: (secret: string, body: Buffer) => string): Test {
  return ({ header, body, secrets }) => secrets.some((secret) => header === compute(secret, body));
}

/** Whether the header is a valid signature in another spelling. */
export const spelled = (spell: (signature: string) => string) => matching((header, one) => header === spell(one));

/** The correct check, but an exception (thrown by `test`, or if it returns true) is answered 500. */
export function throwWhen(test: Test): Replace {
  return handleSome((delivery) => {
    if (test(delivery)) throw new TypeError('The check of the signature threw.');
    return null;
  });
}

/** The correct check, but an exception ends the process, which a supervisor restarts. */
export function endProcessWhen(test: Test): Replace {
  return handleSome((delivery, { crash }) => (test(delivery) ? () => crash(100) : null));
}

/** Answers some contents with 200 and an object, before the verification. */
export function early(answerTo: (payload: unknown, secret: string) => object | null): Replace {
  return handleSome(({ body, secrets }) => {
    const found = answerTo(jsonOf(body), secrets[0] ?? '');
    return found === null ? null : (_req, res) => answer(res, 200, found);
  });
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

/** The type in Content-Type, without parameters. */
export const mediaType = (req: Request) => (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim() ?? '';

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

/** Whether a text matches a pattern with a wildcard for any text and one for a single character. */
export function matchesWildcards(text: string, pattern: string, anyText: string, anyCharacter: string): boolean {
  const wildcards: Record<string, string> = { [anyText]: '.*', [anyCharacter]: '.' };
  const escaped = (character: string) => character.replace(/[.*+?^${}()|[\]\\]/, '\\$&');
  const source = [...pattern].map((character) => wildcards[character] ?? escaped(character)).join('');
  return new RegExp(`^${source}$`).test(text);
}
