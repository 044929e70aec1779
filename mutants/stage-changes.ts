/** Helpers with which mutants change a correct stage. */
import type { Request, Response } from 'express';
import type { Pipeline } from '../receiver/create-receiver.ts';
import type { ReceiverConfig } from '../receiver/options.ts';
import { answer, type DeliveryState, refuse, requestHeader, required, type Stage } from '../receiver/stages/stage.ts';
import { type SignatureCheck, verifySignature } from '../receiver/verify-signature.ts';
import type { FaultParts, StageFault } from './fault.ts';

/** A stage and its replacement, for the row of a mutant. */
export type StageChange = Pick<StageFault, 'stage' | 'replace'>;

/** Handles the requests that a mutant treats differently. */
export type Handle = (...parts: [...Parameters<Stage>, FaultParts]) => void;

/** Runs the correct stage, but passes requests for which `isAffected` returns true to `handle`. */
export function exceptFor(
  stage: keyof Pipeline,
  isAffected: (req: Request, config: ReceiverConfig) => boolean,
  handle: Handle,
): StageChange {
  const replace: StageFault['replace'] = (parts) => (req, res, next) =>
    isAffected(req, parts.config) ? handle(req, res, next, parts) : parts.correct[stage](req, res, next);
  return { stage, replace };
}

export const withAnswer =
  (...given: [status: number, body: object, headers?: Record<string, string>]): Handle =>
  (_req, res) =>
    answer(res, ...given);

export const withRefusal =
  (status: number, error: string, headers: Record<string, string> = {}): Handle =>
  (_req, res) =>
    refuse(res, status, error, { headers });

/** Throws an error, to which Express answers 500. */
export const withError =
  (message: string): Handle =>
  (_req, _res, next) =>
    next(new TypeError(message));

export const withReset: Handle = (req) => void req.socket.destroy();

export const withCrash: Handle = (_req, _res, _next, { crash }) => crash(100);

/** An invalid signature: why it is rejected, and the value of its header. */
export interface InvalidSignature {
  readonly req: Request;
  readonly reason: Extract<SignatureCheck, { ok: false }>['reason'];
  readonly presented: string | string[] | undefined;
}

/** Runs the correct check of signatures, but answers invalid and missing ones with `respond`. */
export function answerInvalidSignature(
  respond: (res: Response<unknown, DeliveryState>, rejected: InvalidSignature) => void,
): StageFault['replace'] {
  return ({ correct, config: { signing } }) => {
    if (signing === undefined) return correct.requireSignature;
    return (req, res, next) => {
      const presented = requestHeader(req, signing.header);
      const check = verifySignature({ rawBody: required(res, 'rawBody'), header: presented, secrets: signing.secrets });
      if (check.ok) next();
      else respond(res, { req, reason: check.reason, presented });
    };
  };
}
