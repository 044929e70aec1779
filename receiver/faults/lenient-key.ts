/** Key checks that are wrong in one point: how they compare, what else they take, or how they refuse. */
import type { NextFunction, Request, Response } from 'express';
import { checkApiKey } from '../check-api-key.ts';
import { requestHeader } from '../stages/request-header.ts';
import { type DeliveryState, refuseUnauthorized } from '../stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';

type Replace = StageFault['replace'];
type ApiKeyConfig = NonNullable<FaultParts['config']['apiKey']>;

/** What a wrong key check sees of one delivery. */
export interface KeyedDelivery {
  readonly req: Request;
  readonly res: Response<unknown, DeliveryState>;
  readonly next: NextFunction;
  /** The header as the right check reads it: an array when it was repeated. */
  readonly given: string | readonly string[] | undefined;
  readonly config: ApiKeyConfig;
}

/** Refuses a missing, an empty and a repeated header, and compares any other with each key in its own way. What it throws is answered 500. */
export function comparesKeys(matches: (given: string, key: string) => boolean): Replace {
  return ({ right, config: { apiKey } }) => {
    if (apiKey === undefined) return right.checkApiKey;
    return (req, res, next) => {
      const given = requestHeader(req, apiKey.header);
      if (typeof given !== 'string' || given === '') return refuseUnauthorized(res, 'api-key-missing');
      if (!apiKey.keys.some((key) => matches(given, key))) return refuseUnauthorized(res, 'api-key-wrong');
      next();
    };
  };
}

/** Lets some deliveries pass without the right check, and gives all others to it. */
export function alsoAccepts(accepts: (delivery: KeyedDelivery, parts: FaultParts) => boolean): Replace {
  return (parts) => {
    const { right, config } = parts;
    const { apiKey } = config;
    if (apiKey === undefined) return right.checkApiKey;
    return (req, res, next) => {
      const delivery = { req, res, next, given: requestHeader(req, apiKey.header), config: apiKey };
      return accepts(delivery, parts) ? next() : right.checkApiKey(req, res, next);
    };
  };
}

/** Checks rightly, and then refuses in its own way. */
export function refusesKeys(refuseWrong: (delivery: KeyedDelivery, parts: FaultParts) => void): Replace {
  return (parts) => {
    const { right, config } = parts;
    const { apiKey } = config;
    if (apiKey === undefined) return right.checkApiKey;
    return (req, res, next) => {
      const given = requestHeader(req, apiKey.header);
      if (checkApiKey({ header: given, keys: apiKey.keys }).ok) return next();
      refuseWrong({ req, res, next, given, config: apiKey }, parts);
    };
  };
}
