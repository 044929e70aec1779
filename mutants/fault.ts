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
  /** False when neither the specification nor a ruling at level must forbids it. It may then only warn. */
  readonly forbidden?: false;
  /** Features without which the fault is not visible. Default: those of its area. */
  readonly needs?: readonly ('hmac' | 'api-key' | 'https' | 'mtls' | 'rotation' | 'effects' | 'restart')[];
  /** Set when the scenarios that detect it differ from run to run. Only those that fail in every run count. */
  readonly comesAndGoes?: true;
  /** Another fault that no probe can distinguish from this one, with the reason. */
  readonly equivalentTo?: { readonly name: string; readonly reason: string };
}

/** What a replacement may use. */
export interface FaultParts {
  /** The correct stages, to call or to wrap. */
  readonly correct: Pipeline;
  readonly config: ReceiverConfig;
  readonly handling: Handling;
  /** The secret after a rotation, if one follows. */
  readonly nextSecret: string | undefined;
  /** The material for HTTPS, if it is served. */
  readonly tls: ServerTls | undefined;
  /**
   * Imitates an uncaught exception under a supervisor: closes every connection, does not listen for `downMs`, then
   * listens again on the same port. `Infinity` stands for a process that is not restarted.
   */
  readonly crash: (downMs: number) => void;
}

/** A mutant of one stage. `replace` is called once per started receiver, so state in its closure is per process. */
export interface StageFault extends FaultRow {
  readonly stage: keyof Pipeline;
  readonly replace: (parts: FaultParts) => Stage;
  /**
   * Options of node:https. A mutant of the certificate check needs a handshake that accepts every client, because the
   * handshake would otherwise reject it first.
   */
  readonly options?: TlsOptions;
}

/** A mutant of the connection: how it listens, what it requests from clients, which certificate it serves. */
export interface ConnectionFault extends FaultRow {
  readonly stage: 'connection';
  /** Options of node:https. */
  readonly options?: TlsOptions;
  /** Changes the server before it listens. */
  readonly server?: (server: Server, parts: FaultParts) => void;
  /** Name of the faulty certificate that it serves. The caller supplies the material. */
  readonly certificate?: string;
}

/** What a mutant of the effects changes. Everything else is correct. */
interface EffectChanges {
  /** Replaces the handlers that record what each notification does. */
  readonly handlers?: Handlers;
  readonly handling?: Partial<HandlingPolicy>;
  /** Replaces the inbox that survives a restart. */
  readonly inbox?: Inbox;
  readonly stages?: (parts: FaultParts) => Partial<Pipeline>;
}

/**
 * A mutant in the handling of notifications, which only the effects window shows. `replace` is called for every
 * process, including after a restart, which the record survives.
 */
export interface EffectFault extends FaultRow {
  readonly area: 'effects';
  readonly stage: 'effects';
  readonly replace: (record: Pick<EffectsRecord, 'apply'>) => EffectChanges;
  /** Options of node:https. */
  readonly options?: TlsOptions;
}

/** Settings that a receiver could log. A setting that is not configured is an empty string. */
interface LoggedSettings {
  readonly secret: string;
  readonly apiKey: string;
  /** Header names in lower case. */
  readonly signatureHeader: string;
  readonly apiKeyHeader: string;
  /** Private key of the server, as PEM. */
  readonly tlsKey: string;
}

/** What a mutant writes to its log, without the last line end. */
interface LogText {
  /** Text written when it starts, including after a restart. */
  readonly start?: string;
  /** Text written when a delivery has ended; undefined writes nothing. */
  readonly delivery?: (report: DeliveryReport) => string | undefined;
}

/** A mutant that answers and handles correctly, but whose log contains what it must not contain. */
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
