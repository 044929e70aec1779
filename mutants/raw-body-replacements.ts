/** The two ways in which a receiver hashes something other than the received bytes. */
import type { Request } from 'express';
import { refuseUnauthorized, requestHeader, required } from '../receiver/stages/stage.ts';
import { verifySignature } from '../receiver/verify-signature.ts';
import type { Fault, StageFault } from './fault.ts';

/**
 * The correct comparison over other bytes: the signature has to match one of the `inputs`. Exceptions of `inputs` count
 * as an invalid signature. Later stages get the original body.
 */
export function verifyOver(inputs: (rawBody: Buffer, req: Request) => readonly Uint8Array[]): StageFault['replace'] {
  return ({ correct, config }) => {
    const { signing } = config;
    if (signing === undefined) return correct.requireSignature;
    return (req, res, next) => {
      const header = requestHeader(req, signing.header);
      const fits = (rawBody: Uint8Array) => verifySignature({ rawBody, header, secrets: signing.secrets }).ok;
      try {
        if (inputs(required(res, 'rawBody'), req).some(fits)) return next();
      } catch {
        // For example, the body is not JSON, so there is nothing to compare.
      }
      refuseUnauthorized(res, 'signature-mismatch');
    };
  };
}

/** Replaces the body with the result of `change`, so that every later stage uses it. Exceptions are answered 500. */
export function rewriteBody(change: (rawBody: Buffer, req: Request) => Uint8Array): StageFault['replace'] {
  return ({ correct }) =>
    (req, res, next) =>
      correct.readBody(req, res, (error?: unknown) => {
        if (error !== undefined) return next(error);
        try {
          const changed = change(required(res, 'rawBody'), req);
          res.locals.rawBody = Buffer.from(changed);
        } catch (thrown) {
          return next(thrown);
        }
        next();
      });
}

/** The same for a change of text. Bytes that are not UTF-8 stay unchanged, so that only the change itself shows. */
export function rewriteText(change: (text: string) => string): StageFault['replace'] {
  return rewriteBody((rawBody) => {
    const text = rawBody.toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(rawBody)) return rawBody;
    return Buffer.from(change(text), 'utf8');
  });
}

/** How to get the raw bytes: the part of the fix that is common to this area. */

export const RAW_BYTES: Fault['fix'] = {
  rule: 'Verify the bytes as they arrived, before anything parses, decodes or changes them.',
  express:
    'Use `express.raw({ type: () => true, inflate: false })` on this route, compute the HMAC over `req.body`, and ' +
    'parse afterwards.',
  node: 'Collect the chunks of the request as buffers, and verify them joined, before `JSON.parse`.',
  fastify: "Register a content type parser with `parseAs: 'buffer'`, and verify before `JSON.parse`.",
  nestjs:
    "Create the application with `bodyParser: false`, call `app.useBodyParser('raw', { type: () => true })`, and " +
    'verify the buffer before `JSON.parse`.',
  hono: 'Use `await c.req.arrayBuffer()`, and verify those bytes before `JSON.parse`.',
  python: 'Verify what `self.rfile.read(length)` returns, never `json.dumps(json.loads(...))`.',
  fastapi: 'Use `await request.body()` instead of a model as parameter, and parse after verification.',
  php: 'Use `file_get_contents("php://input")`, never `json_encode(json_decode(...))`.',
  django: 'Use `request.body`, never `json.dumps(json.loads(...))`.',
  flask: 'Use `request.get_data()` before anything touches `request.json`.',
  spring: 'Take the body as `@RequestBody byte[]`, and map it with the ObjectMapper after verification.',
  java: 'Verify what `exchange.getRequestBody().readAllBytes()` returns (of a servlet: `request.getInputStream()`).',
  ruby: "Verify what `env['rack.input'].read` returns, never `JSON.generate(JSON.parse(...))`.",
  rails: 'Use `request.raw_post`.',
  laravel: 'Use `$request->getContent()`.',
  go: 'Read the body with `io.ReadAll(r.Body)`, and unmarshal those bytes after verification.',
  rust: 'Take the body as `Bytes` instead of `Json<T>`, and call `serde_json::from_slice` after verification.',
  dotnet: 'Call `Request.EnableBuffering()`, and read the stream before model binding.',
};

/** The same with another rule. */
export function rawBytes(rule: string, more: Partial<Fault['fix']> = {}): Fault['fix'] {
  return { ...RAW_BYTES, ...more, rule };
}
