/** Faults of the API key check and of both checks together, written independently. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from './bare-receiver.ts';
import { equal, type FaultMixin, type FaultMixins, findsKey, keyBy, peek, queryOf, skipsKey } from './fault-mixins.ts';

const given = (req: IncomingMessage, name: string) => req.headersDistinct[name]?.[0];

/** Changes the answer to an invalid or missing key. */
const refusesWith =
  (answer: (res: ServerResponse) => void): FaultMixin =>
  (Base) =>
    class extends Base {
      protected override async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
        const key = this.givenKey(req);
        if (req.method !== 'POST' || (key !== null && this.keyFits(key, req, null))) return super.handle(req, res);
        req.resume();
        answer(res);
      }
    };

const missing = (then: (die: () => void) => never): FaultMixin => {
  return (Base) =>
    class extends Base {
      protected override requireKey(req: IncomingMessage, raw: Buffer | null): void {
        if (req.headers['x-api-key'] === undefined) then(() => this.die());
        super.requireKey(req, raw);
      }
    };
};

/** Combines the results of both checks incorrectly. */
const together =
  (accepted: (key: 'right' | 'wrong' | 'none', signature: 'right' | 'wrong' | 'none') => boolean): FaultMixin =>
  (Base) =>
    class extends Base {
      private signatureIs(req: IncomingMessage, raw: Buffer): 'right' | 'wrong' | 'none' {
        const signature = this.givenSignature(req, raw);
        if (signature === null) return 'none';
        return this.signatureFits(signature, this.signedBytes(raw, req), req) ? 'right' : 'wrong';
      }
      protected override requireKey(): void {}
      protected override async authenticate(req: IncomingMessage, raw: Buffer): Promise<void> {
        const key = this.givenKey(req);
        const keyIs = key === null ? 'none' : this.keyFits(key, req, raw) ? 'right' : 'wrong';
        if (!accepted(keyIs, this.signatureIs(req, raw))) throw new Refusal(401);
      }
    };

export const apiKeyFaults: FaultMixins = {
  'api-key-not-checked': skipsKey(() => true),
  'api-key-missing-accepted': skipsKey((req) => !('x-api-key' in req.headers)),
  'api-key-empty-accepted': skipsKey((req) => req.headers['x-api-key'] === ''),
  'api-key-any-accepted': keyBy((key) => key !== ''),
  'api-key-not-checked-for-later-types': skipsKey((_req, raw) => {
    const type = peek(raw)?.type;
    return typeof type === 'string' && type !== 'CAAS';
  }),
  'api-key-not-checked-on-large-bodies': skipsKey((_req, raw) => raw.length > 64 * 1024),
  'api-key-not-checked-for-local-claims': skipsKey((req) =>
    /^127\.0\.0\.1/.test(String(req.headers['x-forwarded-for'])),
  ),
  'api-key-not-checked-in-test-mode': skipsKey((req) => queryOf(req).has('test')),
  'api-key-not-checked-with-charset': skipsKey((req) => req.headers['content-type'] !== 'application/json'),
  'api-key-beginning-accepted': keyBy((key, right) => key !== '' && right.startsWith(key)),
  'api-key-end-accepted': keyBy((key, right) => key !== '' && right.endsWith(key)),
  'api-key-with-more-behind-accepted': keyBy((key, right) => key.startsWith(right)),
  'api-key-part-accepted': keyBy((key, right) => right.includes(key)),
  'api-key-anywhere-accepted': keyBy((key, right) => key.includes(right)),
  'api-key-used-as-pattern': keyBy((key, right) => {
    try {
      return right.match(new RegExp(`^${key}$`)) !== null;
    } catch {
      return false;
    }
  }),
  'api-key-first-eight-compared': keyBy((key, right) => key.substring(0, 8) === right.substring(0, 8)),
  'api-key-last-character-ignored': keyBy(
    (key, right) => key.length === right.length && key.slice(0, -1) === right.slice(0, -1),
  ),
  'api-key-length-compared': keyBy((key, right) => key.length === right.length),
  'api-key-case-ignored': keyBy((key, right) => key.toUpperCase() === right.toUpperCase()),
  'api-key-blanks-dropped': keyBy((key, right) => key.split(/\s+/).join('') === right),
  'api-key-list-accepted': keyBy((key, right) =>
    key
      .split(',')
      .map((one) => one.trim())
      .includes(right),
  ),
  'api-key-unwrapped': keyBy(
    (key, right) => key.replace(/^(?:bearer|apikey|token) /i, '').replace(/^['"]|['"]$/g, '') === right,
  ),
  'api-key-decoded-from-base64': keyBy(
    (key, right) => key === right || Buffer.from(key, 'base64').toString() === right,
  ),
  'api-key-percent-decoded': keyBy((key, right) => decodeURIComponent(key) === right),
  'api-key-lengths-throw': keyBy((key, right) => {
    if (key.length !== right.length) throw new RangeError('Input buffers must have the same byte length');
    return equal(key, right);
  }),
  'api-key-unset-becomes-text': keyBy((key, right) => equal(key, right) || key === 'undefined' || key === 'null'),
  'api-key-placeholder-accepted': keyBy(
    (key, right) => equal(key, right) || ['changeme', 'test', 'your-api-key'].includes(key),
  ),
  'api-key-wildcard-accepted': keyBy((key, right) => equal(key, right) || key === '*'),
  'api-key-looked-up-in-object': keyBy((key, right) =>
    Boolean(({ [right]: 'partner' } as Record<string, string>)[key]),
  ),
  'api-key-taken-from-query': findsKey(
    (req) => queryOf(req).get('api_key') ?? queryOf(req).get('apiKey') ?? queryOf(req).get('X-API-Key'),
  ),
  'api-key-taken-from-token-parameter': findsKey(
    (req) => queryOf(req).get('token') ?? queryOf(req).get('access_token'),
  ),
  'api-key-taken-from-bearer': findsKey((req) => /^Bearer (.+)$/i.exec(req.headers.authorization ?? '')?.[1]),
  'api-key-taken-from-basic': findsKey((req) => {
    const basic = /^Basic (.+)$/i.exec(req.headers.authorization ?? '')?.[1];
    return basic === undefined
      ? null
      : Buffer.from(basic, 'base64')
          .toString()
          .split(':')
          .find((part) => part !== '' && part.length > 12);
  }),
  'api-key-taken-from-cookie': findsKey(
    (req) => /(?:^|; ?)(?:x-)?api[-_]?key=([^;]*)/i.exec(req.headers.cookie ?? '')?.[1],
  ),
  'api-key-taken-from-other-header': findsKey((req) => given(req, 'api-key')),
  'api-key-taken-from-token-header': findsKey(
    (req) => given(req, 'x-auth-token') ?? given(req, 'x-access-token') ?? req.headers.authorization,
  ),
  'api-key-header-in-exact-case': (Base) =>
    class extends Base {
      protected override givenKey(req: IncomingMessage): string | null {
        const at = req.rawHeaders.indexOf('X-API-Key');
        return at < 0 ? null : (req.rawHeaders[at + 1] ?? null);
      }
    },
  'api-key-refused-with-403': refusesWith((res) => res.writeHead(403).end()),
  'api-key-refused-by-redirect': refusesWith((res) => res.writeHead(302, { Location: '/login' }).end()),
  'api-key-refused-by-hanging-up': refusesWith((res) => res.destroy()),
  'api-key-refused-with-200': refusesWith((res) => res.writeHead(200).end('{"error":"invalid api key"}')),
  'api-key-missing-is-400': missing(() => {
    throw new Refusal(400);
  }),
  'api-key-missing-is-500': missing(() => {
    throw new TypeError('Cannot read properties of undefined');
  }),
  'api-key-missing-ends-the-process': missing((die) => {
    die();
    throw new Error('uncaught');
  }),
  'either-credential': together((key, signature) => key === 'right' || signature === 'right'),
  'signature-only-without-key': together((key, signature) => (key === 'none' ? signature : key) === 'right'),
  'key-only-without-signature': together((key, signature) => (signature === 'none' ? key : signature) === 'right'),
  'key-skipped-for-signed': together((_key, signature) => signature === 'right'),
  'results-compared': together((key, signature) => (key === 'right') === (signature === 'right')),
  'nothing-presented-accepted': together(
    (key, signature) => (key === 'none' && signature === 'none') || (key === 'right' && signature === 'right'),
  ),
  'unsigned-with-any-key': together((key, signature) =>
    signature === 'none' ? key !== 'none' : key === 'right' && signature === 'right',
  ),
  'keyless-with-any-signature': together((key, signature) =>
    key === 'none' ? signature !== 'none' : key === 'right' && signature === 'right',
  ),
};
