import { createHmac } from 'node:crypto';
import { requestHeader } from '../stages/request-header.ts';
import { refuseUnauthorized, required } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';

/** Signatures over something that was read and written again. */
export const reserialisedBodies: readonly StageFault[] = [
  {
    name: 'verifies-reserialised-json',
    area: 'raw-body',
    title: 'The signature is verified over JSON that was parsed and written again.',
    seen: 'Most often behind express.json(), where the raw bytes are gone and JSON.stringify(req.body) stands in; some vendors even recommend it.',
    why: 'Right signatures are refused as soon as the body is not exactly what your JSON library would write. It works with one sender and fails with the first different space, number or escape.',
    fix: {
      rule: 'Verify over the bytes as they arrived, before anything parses them.',
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
    },
    severity: 'high',
    forbidden: true,
    stage: 'verifySignature',
    replace({ right, config }) {
      const { signing } = config;
      if (signing === undefined) return right.verifySignature;
      return (req, res, next) => {
        let body: Buffer;
        try {
          body = Buffer.from(JSON.stringify(JSON.parse(required(res, 'rawBody').toString('utf8'))));
        } catch {
          return refuseUnauthorized(res, 'signature-wrong');
        }
        const header = requestHeader(req, signing.header);
        const due = signing.secrets.map((secret) => createHmac('sha256', secret).update(body).digest('base64'));
        if (typeof header !== 'string' || !due.includes(header)) return refuseUnauthorized(res, 'signature-wrong');
        next();
      };
    },
  },
];
