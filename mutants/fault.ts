/**
 * A mutant is the reference receiver with exactly one stage replaced by a faulty one, as found in real receivers.
 * Mutants test the harness: it must detect each of them, and a report names the mutant that an endpoint behaves like.
 */
import type { Server } from 'node:http';
import type { TlsOptions } from 'node:tls';
import type { MistakeReference } from '../contract/mistakes/index.ts';
import type { Pipeline } from '../receiver/create-receiver.ts';
import type { DeliveryReport } from '../receiver/delivery-report.ts';
import type { EffectsRecord } from '../receiver/effects/effects-record.ts';
import type { Handlers, HandlingPolicy } from '../receiver/handling/handlers.ts';
import type { Handling } from '../receiver/handling/handling.ts';
import type { Inbox } from '../receiver/inbox/inbox.ts';
import type { ReceiverConfig } from '../receiver/options.ts';
import type { ServerTls } from '../receiver/server/tls.ts';
import type { Stage } from '../receiver/stages/stage.ts';

export const FAULT_AREAS = [
  'raw-body',
  'signature',
  'rotation',
  'api-key',
  'combination',
  'payload',
  'http',
  'delivery',
  'leaks',
  'effects',
  'log',
  'tls',
  'mtls',
] as const;
type FaultArea = (typeof FAULT_AREAS)[number];

interface FaultRow extends MistakeReference {
  /** Stable name in kebab-case, never reused: "verifies-reserialised-json". */
  readonly name: string;
  readonly area: FaultArea;
  /** The fault as behaviour of the receiver, without a full stop: "Verifies the signature over re-serialised JSON". */
  readonly title: string;
  /**
   * False if neither the specification nor a ruling at level *must* forbids the fault. A check may then only warn about
   * it.
   */
  readonly forbidden?: false;
  /** Features without which the fault cannot be observed. Default: those of its area. */
  readonly needs?: readonly ('hmac' | 'api-key' | 'https' | 'mtls' | 'rotation' | 'effects' | 'restart')[];
  /** Set if the scenarios that detect the fault differ between runs. Only those that fail in every run count. */
  readonly comesAndGoes?: true;
  /** Another fault that no probe can distinguish from this one, with the reason. */
  readonly equivalentTo?: { readonly name: string; readonly reason: string };
}

/** What a replaced stage may use. */
export interface FaultParts {
  /** The correct stages, to call or to wrap. */
  readonly correct: Pipeline;
  readonly config: ReceiverConfig;
  readonly handling: Handling;
  /** The secret that is valid after a rotation, if there is one. */
  readonly nextSecret: string | undefined;
  /** The TLS material, if the receiver serves HTTPS. */
  readonly tls: ServerTls | undefined;
  /**
   * Imitates an uncaught exception under a supervisor: closes every connection, does not listen for `downMs`
   * milliseconds, then listens again on the same port. `Infinity` imitates a process that is not restarted.
   */
  readonly crash: (downMs: number) => void;
}

/**
 * A mutant of one stage. `replace` is called once for each started receiver, so the state in its closure belongs to one
 * process.
 */
export interface StageFault extends FaultRow {
  readonly stage: keyof Pipeline;
  readonly replace: (parts: FaultParts) => Stage;
  /**
   * Options for node:https. The handshake of a mutant of the certificate check must accept every client. Otherwise, it
   * would reject clients before the check.
   */
  readonly options?: TlsOptions;
}

/**
 * A mutant of the connection: of how the receiver listens, what it requests from clients, or which certificate it
 * serves.
 */
export interface ConnectionFault extends FaultRow {
  readonly stage: 'connection';
  /** Options of node:https. */
  readonly options?: TlsOptions;
  /** Changes the server before it listens. */
  readonly server?: (server: Server, parts: FaultParts) => void;
  /** Name of the faulty certificate that the mutant serves. The caller supplies the certificate and its key. */
  readonly certificate?: string;
}

/** What a mutant of the effects changes. Everything else is correct. */
interface EffectChanges {
  /** Replaces the handlers, which record the effect of each notification. */
  readonly handlers?: Handlers;
  readonly handling?: Partial<HandlingPolicy>;
  /** Replaces the inbox that survives a restart. */
  readonly inbox?: Inbox;
  readonly stages?: (parts: FaultParts) => Partial<Pipeline>;
}

/**
 * A mutant in the handling of notifications, which only the effects window shows. `replace` is called for every
 * process, including after a restart. The effects record survives restarts.
 */
export interface EffectFault extends FaultRow {
  readonly area: 'effects';
  readonly stage: 'effects';
  readonly replace: (record: Pick<EffectsRecord, 'apply'>) => EffectChanges;
  /** Options of node:https. */
  readonly options?: TlsOptions;
}

/** Settings that a receiver could log. Settings that are not configured are empty strings. */
interface LoggedSettings {
  readonly secret: string;
  readonly apiKey: string;
  /** Header names in lower case. */
  readonly signatureHeader: string;
  readonly apiKeyHeader: string;
  /** Private key of the server, as PEM. */
  readonly tlsKey: string;
}

/** What a mutant writes to its log. A line break is added at the end. */
interface LogText {
  /** The text to write when the receiver starts, including after a restart. */
  readonly start?: string;
  /** Returns the text to write when a delivery has ended. Nothing is written if the text is undefined. */
  readonly delivery?: (report: DeliveryReport) => string | undefined;
}

/** A mutant that answers and handles notifications correctly, but whose log reveals what a log must not contain. */
export interface LogFault extends FaultRow {
  readonly area: 'log';
  readonly stage: 'log';
  readonly logs: (settings: LoggedSettings) => LogText;
  /** Options of node:https. */
  readonly options?: TlsOptions;
}

export type Fault = StageFault | ConnectionFault | EffectFault | LogFault;

/** Returns the fields that the fault dictionary contains for a mutant in addition to its outcomes. */
export function describeFault({ name, area, title, mistake, note, forbidden, equivalentTo }: Fault) {
  return {
    name,
    area,
    title,
    mistake,
    ...(note !== undefined && { note }),
    ...(forbidden === false && { forbidden }),
    ...(equivalentTo && { equivalentTo: { name: equivalentTo.name, reason: equivalentTo.reason } }),
  };
}
