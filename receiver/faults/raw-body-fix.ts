/** How to get at the bytes of the body: the part of a fix that is the same for every fault of this area. */
import type { Fault } from './fault.ts';

export const RAW_BYTES: Fault['fix'] = {
  rule: 'Verify over the bytes as they arrived, before anything parses, decodes or changes them.',
  express:
    'Put `express.raw({ type: () => true, inflate: false })` on this route, compute the HMAC over `req.body`, and parse afterwards.',
  fastify: "Register a content type parser with `parseAs: 'buffer'` and verify before `JSON.parse`.",
  django: 'Use `request.body`, never `json.dumps(json.loads(...))`.',
  flask: 'Use `request.get_data()` before anything touches `request.json`.',
  spring: 'Take the body as `@RequestBody byte[]`, and map it with the ObjectMapper after the check.',
  rails: 'Use `request.raw_post`.',
  laravel: 'Use `$request->getContent()`.',
  go: 'Read the body with `io.ReadAll(r.Body)` and unmarshal those bytes after the check.',
  dotnet: 'Call `Request.EnableBuffering()` and read the stream before model binding.',
};

/** The same with a rule of its own. */
export function rawBytes(rule: string, more: Partial<Fault['fix']> = {}): Fault['fix'] {
  return { ...RAW_BYTES, ...more, rule };
}
