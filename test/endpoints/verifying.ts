import { createHmac } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Reads the complete body of a request. */
export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/**
 * Creates a minimal receiver without a framework. `expected` computes the valid signature from the body; `refusal` and
 * `malformed` are the statuses of rejections; `lenient` accepts a missing header.
 */
export function verifying(
  expected: (body: Buffer) => string,
  header = 'x-service-signature',
  { refusal = 401, malformed = 400, lenient = false } = {},
): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    const answer = (status: number) => response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
    bodyOf(request).then(
      (body) => {
        let wanted: string;
        try {
          wanted = expected(body);
        } catch {
          return answer(refusal);
        }
        const given = request.headers[header];
        if (given !== wanted && !(lenient && given === undefined)) return answer(refusal);
        try {
          const value: unknown = JSON.parse(body.toString('utf8'));
          return answer(typeof value === 'object' && value !== null && 'id' in value ? 200 : malformed);
        } catch {
          return answer(malformed);
        }
      },
      () => request.destroy(),
    );
  };
}

/** Returns the HMAC-SHA256 of a body. */
export function hmacOf(secret: string, body: string | Buffer): Buffer {
  return createHmac('sha256', secret).update(body).digest();
}
