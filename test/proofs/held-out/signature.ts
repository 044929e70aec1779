/** Faults of the signature check, written independently. */
import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Refusal } from './bare-receiver.ts';
import {
  alsoTakes,
  decidesBy,
  equal,
  type FaultMixin,
  type FaultMixins,
  findsSignature,
  peek,
  queryOf,
  signs,
  skipsSignature,
} from './fault-mixins.ts';

const mac = (algorithm: string, secret: string | Buffer, raw: Buffer) =>
  createHmac(algorithm, secret).update(raw).digest();
const keyedBy = (other: (secret: string) => string | Buffer) =>
  alsoTakes((given, _right, { secret, raw }) => given === mac('sha256', other(secret), raw).toString('base64'));
const words = (...list: string[]) =>
  alsoTakes((given, _right, { raw }) => list.some((word) => given === mac('sha256', word, raw).toString('base64')));
const typeOf = (raw: Buffer) => peek(raw)?.type;

/** Makes the check throw in some cases. */
const throwsOn = (when: (given: string, right: string) => boolean): FaultMixin =>
  decidesBy((given, right) => {
    if (when(given, right)) throw new TypeError('Input buffers must have the same byte length');
    return equal(given, right);
  });

/** Ends the process in some cases. */
const diesOn =
  (when: (given: string | null) => boolean): FaultMixin =>
  (Base) =>
    class extends Base {
      protected override requireSignature(req: IncomingMessage, raw: Buffer): void | Promise<void> {
        if (!when(this.givenSignature(req, raw))) return super.requireSignature(req, raw);
        this.die();
        throw new Error('uncaught');
      }
    };

const remembers =
  (keyOf: (req: IncomingMessage) => unknown): FaultMixin =>
  (Base) => {
    class Remembering extends Base {
      private readonly trusted = new Set<unknown>();
      protected override requireSignature(req: IncomingMessage, raw: Buffer): void {
        if (this.trusted.has(keyOf(req))) return;
        void super.requireSignature(req, raw);
        this.trusted.add(keyOf(req));
      }
    }
    return Remembering;
  };

export const signatureFaults: FaultMixins = {
  'missing-signature-accepted': skipsSignature((_raw, req) => req.headers['x-service-signature'] === undefined),
  'falsy-signature-accepted': skipsSignature((_raw, req) => !req.headers['x-service-signature']),
  'empty-signature-accepted': skipsSignature((_raw, req) => req.headers['x-service-signature'] === ''),
  'missing-signature-answers-500': (Base) =>
    class extends Base {
      protected override requireSignature(req: IncomingMessage, raw: Buffer) {
        if (req.headers['x-service-signature'] === undefined)
          throw new TypeError('Cannot read properties of undefined');
        return super.requireSignature(req, raw);
      }
    },
  'missing-signature-kills': diesOn((given) => given === null),
  'signature-not-checked': skipsSignature(() => true),
  'signature-presence-is-enough': decidesBy((given) => given.length > 0),
  'signature-length-is-enough': decidesBy((given, right) => given.length === right.length),
  'signature-form-is-enough': decidesBy(
    (given) => /^[A-Za-z0-9+/]{43}=$/.test(given) && Buffer.from(given, 'base64').length === 32,
  ),
  'error-in-check-accepts': decidesBy((given, right) => {
    try {
      if (Buffer.byteLength(given) !== Buffer.byteLength(right)) throw new RangeError('length');
      return equal(given, right);
    } catch {
      return true;
    }
  }),
  'verified-once-per-connection': remembers((req) => req.socket),
  'verified-once-per-address': remembers((req) => req.socket.remoteAddress),
  'signature-cached-without-body': (Base) => {
    class Caching extends Base {
      private readonly good = new Set<string>();
      protected override signatureFits(given: string, bytes: Buffer, req: IncomingMessage): boolean {
        const fits = this.good.has(given) || super.signatureFits(given, bytes, req);
        if (fits) this.good.add(given);
        return fits;
      }
    }
    return Caching;
  },
  'known-id-not-verified': (Base) =>
    class extends Base {
      protected override requireSignature(req: IncomingMessage, raw: Buffer) {
        return this.seen.has(peek(raw)?.id) ? undefined : super.requireSignature(req, raw);
      }
    },
  'empty-secret-accepted': words(''),
  'secret-undefined-accepted': words('undefined'),
  'secret-null-accepted': words('null'),
  'default-secret-accepted': words('secret', 'password'),
  'api-key-signs': alsoTakes((given, _r, { apiKey, raw }) => given === mac('sha256', apiKey, raw).toString('base64')),
  'secret-with-line-end-accepted': keyedBy((secret) => `${secret}\n`),
  'hashed-secret-accepted': keyedBy((secret) => createHash('sha256').update(secret).digest('hex')),
  'decoded-secret-accepted': keyedBy((secret) => Buffer.from(secret, 'base64')),
  'secret-as-token': alsoTakes((given, _right, { secret }) => equal(given, secret)),
  'unkeyed-hash-accepted': alsoTakes(
    (given, _r, { raw }) => given === createHash('sha256').update(raw).digest('base64'),
  ),
  'hash-of-secret-and-body-accepted': alsoTakes(
    (given, _right, { raw, secret }) => given === createHash('sha256').update(secret).update(raw).digest('base64'),
  ),
  'hash-of-body-and-secret-accepted': alsoTakes(
    (given, _right, { raw, secret }) => given === createHash('sha256').update(raw).update(secret).digest('base64'),
  ),
  'hmac-arguments-either-way': alsoTakes(
    (given, _right, { raw, secret }) => given === mac('sha256', raw, Buffer.from(secret)).toString('base64'),
  ),
  'sha1-accepted': alsoTakes((given, _right, { raw, secret }) => given === mac('sha1', secret, raw).toString('base64')),
  'algorithm-by-length': alsoTakes((given, _right, { raw, secret }) =>
    ['md5', 'sha1', 'sha384', 'sha512'].some((name) => given === mac(name, secret, raw).toString('base64')),
  ),
  'half-digest-accepted': alsoTakes(
    (given, _right, { raw, secret }) => given === mac('sha256', secret, raw).subarray(0, 16).toString('base64'),
  ),
  'hex-accepted': alsoTakes((given, _right, { raw, secret }) => given === mac('sha256', secret, raw).toString('hex')),
  'prefixed-hex-accepted': alsoTakes(
    (given, _right, { raw, secret }) => given === `sha256=${mac('sha256', secret, raw).toString('hex')}`,
  ),
  'prefix-stripped': alsoTakes((given, right) => equal(given.replace(/^(?:sha256=|v1[,=])/, ''), right)),
  'signature-list-accepted': alsoTakes((given, right) => given.split(',').some((one) => equal(one.trim(), right))),
  'base64-decoded-leniently': alsoTakes((given, right) =>
    Buffer.from(given, 'base64').equals(Buffer.from(right, 'base64')),
  ),
  'base64url-accepted': alsoTakes((given, right) => {
    const url = right.replaceAll('+', '-').replaceAll('/', '_');
    return given === url || given === url.replace('=', '');
  }),
  'padding-optional': alsoTakes((given, right) => given === right.replace(/=+$/, '')),
  'signature-url-decoded': alsoTakes((given, right) => {
    try {
      return equal(decodeURIComponent(given), right);
    } catch {
      return false;
    }
  }),
  'quotes-stripped': alsoTakes((given, right) => equal(given.replace(/^"|"$/g, ''), right)),
  'compares-shorter-length': decidesBy((given, right) => {
    const [a, b] = [Buffer.from(given, 'base64'), Buffer.from(right, 'base64')];
    const most = Math.min(a.length, b.length);
    return a.subarray(0, most).equals(b.subarray(0, most));
  }),
  'accepts-beginning': decidesBy((given, right) => given !== '' && right.startsWith(given)),
  'accepts-any-part': decidesBy((given, right) => right.indexOf(given) >= 0),
  'ignores-what-follows': decidesBy((given, right) => given.startsWith(right)),
  'ignores-what-precedes': decidesBy((given, right) => given.endsWith(right)),
  'contains-signature': decidesBy((given, right) => given.includes(right)),
  'ignores-letter-case': decidesBy((given, right) => given.toLowerCase() === right.toLowerCase()),
  'compares-first-8': decidesBy((given, right) => given.slice(0, 8) === right.slice(0, 8)),
  'compares-first-32': decidesBy((given, right) => given.slice(0, 32) === right.slice(0, 32)),
  'compares-last-8': decidesBy((given, right) => given.slice(-8) === right.slice(-8)),
  'skips-first-7': decidesBy((given, right) => given.slice(7) === right.slice(7)),
  'compares-in-any-order': decidesBy((given, right) => [...given].sort().join('') === [...right].sort().join('')),
  'signature-as-regexp': decidesBy((given, right) => {
    try {
      return new RegExp(given).test(right) || equal(given, right);
    } catch {
      return false;
    }
  }),
  'other-length-answers-500': throwsOn((given, right) => given.length !== right.length),
  'other-length-kills': diesOn((given) => given !== null && given.length !== 44),
  'other-byte-length-answers-500': throwsOn(
    (given, right) => given.length === right.length && Buffer.byteLength(given) !== given.length,
  ),
  'non-ascii-answers-500': throwsOn((given) => /[^\x20-\x7e]/.test(given)),
  'not-base64-answers-500': throwsOn((given) => !/^[A-Za-z0-9+/]*={0,2}$/.test(given) || given.length % 4 !== 0),
  'refunds-not-verified': skipsSignature((raw) => typeOf(raw) === 'REFUND'),
  'only-orders-verified': skipsSignature((raw) => typeOf(raw) !== undefined && typeOf(raw) !== 'CAAS'),
  'unknown-types-not-verified': skipsSignature((raw) => {
    const known = ['CAAS', 'REFUND', 'PAYMENT_METHOD', 'WALLET', 'CAAS_BLOCKCHAIN'];
    return typeof typeOf(raw) === 'string' && !known.includes(typeOf(raw));
  }),
  'large-bodies-not-verified': skipsSignature((raw) => raw.length > 65_536),
  'only-plain-json-verified': skipsSignature((_raw, req) => req.headers['content-type'] !== 'application/json'),
  'chunked-bodies-not-verified': skipsSignature((_raw, req) => req.headers['content-length'] === undefined),
  'trusts-forwarded-for': skipsSignature((_raw, req) =>
    ['127.0.0.1', '::1', 'localhost'].includes(String(req.headers['x-forwarded-for'] ?? '').split(',')[0] ?? ''),
  ),
  'debug-switch': skipsSignature((_raw, req) => req.headers['x-debug'] !== undefined || queryOf(req).has('debug')),
  'query-switch': skipsSignature((_raw, req) => queryOf(req).has('skip') || queryOf(req).has('test')),
  'trusts-origin': skipsSignature((_raw, req) =>
    /localhost|127\.0\.0\.1|internal/.test(`${req.headers.origin ?? ''} ${req.headers.referer ?? ''}`),
  ),
  'authorization-suffices': skipsSignature((_raw, req) => Boolean(req.headers.authorization)),
  'other-signature-headers': findsSignature(
    (req) => req.headersDistinct['x-signature']?.[0] ?? req.headersDistinct['x-hub-signature-256']?.[0],
  ),
  'signature-in-authorization': findsSignature((req) => req.headers.authorization?.replace(/^\w+ +/, '')),
  'signature-in-query': findsSignature(
    (req) => queryOf(req).get('signature') ?? queryOf(req).get('x-service-signature'),
  ),
  'expects-hex': (Base) =>
    class extends Base {
      protected override signatureOf(bytes: Buffer): string {
        return mac('sha256', this.credentials.secret, bytes).toString('hex');
      }
    },
  'expects-prefixed-hex': (Base) =>
    class extends Base {
      protected override signatureOf(bytes: Buffer): string {
        return `sha256=${mac('sha256', this.credentials.secret, bytes).toString('hex')}`;
      }
    },
  'expects-sha1': (Base) =>
    class extends Base {
      protected override signatureOf(bytes: Buffer): string {
        return mac('sha1', this.credentials.secret, bytes).toString('base64');
      }
    },
  'secret-decoded-first': (Base) =>
    class extends Base {
      protected override signatureOf(bytes: Buffer): string {
        return mac('sha256', Buffer.from(this.credentials.secret, 'base64'), bytes).toString('base64');
      }
    },
  'verifies-lower-case-body': signs((raw) => raw.toString('utf8').toLowerCase()),
  'old-deliveries-refused': (Base) =>
    class extends Base {
      protected override use(...[notification, value]: Parameters<InstanceType<typeof Base>['use']>): void {
        super.use(notification, value);
        if (notification.at !== null && Date.now() - notification.at.getTime() > 86_400_000) throw new Refusal(401);
      }
    },
};
