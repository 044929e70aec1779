/** Helpers for the mutants of the signature check, which widen, narrow or skip the correct check. */
import type { Request, Response } from 'express';
import { type HeaderLine, headerValues, sameHeaderName } from '../contract/index.ts';
import { hmac, signWithScheme } from '../contract/signing/index.ts';
import { type HeaderFault, headersFault, readHeaders, valueIn } from '../contract/signing/schemes/check-scheme.ts';
import { epochSeconds, headerLines, isForeign, requestUrl, type SchemeSigning } from '../receiver/stages/scheme.ts';
import { answer, refuseUnauthorized, requestHeader, required, type Stage } from '../receiver/stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';

/** Fields that all mutants of the signature check share. */
export const SIGNATURE = { area: 'signature', stage: 'requireSignature' } as const;

/** A delivery as the check of the signature receives it. */
export interface Signed {
  readonly req: Request;
  /** Value of the signature header as node:http returns it: trimmed, and with repeated lines joined by commas. */
  readonly header: string | undefined;
  /** The signatures in the header. There is at most one, except in the schemes of some other services. */
  readonly presented: readonly string[];
  readonly body: Buffer;
  readonly secrets: readonly string[];
  /** Valid signatures, one per secret. */
  readonly expected: readonly string[];
  readonly apiKeys: readonly string[];
}

/** Decides whether a mutant accepts a delivery. */
type Test = (delivery: Signed) => boolean;

type Replace = StageFault['replace'];

/** Computes the HMAC of a body in base64. */
export function signed(secret: string | Uint8Array, body: Uint8Array, algorithm = 'sha256'): string {
  return hmac(body, secret, algorithm).toString('base64');
}

/** Passes the delivery to `judge`. If no secret is configured, the correct stage runs. */
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
    const apiKeys = apiKey?.keys ?? [];
    if (isForeign(signing)) {
      const inScheme = readScheme(req, body, signing);
      if (inScheme === null) return correct.requireSignature(req, res, next);
      return judge({ ...inScheme, req, body, secrets, apiKeys }, req, res, next);
    }
    const header = Array.isArray(lines) ? lines.join(', ') : lines;
    const delivery: Signed = {
      req,
      header,
      presented: header === undefined ? [] : [header],
      body,
      secrets,
      expected: secrets.map((secret) => signed(secret, body)),
      apiKeys,
    };
    return judge(delivery, req, res, next);
  };
}

/**
 * Reads the signatures of a delivery in the scheme of another service, as the header contains them. Returns null if the
 * other headers or the time must be rejected; the correct check then rejects the delivery.
 */
function readScheme(
  req: Request,
  body: Buffer,
  { scheme, secrets, header: name, publicUrl }: SchemeSigning,
): Pick<Signed, 'header' | 'presented' | 'expected'> | null {
  const lines = headerLines(req);
  const { faults, id, timestamp } = readHeaders(scheme, lines);
  const isOther = (fault: HeaderFault) => fault.code === 'number' || !sameHeaderName(fault.name, name);
  if (faults.some(isOther) || headersFault(scheme, lines, epochSeconds()) === 'out-of-tolerance') return null;
  const input = { body, url: publicUrl ?? requestUrl(req), id, timestamp };
  const signatureIn = (headers: readonly HeaderLine[]) => {
    const value = headerValues(headers, name).join(', ');
    const [, template = ''] = Object.entries(scheme.headers).find(([other]) => sameHeaderName(other, name)) ?? [];
    return valueIn(template, value)?.signature ?? value;
  };
  const isMissing = headerValues(lines, name).length === 0;
  const header = isMissing ? undefined : signatureIn(lines);
  return {
    header,
    presented: header?.split(scheme.separator ?? '\n') ?? [],
    expected: secrets.map((secret) => signatureIn(signWithScheme(scheme, input, [secret]))),
  };
}

/** Runs the correct check, except for deliveries for which `instead` returns a stage. */
export function handleSome(instead: (delivery: Signed, parts: FaultParts) => Stage | null): Replace {
  return (parts) =>
    stageOf((delivery, ...stage) => (instead(delivery, parts) ?? parts.correct.requireSignature)(...stage), parts);
}

/** Passes the delivery to the next stage. */
export const goOn: Stage = (_req, _res, next) => next();

/** Rejects the signature. */
export const reject: Stage = (_req, res) => refuseUnauthorized(res, 'signature-wrong');

/** Runs the correct check, but also accepts deliveries that pass `test`. */
export const alsoAccept = (test: Test): Replace => handleSome((delivery) => (test(delivery) ? goOn : null));

/** Accepts exactly the deliveries that pass `test`. */
export const acceptWhen = (test: Test): Replace => handleSome((delivery) => (test(delivery) ? goOn : reject));

/** Accepts a header that `equal` considers equal to one of the valid signatures. The header must be present. */
export function matching(equal: (header: string, expected: string) => boolean): Test {
  return ({ presented, expected }) => presented.some((header) => expected.some((one) => equal(header, one)));
}

/** Compares the header with the valid signatures using `equal`. */
export const comparing = (equal: (header: string, expected: string) => boolean) => acceptWhen(matching(equal));

/** Decodes the base64 of a signature leniently. */
export const bytesOf = (signature: string) => Buffer.from(signature, 'base64');

/** Converts a signature to hexadecimal. */
export const hexOf = (signature: string) => bytesOf(signature).toString('hex');

/** Accepts a header that equals a value computed with one of the secrets. */
export function computed(compute: (secret: string, body: Buffer) => string): Test {
  return ({ header, body, secrets }) => secrets.some((secret) => header === compute(secret, body));
}

/** Accepts a valid signature in another spelling. */
export const spelled = (spell: (signature: string) => string) => matching((header, one) => header === spell(one));

/** Runs the correct check, but answers 500 if `test` returns true or throws. */
export function throwWhen(test: Test): Replace {
  return handleSome((delivery) => {
    if (test(delivery)) throw new TypeError('The check of the signature threw.');
    return null;
  });
}

/** Runs the correct check, but ends the process if `test` returns true. A supervisor restarts it. */
export function endProcessWhen(test: Test): Replace {
  return handleSome((delivery, { crash }) => (test(delivery) ? () => crash(100) : null));
}

/** Answers some payloads with 200 and an object before the signature is verified. */
export function early(answerTo: (payload: unknown, secret: string) => object | null): Replace {
  return handleSome(({ body, secrets }) => {
    const found = answerTo(jsonOf(body), secrets[0] ?? '');
    return found === null ? null : (_req, res) => answer(res, 200, found);
  });
}

/** After a valid delivery, gives the client a token, such as a cookie, and accepts the token instead of a signature. */
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

/** Returns the type in Content-Type, without parameters. */
export const mediaType = (req: Request) => (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim() ?? '';

/** Parses the body as JSON. Undefined if it is not JSON. */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Returns the unverified body as an object, or an empty object. */
export function unverified({ body }: Pick<Signed, 'body'>): Record<string, unknown> {
  const value = jsonOf(body);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns true if a text matches a pattern that has one wildcard for any text and another for a single character. */
export function matchesWildcards(text: string, pattern: string, anyText: string, anyCharacter: string): boolean {
  const wildcards: Record<string, string> = { [anyText]: '.*', [anyCharacter]: '.' };
  const escaped = (character: string) => character.replace(/[.*+?^${}()|[\]\\]/, '\\$&');
  const source = [...pattern].map((character) => wildcards[character] ?? escaped(character)).join('');
  return new RegExp(`^${source}$`).test(text);
}
