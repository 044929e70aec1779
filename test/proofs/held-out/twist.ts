/** How the faults of the bare receivers are written: a class on top of a class, so that two of them can be put on top of each other. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReceivedNotification } from '../../../contract/index.ts';
import type { BareReceiver, Credentials } from './bare-receiver.ts';

export type Twist = (Base: typeof BareReceiver) => typeof BareReceiver;
export type Twists = Readonly<Record<string, Twist>>;

interface Known extends Credentials {
  readonly req: IncomingMessage;
  readonly raw: Buffer;
}

/** The signature is over something else than the bytes that came. */
export function signs(other: (raw: Buffer, req: IncomingMessage) => Buffer | string): Twist {
  return (Base) =>
    class extends Base {
      protected override signedBytes(raw: Buffer, req: IncomingMessage): Buffer {
        return Buffer.from(super.signedBytes(Buffer.from(other(raw, req)), req));
      }
    };
}

/** The body is changed on its way in, for the check and for what comes after it. */
export function reads(other: (raw: Buffer, req: IncomingMessage) => Buffer | string): Twist {
  return (Base) =>
    class extends Base {
      protected override async bodyOf(req: IncomingMessage): Promise<Buffer> {
        return Buffer.from(other(await super.bodyOf(req), req));
      }
    };
}

/** Where the bytes do not fit, something made of them is tried too. */
export function alsoSigns(other: (raw: Buffer, req: IncomingMessage) => Buffer | string): Twist {
  return (Base) =>
    class extends Base {
      protected override signatureFits(given: string, bytes: Buffer, req: IncomingMessage): boolean {
        if (super.signatureFits(given, bytes, req)) return true;
        try {
          return super.signatureFits(given, Buffer.from(other(bytes, req)), req);
        } catch {
          return false;
        }
      }
    };
}

/** Another signature is accepted beside the right one. `right` is the right one. */
export function alsoTakes(other: (given: string, right: string, known: Known) => boolean): Twist {
  return (Base) =>
    class extends Base {
      protected override signatureFits(given: string, raw: Buffer, req: IncomingMessage): boolean {
        const known = { ...this.credentials, req, raw };
        return super.signatureFits(given, raw, req) || other(given, this.signatureOf(raw), known);
      }
    };
}

/** What decides on the signature is this alone. */
export function decidesBy(other: (given: string, right: string, known: Known) => boolean): Twist {
  return (Base) =>
    class extends Base {
      protected override signatureFits(given: string, raw: Buffer, req: IncomingMessage): boolean {
        return other(given, this.signatureOf(raw), { ...this.credentials, req, raw });
      }
    };
}

/** The signature is not looked at when this holds. */
export function skipsSignature(when: (raw: Buffer, req: IncomingMessage, given: string | null) => boolean): Twist {
  return (Base) =>
    class extends Base {
      protected override requireSignature(req: IncomingMessage, raw: Buffer): void | Promise<void> {
        if (when(raw, req, this.givenSignature(req, raw))) return;
        return super.requireSignature(req, raw);
      }
    };
}

/** The signature is looked for elsewhere too. */
export function findsSignature(elsewhere: (req: IncomingMessage, raw: Buffer) => string | null | undefined): Twist {
  return (Base) =>
    class extends Base {
      protected override givenSignature(req: IncomingMessage, raw: Buffer): string | null {
        return super.givenSignature(req, raw) ?? elsewhere(req, raw) ?? null;
      }
    };
}

/** What decides on the API key is this alone. */
export function keyBy(other: (given: string, right: string, known: Known) => boolean): Twist {
  return (Base) =>
    class extends Base {
      protected override keyFits(given: string, req: IncomingMessage, raw: Buffer | null): boolean {
        return other(given, this.credentials.apiKey, { ...this.credentials, req, raw: raw ?? Buffer.alloc(0) });
      }
    };
}

/** The API key is looked for elsewhere too. */
export function findsKey(elsewhere: (req: IncomingMessage) => string | null | undefined): Twist {
  return (Base) =>
    class extends Base {
      protected override givenKey(req: IncomingMessage): string | null {
        return super.givenKey(req) ?? elsewhere(req) ?? null;
      }
    };
}

/** The API key is not looked at when this holds; it is looked at behind the body. */
export function skipsKey(when: (req: IncomingMessage, raw: Buffer) => boolean): Twist {
  return (Base) =>
    class extends Base {
      protected override requireKey(req: IncomingMessage, raw: Buffer | null): void {
        if (raw !== null && !when(req, raw)) super.requireKey(req, raw);
      }
      protected override async authenticate(req: IncomingMessage, raw: Buffer): Promise<void> {
        await super.authenticate(req, raw);
        this.requireKey(req, raw);
      }
    };
}

/** The partner's code stumbles over a right notification: it throws what it will. */
// biome-ignore lint/suspicious/noExplicitAny: the code of a partner that looks at nothing.
export function uses(code: (value: any, notification: ReceivedNotification) => unknown): Twist {
  return (Base) =>
    class extends Base {
      protected override use(notification: ReceivedNotification, value: unknown): void {
        super.use(notification, value);
        code(value, notification);
      }
    };
}

/** The partner's code looks into the JSON before anything has checked it: it throws what it will. */
// biome-ignore lint/suspicious/noExplicitAny: the code of a partner that looks at nothing.
export function usesUnchecked(code: (value: any) => unknown): Twist {
  return (Base) =>
    class extends Base {
      protected override understand(value: unknown, res: ServerResponse): ReceivedNotification {
        if (typeof value === 'object' && value !== null) code(value);
        return super.understand(value, res);
      }
    };
}

export function equal(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export const queryOf = (req: IncomingMessage) => new URL(req.url ?? '/', 'http://localhost').searchParams;

/** The value of a body that is read before it is trusted; undefined when it is no JSON. */
// biome-ignore lint/suspicious/noExplicitAny: the code of a partner that looks at nothing.
export function peek(raw: Buffer): any {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
}
