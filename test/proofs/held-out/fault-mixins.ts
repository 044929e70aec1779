/** The faults of the bare receivers are mixins, so that two of them can be combined. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReceivedNotification } from '../../../contract/index.ts';
import type { BareReceiver, Credentials } from './bare-receiver.ts';

export type FaultMixin = (Base: typeof BareReceiver) => typeof BareReceiver;
export type FaultMixins = Readonly<Record<string, FaultMixin>>;

interface Known extends Credentials {
  readonly req: IncomingMessage;
  readonly raw: Buffer;
}

/** Verifies the signature over bytes other than the received ones. */
export function signs(other: (raw: Buffer, req: IncomingMessage) => Buffer | string): FaultMixin {
  return (Base) =>
    class extends Base {
      protected override signedBytes(raw: Buffer, req: IncomingMessage): Buffer {
        return Buffer.from(super.signedBytes(Buffer.from(other(raw, req)), req));
      }
    };
}

/** Changes the body for the check and all later steps. */
export function reads(other: (raw: Buffer, req: IncomingMessage) => Buffer | string): FaultMixin {
  return (Base) =>
    class extends Base {
      protected override async bodyOf(req: IncomingMessage): Promise<Buffer> {
        return Buffer.from(other(await super.bodyOf(req), req));
      }
    };
}

/** Verifies the bytes, and then something derived from them. */
export function alsoSigns(other: (raw: Buffer, req: IncomingMessage) => Buffer | string): FaultMixin {
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

/** Accepts the valid signature, and others for which `other` returns true. `valid` is the valid signature. */
export function alsoTakes(other: (given: string, valid: string, known: Known) => boolean): FaultMixin {
  return (Base) =>
    class extends Base {
      protected override signatureFits(given: string, raw: Buffer, req: IncomingMessage): boolean {
        const known = { ...this.credentials, req, raw };
        return super.signatureFits(given, raw, req) || other(given, this.signatureOf(raw), known);
      }
    };
}

/** Replaces the comparison of signatures. */
export function decidesBy(other: (given: string, valid: string, known: Known) => boolean): FaultMixin {
  return (Base) =>
    class extends Base {
      protected override signatureFits(given: string, raw: Buffer, req: IncomingMessage): boolean {
        return other(given, this.signatureOf(raw), { ...this.credentials, req, raw });
      }
    };
}

/** Skips the signature check under a condition. */
export function skipsSignature(when: (raw: Buffer, req: IncomingMessage, given: string | null) => boolean): FaultMixin {
  return (Base) =>
    class extends Base {
      protected override requireSignature(req: IncomingMessage, raw: Buffer): void | Promise<void> {
        if (when(raw, req, this.givenSignature(req, raw))) return;
        return super.requireSignature(req, raw);
      }
    };
}

/** Reads the signature from its header, and also elsewhere. */
export function findsSignature(
  elsewhere: (req: IncomingMessage, raw: Buffer) => string | null | undefined,
): FaultMixin {
  return (Base) =>
    class extends Base {
      protected override givenSignature(req: IncomingMessage, raw: Buffer): string | null {
        return super.givenSignature(req, raw) ?? elsewhere(req, raw) ?? null;
      }
    };
}

/** Replaces the comparison of API keys. */
export function keyBy(other: (given: string, valid: string, known: Known) => boolean): FaultMixin {
  return (Base) =>
    class extends Base {
      protected override keyFits(given: string, req: IncomingMessage, raw: Buffer | null): boolean {
        return other(given, this.credentials.apiKey, { ...this.credentials, req, raw: raw ?? Buffer.alloc(0) });
      }
    };
}

/** Reads the API key from its header, and also elsewhere. */
export function findsKey(elsewhere: (req: IncomingMessage) => string | null | undefined): FaultMixin {
  return (Base) =>
    class extends Base {
      protected override givenKey(req: IncomingMessage): string | null {
        return super.givenKey(req) ?? elsewhere(req) ?? null;
      }
    };
}

/** Skips the API key check under a condition, and runs it after reading the body. */
export function skipsKey(when: (req: IncomingMessage, raw: Buffer) => boolean): FaultMixin {
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

/** Adds partner code that may throw any exception for a valid notification. */
// biome-ignore lint/suspicious/noExplicitAny: the code of a partner that looks at nothing.
export function uses(code: (value: any, notification: ReceivedNotification) => unknown): FaultMixin {
  return (Base) =>
    class extends Base {
      protected override use(notification: ReceivedNotification, value: unknown): void {
        super.use(notification, value);
        code(value, notification);
      }
    };
}

/** Adds partner code that reads the JSON before any check and may throw any exception. */
// biome-ignore lint/suspicious/noExplicitAny: the code of a partner that looks at nothing.
export function usesUnchecked(code: (value: any) => unknown): FaultMixin {
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

/** Returns the value of an unverified body. Undefined if it is not JSON. */
// biome-ignore lint/suspicious/noExplicitAny: the code of a partner that looks at nothing.
export function peek(raw: Buffer): any {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
}
