/** What a signing scheme is, as data. Every function of this folder works for any literal of this type. */
import type { HeaderLine } from '../../delivery.ts';

/** A text with placeholders in braces. */
export type Template = string;

/** A status, or a class of statuses. */
type SchemeStatus = number | '2xx' | '4xx';

/** A delivery of the service, without the headers that sign it. */
export interface SchemeSample {
  readonly name: string;
  /** Headers that say what the delivery is: a topic, the name of an event, a Content-Type. */
  readonly headers: readonly HeaderLine[];
  readonly body: string | Uint8Array;
}

/** How a signature of another header is made, over the same bytes and with the same key. */
type OlderSignature = Pick<Scheme, 'signature'> & { readonly algorithm: 'sha1' | 'sha256' | 'sha512' };

/** How a service signs the webhooks that it sends. */
export interface Scheme {
  /** The name in commands, settings and findings. */
  readonly name: string;
  readonly title: string;
  /** The public documentation of the scheme. Absent for the service of the specification. */
  readonly documentation?: string;
  /** The value of each header: a template over `{signature}`, `{timestamp}` and `{id}`. */
  readonly headers: Readonly<Record<string, Template>>;
  /** The signed bytes: a template over `{body}`, `{timestamp}`, `{id}` and `{url}`. */
  readonly signed: Template;
  readonly algorithm: 'sha1' | 'sha256' | 'sha512' | 'ed25519';
  readonly encoding: 'base64' | 'hex';
  /** How the key is made from the secret: a prefix that is removed, and the encoding of the rest. */
  readonly secret: { readonly prefix?: string; readonly encoding: 'utf8' | 'base64' };
  /** One signature: a template over `{value}`. */
  readonly signature: Template;
  /** What separates several signatures in a header. Without it, there is only one. */
  readonly separator?: string;
  /** The greatest difference between the timestamp and the receiver's clock, in seconds, if receivers must check it. */
  readonly toleranceSeconds?: number;
  /** Set if only the age of a delivery is limited, so that a time in the future is never rejected. */
  readonly isFutureUnlimited?: true;
  /** By header, the older signatures that the sender adds to every delivery. Receivers need not verify them. */
  readonly olderSignatures?: Readonly<Record<string, OlderSignature>>;
  /** Other headers in which receivers of the service may read the same signature. */
  readonly aliases?: readonly string[];
  /** Fields of forms with which the service asks for an answer without a signature, such as `ssl_check`. */
  readonly handshakes?: readonly string[];
  /** The answers with which a receiver accepts and rejects a delivery. */
  readonly accepts: readonly SchemeStatus[];
  readonly rejects: readonly SchemeStatus[];
  /** Small deliveries as the service sends them. Empty for the service of the specification, whose kinds are known. */
  readonly samples: readonly SchemeSample[];
}

/**
 * Returns what defines a scheme: what decides whether a delivery is valid in it, and whether its receiver answers
 * correctly.
 */
export function definitionOf(scheme: Scheme): Omit<Scheme, 'title' | 'documentation' | 'samples'> {
  const { title: _, documentation: __, samples: ___, ...definition } = scheme;
  return definition;
}

/** Returns whether a status is one of these, or in one of these classes. */
export function hasStatus(statuses: readonly SchemeStatus[], status: number): boolean {
  return statuses.some((one) => one === status || one === `${Math.floor(status / 100)}xx`);
}

/** What a scheme signs, apart from the secret. */
export interface SchemeInput {
  readonly body: Uint8Array;
  readonly url: string;
  /** Message id. */
  readonly id: string;
  /** Time of the message, in epoch seconds. A text is signed and sent as it is. */
  readonly timestamp: number | string;
}
