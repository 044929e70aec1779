/** Faults of HTTP, of answers and of leaks, written independently. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from './bare-receiver.ts';
import { equal, type FaultMixin, type FaultMixins, peek } from './fault-mixins.ts';

type Answer = (res: ServerResponse) => void;

/** Answers before anything else. */
const first =
  (when: (req: IncomingMessage) => boolean, answer: Answer): FaultMixin =>
  (Base) =>
    class extends Base {
      protected override async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
        if (!when(req)) return super.handle(req, res);
        req.resume();
        answer(res);
      }
    };

/** Changes the answer to an invalid signature. `right` is the valid one. */
const wrongSignature =
  (answer: (res: ServerResponse, right: string, given: string | null) => void): FaultMixin =>
  (Base) =>
    class extends Base {
      private asked = new WeakMap<IncomingMessage, ServerResponse>();
      protected override async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
        this.asked.set(req, res);
        return super.handle(req, res);
      }
      protected override async requireSignature(req: IncomingMessage, raw: Buffer): Promise<void> {
        try {
          await super.requireSignature(req, raw);
        } catch (error) {
          const res = this.asked.get(req);
          if (res !== undefined) answer(res, this.signatureOf(raw), this.givenSignature(req, raw));
          throw error;
        }
      }
    };

/** Changes the status of every answer. */
const statuses =
  (other: (status: number) => number): FaultMixin =>
  (Base) =>
    class extends Base {
      protected override send(res: ServerResponse, status: number): void {
        if (!res.writableEnded) super.send(res, other(status));
      }
    };

const status =
  (code: number, body = ''): Answer =>
  (res) =>
    void res.writeHead(code).end(body);
const typeOf = (req: IncomingMessage) => req.headers['content-type'];
const refuse = (code: number) => () => {
  throw new Refusal(code);
};

/** Runs code after the request is read and before it is checked. */
const looks =
  (at: (req: IncomingMessage, raw: Buffer) => void): FaultMixin =>
  (Base) =>
    class extends Base {
      protected override async bodyOf(req: IncomingMessage): Promise<Buffer> {
        const raw = await super.bodyOf(req);
        at(req, raw);
        return raw;
      }
    };

export const httpFaults: FaultMixins = {
  'content-type-compared-exactly': (Base) =>
    class extends Base {
      protected override requireJson(req: IncomingMessage): void {
        if (typeOf(req) !== 'application/json') throw new Refusal(415);
        super.requireJson(req);
      }
    },
  'content-type-missing-throws': looks((req) => req.headers['content-type']?.length ?? refuse(500)()),
  'content-type-missing-hangs': first(
    (req) => typeOf(req) === undefined && req.method === 'POST',
    () => undefined,
  ),
  'content-type-other-throws': (Base) =>
    class extends Base {
      protected override requireJson(req: IncomingMessage): void {
        if (!/json/i.test(typeOf(req) ?? 'json')) throw new TypeError('body is undefined');
        super.requireJson(req);
      }
    },
  'signature-header-in-exact-case': (Base) =>
    class extends Base {
      protected override givenSignature(req: IncomingMessage): string | null {
        const at = req.rawHeaders.indexOf('X-Service-Signature');
        return at < 0 ? null : (req.rawHeaders[at + 1] ?? null);
      }
    },
  'takes-every-method': (Base) =>
    class extends Base {
      protected override takesMethod(): boolean {
        return true;
      }
    },
  'greets-get-with-200': first((req) => req.method === 'GET' || req.method === 'HEAD', status(200, 'It works!')),
  'fails-on-other-methods': first((req) => req.method !== 'POST', status(500)),
  'fails-on-options': first((req) => req.method === 'OPTIONS', status(500)),
  'whole-url-answers-500': first((req) => /^https?:/.test(req.url ?? ''), status(500)),
  'broken-query-answers-500': first((req) => {
    try {
      decodeURIComponent(req.url ?? '');
      return false;
    } catch {
      return true;
    }
  }, status(500)),
  'refuses-many-headers': first((req) => req.rawHeaders.length > 2 * 32, status(431)),
  'refuses-headers-of-2-kb': first((req) => req.rawHeaders.some((text) => text.length > 2048), status(431)),
  'accepts-with-another-2xx': statuses((code) => (code === 200 ? 204 : code)),
  'answers-200-to-everything': first(() => true, status(200)),
  'answers-401-to-everything': first(() => true, status(401)),
  'answers-403-to-everything': first(() => true, status(403)),
  'answers-404-to-everything': first(() => true, status(404)),
  'redirects-every-delivery': first(
    () => true,
    (res) => res.writeHead(301, { Location: '/webhook/' }).end(),
  ),
  'refuses-with-400': wrongSignature(status(400)),
  'refuses-with-403': wrongSignature(status(403)),
  'refuses-with-404': wrongSignature(status(404)),
  'refuses-with-500': wrongSignature(status(500)),
  'refuses-with-200': wrongSignature(status(200, 'invalid signature')),
  'refuses-by-redirect': wrongSignature((res) => res.writeHead(302, { Location: '/login' }).end()),
  'refuses-by-hanging-up': wrongSignature((res) => res.destroy()),
  'fails-on-bodies-above-100-kb': looks((_req, raw) => (raw.length > 102_400 ? refuse(500)() : undefined)),
  'shows-expected-signature': wrongSignature((res, right, given) => {
    if (given !== null) res.writeHead(401).end(`signature mismatch: expected ${right}, got ${given}`);
  }),
  'expected-signature-in-header': wrongSignature((res, right) => res.writeHead(401, { 'X-Expected': right }).end()),
  'shows-right-key': (Base) =>
    class extends Base {
      protected override send(res: ServerResponse, code: number): void {
        const key = res.req.headers['x-api-key'];
        if (code !== 401 || key === undefined || equal(String(key), this.credentials.apiKey))
          return void super.send(res, code);
        res.writeHead(401, { 'Content-Type': 'text/plain' }).end(`expected ${this.credentials.apiKey}`);
      }
    },
  'echoes-headers-of-broken-json': (Base) =>
    class extends Base {
      protected override parse(raw: Buffer, req: IncomingMessage): unknown {
        if (peek(raw) === undefined) this.echo = JSON.stringify(req.headers);
        return super.parse(raw, req);
      }
      private echo = '';
      protected override send(res: ServerResponse, code: number): void {
        if (this.echo === '') return void super.send(res, code);
        res.writeHead(400, { 'Content-Type': 'application/json' }).end(this.echo);
        this.echo = '';
      }
    },
  'shows-stack-trace-of-broken-json': (Base) =>
    class extends Base {
      protected override async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
        try {
          await this.receive(req, res);
        } catch (error) {
          if (!(error instanceof SyntaxError)) return this.send(res, error instanceof Refusal ? error.status : 500);
          res.writeHead(400, { 'Content-Type': 'text/plain' }).end(error.stack);
        }
      }
      protected override parse(raw: Buffer): unknown {
        return JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(raw));
      }
    },
};
