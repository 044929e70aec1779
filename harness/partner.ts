/** The operator's configuration for one partner. Specification: What the service does; Authentication. */
import type { LookupFunction } from 'node:net';
import { type HeaderLine, HookproofError } from '../contract/index.ts';
import type { Scheme, SchemeSample } from '../contract/signing/index.ts';
import type { ControlKind, KnownSamples, RotatedSecret, RotationStep } from '../scenarios/index.ts';

/** A partner, as the sender sees it. Absent features are off. */
export interface Partner {
  /** The registered endpoint: http or https, with path and query. */
  readonly url: string;
  /**
   * How deliveries are signed. Without a `scheme`, in the scheme of the specification, where `header` defaults to
   * X-Service-Signature. A scheme names its own headers.
   */
  readonly signing?: { readonly secret: string; readonly header?: string; readonly scheme?: Scheme };
  /** In a scheme: the deliveries of the sender. Default: the samples of the scheme. */
  readonly deliveries?: readonly SchemeSample[];
  /** The secrets of a rotation, and its current step. `signing` has the secret for plain deliveries. */
  readonly rotation?: Readonly<Record<RotatedSecret, string>> & { readonly step: RotationStep };
  /** The API key. `header` defaults to X-API-Key. */
  readonly apiKey?: { readonly value: string; readonly header?: string };
  /** Custom headers, added to every delivery in this order. */
  readonly headers?: readonly HeaderLine[];
  /** PEM material: a client certificate with its key, and CAs to trust in addition to the default ones. */
  readonly tls?: {
    readonly clientCert?: string;
    readonly clientKey?: string;
    readonly passphrase?: string;
    readonly ca?: string;
  };
  /** The number of decimals of each asset that the receiver supports, for the checks of amounts. */
  readonly decimals?: Readonly<Record<string, number>>;
  /** Ids that the receiver looks up, and fields that it needs. If absent, it accepts any id. */
  readonly samples?: KnownSamples;
  /** The kind of plain valid deliveries if the endpoint rejects a completed BUY. Set by the run. */
  readonly control?: ControlKind;
  /**
   * The lookup of the pinned host, from {@link pinEndpoint}. If absent, the system's resolver is used for each
   * connection.
   */
  readonly lookup?: LookupFunction;
}

/** Returns the deliveries of the sender: the configured ones, or the samples of its scheme. Empty without a scheme. */
export function samplesOf({ deliveries, signing }: Pick<Partner, 'deliveries' | 'signing'>): readonly SchemeSample[] {
  return deliveries ?? signing?.scheme?.samples ?? [];
}

/** Returns the secrets that are currently valid: one or two during a rotation. */
export function validSecrets({ signing, rotation }: Pick<Partner, 'signing' | 'rotation'>): string[] {
  if (rotation === undefined) return signing === undefined ? [] : [signing.secret];
  return [...(rotation.step === 'new' ? [] : [rotation.old]), ...(rotation.step === 'old' ? [] : [rotation.next])];
}

/** Returns every secret of a partner, valid or not, for redaction. */
export function everySecret({ signing, rotation }: Pick<Partner, 'signing' | 'rotation'>): string[] {
  return [...new Set([signing?.secret ?? [], rotation?.old ?? [], rotation?.next ?? []].flat())];
}

/**
 * Throws unless a credential is configured, because a forgotten secret would look like a faulty or an open receiver.
 * `hint` says how to configure one, or how to state that none is needed.
 *
 * @throws HookproofError NO_CREDENTIALS of kind `no-verdict`, before anything is sent
 */
export function requireCredentials({ signing, apiKey }: Pick<Partner, 'signing' | 'apiKey'>, hint: string): void {
  if (signing !== undefined || apiKey !== undefined) return;
  const message =
    'nothing was sent: neither a secret nor an API key is configured, so authentication cannot be checked';
  throw new HookproofError('NO_CREDENTIALS', message, { kind: 'no-verdict', hint });
}
