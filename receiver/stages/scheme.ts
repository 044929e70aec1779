/** The stages for deliveries of another service, which are signed in its scheme. */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { HeaderLine } from '../../contract/index.ts';
import { checkWithScheme, headersFault } from '../../contract/signing/schemes/check-scheme.ts';
import type { Scheme } from '../../contract/signing/schemes/scheme.ts';
import type { ReceiverConfig } from '../options.ts';
import { isJsonType, parse } from './payload.ts';
import { answer, refuseUnauthorized, required, type Stage } from './stage.ts';

type Signing = NonNullable<ReceiverConfig['signing']>;

/** Read `secrets` for each delivery, because reloading replaces the list. */
export type SchemeSigning = Signing & { readonly scheme: Scheme };

export const isForeign = (signing: Signing): signing is SchemeSigning => signing.scheme !== undefined;

/** Stage 5: requires a signature in the scheme, over the raw bytes and a current time. */
export function requireSchemeSignature(signing: SchemeSigning): Stage {
  return (req, res, next) => {
    const url = signing.publicUrl ?? requestUrl(req);
    const delivery = { body: required(res, 'rawBody'), headers: headerLines(req), url };
    const result = checkWithScheme(signing.scheme, delivery, signing.secrets, epochSeconds());
    if (!result.ok) return refuseUnauthorized(res, `signature-${result.reason}`);
    res.locals.secretIndex = result.secretIndex;
    next();
  };
}

/** Checks the headers of a scheme before the body is read. Returns a code if the delivery must be rejected. */
export function schemeHeadFault(req: IncomingMessage, scheme: Scheme): string | undefined {
  const fault = headersFault(scheme, headerLines(req), epochSeconds());
  return fault === undefined ? undefined : `signature-${fault}`;
}

/**
 * Stage 7: parses the body if its Content-Type is JSON. Any other body is accepted as bytes, except if the URL in the
 * request is signed: an attacker could move the end of the URL into the body, or the beginning of the body into the
 * URL, and neither leaves a body that is JSON.
 */
export function parseJsonTypes({ scheme, publicUrl }: SchemeSigning, maxDepth: number): Stage {
  const parseJson = parse(maxDepth);
  if (publicUrl === undefined && scheme.signed.includes('{url}')) return parseJson;
  return (req, res, next) => (isJsonType(req.headers['content-type'] ?? '') ? parseJson(req, res, next) : next());
}

/** Stage 10: answers 200. */
export const acknowledge: Stage = (_req, res) => answer(res, 200, { status: 'accepted' });

/** Returns the time as schemes write it, in whole seconds. */
export function epochSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Returns the headers as sent, with repetitions. */
export function headerLines({ rawHeaders }: IncomingMessage): HeaderLine[] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, at) => [
    rawHeaders[2 * at] ?? '',
    rawHeaders[2 * at + 1] ?? '',
  ]);
}

/**
 * Returns the URL to which a client has sent a request. The client chooses its Host and target. A signature for another
 * URL does not match, but the signed text does not show where the URL ends and the body begins.
 */
export function requestUrl(req: IncomingMessage & { readonly originalUrl?: string }): string {
  const protocol = req.socket instanceof TLSSocket ? 'https' : 'http';
  return `${protocol}://${req.headers.host ?? ''}${req.originalUrl ?? req.url ?? ''}`;
}
