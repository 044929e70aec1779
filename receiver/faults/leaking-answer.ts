/** How answers come to give something away: other code answers in place of the right refusal. Shared by the mutants of the area. */
import { createHmac } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Request, Response } from 'express';
import { checkApiKey } from '../check-api-key.ts';
import type { ReceiverConfig } from '../options.ts';
import type { Pipeline } from '../pipeline.ts';
import { requestHeader } from '../stages/request-header.ts';
import { refuseUnauthorized, required } from '../stages/stage.ts';
import { type SignatureCheck, verifySignature } from '../verify-signature.ts';
import type { StageFault } from './fault.ts';

type Replacement = StageFault['replace'];

/** An answer: an object is sent as JSON, a text as HTML. `phrase` stands behind the status. */
export interface Page {
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly phrase?: string;
}

/** Sends a page. JSON is written with indents, as error pages do it. */
export function show(
  res: Response,
  status: number,
  { body, headers, phrase = STATUS_CODES[status] ?? '' }: Page,
): void {
  const html = typeof body === 'string';
  const bytes = Buffer.from(html ? body : JSON.stringify(body, null, 2));
  res.writeHead(status, phrase, {
    'Content-Type': html ? 'text/html; charset=utf-8' : 'application/json',
    'Content-Length': bytes.length,
    ...headers,
  });
  res.end(bytes);
}

/** What a handler for errors knows of the request that failed. */
export interface Failed {
  readonly req: Request;
  readonly config: ReceiverConfig;
  /** The body, where it was read before. */
  readonly rawBody: Buffer | undefined;
}

/** The right stage, except that its answers with this status have another page. The later stages answer as ever. */
export function showingInstead(stage: keyof Pipeline, status: number, page: (failed: Failed) => Page): Replacement {
  return ({ right, config }) =>
    (req, res, next) => {
      const restore = () => {
        for (const name of ['writeHead', 'end']) Reflect.deleteProperty(res, name);
      };
      const writeHead = res.writeHead.bind(res) as (code: number, ...rest: unknown[]) => typeof res;
      res.writeHead = (code: number, ...rest: unknown[]) => {
        if (code !== status) return writeHead(code, ...rest);
        res.end = () => {
          restore();
          show(res, status, page({ req, config, rawBody: res.locals.rawBody }));
          return res;
        };
        return res;
      };
      return right[stage](req, res, (error?: unknown) => {
        restore();
        next(error);
      });
    };
}

/** A signature that was refused. */
export interface RefusedSignature extends Failed {
  readonly reason: Extract<SignatureCheck, { ok: false }>['reason'];
  readonly presented: string | string[] | undefined;
  /** The digest that would have been right. */
  readonly expected: Buffer;
}

/** The right check of signatures, except that `page` answers what it refuses. Null: the right answer. */
export function refusingSignature(page: (refused: RefusedSignature) => Page | null): Replacement {
  return ({ right, config }) => {
    const { signing } = config;
    if (signing === undefined) return right.verifySignature;
    return (req, res, next) => {
      const rawBody = required(res, 'rawBody');
      const presented = requestHeader(req, signing.header);
      const result = verifySignature({ rawBody, header: presented, secrets: signing.secrets });
      if (result.ok) return next();
      const expected = createHmac('sha256', signing.secrets[0] ?? '')
        .update(rawBody)
        .digest();
      const shown = page({ req, config, rawBody, reason: result.reason, presented, expected });
      if (shown === null) refuseUnauthorized(res, `signature-${result.reason}`);
      else show(res, 401, shown);
    };
  };
}

/** The right check of API keys, except that `page` answers what it refuses. Null: the right answer. */
export function refusingKey(
  page: (refused: { presented: string | undefined; keys: readonly string[]; req: Request }) => Page | null,
): Replacement {
  return ({ right, config }) => {
    const { apiKey } = config;
    if (apiKey === undefined) return right.checkApiKey;
    return (req, res, next) => {
      const header = requestHeader(req, apiKey.header);
      const result = checkApiKey({ header, keys: apiKey.keys });
      if (result.ok) return next();
      const presented = typeof header === 'string' && header !== '' ? header : undefined;
      const shown = page({ presented, keys: apiKey.keys, req });
      if (shown === null) refuseUnauthorized(res, `api-key-${result.reason}`);
      else show(res, 401, shown);
    };
  };
}
