/**
 * What a mutant is: the reference receiver with exactly one stage replaced by one that is wrong, in the way in which real receivers are
 * wrong. Mutants prove the harness: each has to be found, and by its name a report can say which mistake a partner made.
 */
import type { Server } from 'node:http';
import type { TlsOptions } from 'node:tls';
import type { Stack } from '../../contract/index.ts';
import type { Pipeline } from '../create-receiver.ts';
import type { Handling } from '../handling/handling.ts';
import type { ReceiverConfig } from '../options.ts';
import type { ServerTls } from '../server/tls.ts';
import type { Stage } from '../stages/stage.ts';

export const FAULT_AREAS = [
  'raw-body',
  'signature',
  'api-key',
  'combination',
  'payload',
  'http',
  'delivery',
  'leaks',
  'tls',
  'mtls',
] as const;
type FaultArea = (typeof FAULT_AREAS)[number];

interface FaultText {
  /** Stable, kebab-case, never reused: what the receiver does wrong ("verifies-reserialised-json"). */
  readonly name: string;
  readonly area: FaultArea;
  /** What is wrong: one sentence with a full stop. */
  readonly title: string;
  /** Where it is seen in the wild: kinds of code and products, in a sentence. */
  readonly seen: string;
  /** What goes wrong in production. */
  readonly why: string;
  /** How to mend it: the rule for every stack, Express (what the reference receiver uses), and stacks where it differs. */
  readonly fix: { readonly rule: string; readonly express: string } & Partial<
    Record<Exclude<Stack, 'express'>, string>
  >;
  readonly severity: 'critical' | 'high' | 'medium' | 'low';
  /** Whether the specification (or a ruling at level must) forbids it. What is not forbidden may only ever warn. */
  readonly forbidden: boolean;
  /** Shows only with these features on. Absent: whatever its area says. */
  readonly needs?: readonly ('hmac' | 'api-key' | 'https' | 'mtls')[];
  /** Which scenarios show it differs from run to run; that it shows does not. Only what is red in every run says something about it. */
  readonly comesAndGoes?: true;
  /** The name of another fault that no probe can tell from this one, with the reason. */
  readonly equivalentTo?: { readonly name: string; readonly reason: string };
}

/** What a replacement may use. */
export interface FaultParts {
  /** The right stages, to call or to wrap. */
  readonly right: Pipeline;
  readonly config: ReceiverConfig;
  readonly handling: Handling;
  /** The material for HTTPS, when it is served. */
  readonly tls: ServerTls | undefined;
  /**
   * What an uncaught exception does to a process under a supervisor: every connection is cut, nothing listens for `downMs`, then it listens
   * again on the same port; `Infinity` for a process that stays down.
   */
  readonly crash: (downMs: number) => void;
}

/** A mutant of one receiving stage. `replace` is called once for each receiver that is started, so state in its closure is per process. */
export interface StageFault extends FaultText {
  readonly stage: keyof Pipeline;
  readonly replace: (parts: FaultParts) => Stage;
  /**
   * Options of node:https in place of the right ones, for a check of client certificates that is no check at all when the handshake refuses
   * first: to let everyone in and to look afterwards is one decision.
   */
  readonly options?: TlsOptions;
}

/** A mutant of the connection: how it listens, what it asks of clients, which certificate it shows. */
export interface ConnectionFault extends FaultText {
  readonly stage: 'connection';
  /** Options of node:https in place of the right ones. */
  readonly options?: TlsOptions;
  /** Changes the server before it listens. */
  readonly server?: (server: Server, parts: FaultParts) => void;
  /** The name of the faulty certificate that it serves; whoever starts it supplies the material. */
  readonly certificate?: string;
}

export type Fault = StageFault | ConnectionFault;

/** The text of a fault without its code, in a fixed order: a line of `scenarios/fault-texts.json`. */
export function textOf(fault: Fault): Omit<FaultText, 'needs' | 'comesAndGoes'> {
  const { name, area, title, seen, why, fix, severity, forbidden, equivalentTo } = fault;
  const { rule, express, ...others } = fix;
  const stacks = Object.fromEntries(Object.entries(others).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return {
    name,
    area,
    title,
    seen,
    why,
    fix: { rule, express, ...stacks },
    severity,
    forbidden,
    ...(equivalentTo && { equivalentTo: { name: equivalentTo.name, reason: equivalentTo.reason } }),
  };
}
