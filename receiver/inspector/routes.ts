/** The HTTP routes of the inspector. Responses are never cached, and other pages cannot read them. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import { PAGE_HEADERS } from '../../contract/browser-requests.ts';
import { type ForwardedExchange, type HeaderLine, HookproofError } from '../../contract/index.ts';
import { readPackageFile } from '../../contract/package-file.ts';
import { type DeliveryView, type ViewConfig, viewDelivery } from './delivery-view.ts';
import type { EventStreams } from './event-streams.ts';
import { recordForwarded } from './forwarded.ts';
import type { Guard } from './guard.ts';
import type { RecordedDelivery, Recorder } from './recorder.ts';
import type { Summarise } from './summary.ts';

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  ...PAGE_HEADERS,
} as const;

/** Maximum number of cached views. Each contains copies of a body. */
const KEPT_VIEWS = 20;
/** Number of bytes to search before pausing to let the receiver process deliveries. */
const BYTES_PER_TURN = 256 * 1024;
const NOT_KEPT = 'The bytes of this delivery are not kept.';
/** Maximum length of a search text. Further characters are ignored. */
const MAX_QUERY = 200;
/** Maximum size of the edit of a delivery as JSON, in bytes. */
const MAX_EDIT = 2 * 1024 * 1024;
const FRAMING = 'Remove `Content-Length` and `Transfer-Encoding`: the length is set from the body.';
const NOT_EDITABLE = 'This request cannot be edited: it is not one complete HTTP/1 request.';

interface RouteParts {
  readonly guard: Guard;
  readonly files: ReadonlyMap<string, PageFile>;
  readonly recorder: Recorder;
  readonly summarise: Summarise;
  readonly streams: EventStreams;
  readonly config: ViewConfig;
  readonly forwarding: Forwarding | undefined;
}

/** What a person has changed in a delivery. Each header replaces all headers with the same name. */
interface DeliveryEdit {
  readonly headers: readonly HeaderLine[];
  readonly body?: Buffer | undefined;
}

/** Actions that a proxy offers for the deliveries that it has forwarded. */
export interface Forwarding {
  /**
   * Sends the bytes again, with an edit, and with a new signature if `sign` is set. Resolves with the exchange; null if
   * the bytes cannot be edited. Never rejects.
   */
  readonly replay: (
    raw: Buffer,
    options: { readonly id: string; readonly sign: boolean; readonly edit?: DeliveryEdit | undefined },
  ) => Promise<ForwardedExchange | null>;
  /**
   * Returns a shell script that sends the request with curl, without credentials. Returns null when curl cannot send
   * it.
   */
  readonly curl: (raw: Buffer) => string | null;
}

export class InspectorRoutes {
  readonly #parts: RouteParts;
  readonly #views = new Map<RecordedDelivery, Promise<DeliveryView>>();
  readonly #bodies = new WeakMap<RecordedDelivery, Promise<Buffer>>();
  /** Resolves when the most recently queued work has ended. */
  #lastWork: Promise<unknown> = Promise.resolve();

  constructor(parts: RouteParts) {
    this.#parts = parts;
  }

  answer(req: IncomingMessage, res: ServerResponse): void {
    this.#route(req, res).catch(() => {
      if (res.headersSent) res.destroy();
      else sendText(res, 500, 'The inspector failed. Deliveries are not affected.');
    });
  }

  async #route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { guard, files, recorder } = this.#parts;
    const asked = guard.check(req);
    if ('status' in asked) return sendText(res, asked.status, asked.text);
    const { path, query, isAction } = asked;
    if (isAction) return this.#replayDelivery(req, res, path, query);
    const file = files.get(path === '' ? 'index.html' : path);
    if (file !== undefined) return send(res, 200, file.type, file.content);
    if (path === 'events') return this.#openStream(req, res, query);
    if (path === 'search') return this.#search(res, query);
    const [, id = '', rest = ''] = /^deliveries\/([\w-]+)(\/body|\/curl)?$/.exec(path) ?? [];
    const delivery = recorder.get(recorder.numberOf(id) ?? -1);
    if (delivery === undefined) return sendText(res, 404, 'Not found, or no longer kept.');
    if (rest === '') return sendJson(res, await this.#viewOf(delivery));
    if (rest === '/curl') return this.#sendCurl(res, delivery);
    return this.#sendBody(res, delivery, id);
  }

  /** Replays a delivery, unchanged or edited. This is the only action. */
  async #replayDelivery(
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
    query: URLSearchParams,
  ): Promise<void> {
    const { recorder, config, forwarding } = this.#parts;
    const id = /^deliveries\/([\w-]+)\/replay$/.exec(path)?.[1] ?? '';
    const raw = recorder.get(recorder.numberOf(id) ?? -1)?.forwarded?.raw;
    if (raw === undefined || forwarding === undefined) return sendText(res, 404, NOT_KEPT);
    const edit = readEdit(await bodyOf(req));
    if (typeof edit === 'string') return sendText(res, 400, edit);
    const exchange = await forwarding.replay(raw, { id, sign: query.get('sign') === '1', edit });
    if (exchange === null) return sendText(res, 400, NOT_EDITABLE);
    const delivery = recorder.add((number, maxBytes) => recordForwarded(exchange, config, number, maxBytes));
    sendJson(res, { id: recorder.idOf(delivery) });
  }

  #sendCurl(res: ServerResponse, { forwarded }: RecordedDelivery): void {
    const { config, forwarding } = this.#parts;
    const script = forwarded?.raw === undefined ? undefined : forwarding?.curl(forwarded.raw);
    if (script === undefined) sendText(res, 404, NOT_KEPT);
    else if (script === null) sendText(res, 404, 'curl cannot send this request. `hookproof replay` can.');
    else send(res, 200, 'text/plain; charset=utf-8', Buffer.from(config.masker.text(script)));
  }

  #openStream(req: IncomingMessage, res: ServerResponse, query: URLSearchParams): void {
    const after = req.headers['last-event-id'] ?? query.get('after') ?? undefined;
    res.writeHead(200, { ...HEADERS, 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
    if (this.#parts.streams.open(res, typeof after === 'string' ? after : undefined)) return;
    // Sent as an event, because a page cannot read the status of an event stream.
    res.end('retry: 10000\nevent: full\ndata: {}\n\n');
  }

  async #search(res: ServerResponse, query: URLSearchParams): Promise<void> {
    const wanted = (query.get('q') ?? '').slice(0, MAX_QUERY).toLowerCase();
    const after = this.#parts.recorder.numberOf(query.get('after') ?? '') ?? 0;
    sendJson(res, wanted === '' ? [] : await this.#searchBodies(wanted, after, () => res.destroyed));
  }

  /**
   * Returns the ids of deliveries after number `after` whose bodies contain `wanted`. Ignores letter case. Credentials
   * are masked before the search, so that they cannot be guessed by searching. Ends early when `isOver` returns true.
   */
  async #searchBodies(wanted: string, after: number, isOver: () => boolean): Promise<string[]> {
    const { recorder } = this.#parts;
    const found: string[] = [];
    let searched = 0;
    for (const delivery of [...recorder.all()]) {
      const { number, rawBody } = delivery;
      if (number <= after || rawBody === undefined) continue;
      if (isOver()) return found;
      const text = (await this.#maskedBody(delivery, rawBody)).toString('utf8');
      if (text.toLowerCase().includes(wanted)) found.push(recorder.idOf(delivery));
      searched += text.length;
      if (searched < BYTES_PER_TURN) continue;
      searched = 0;
      await setImmediate();
    }
    return found;
  }

  async #sendBody(res: ServerResponse, delivery: RecordedDelivery, id: string): Promise<void> {
    const { rawBody } = delivery;
    if (rawBody === undefined) return sendText(res, 404, 'There is no body, or it is not kept.');
    const body = await this.#maskedBody(delivery, rawBody);
    const name = `delivery-${id}${body === rawBody ? '' : '-masked'}.bin`;
    res.setHeader('Content-Disposition', `attachment; filename="${name}"`);
    send(res, 200, 'application/octet-stream', body);
  }

  /** Returns the cached view of a delivery, or creates it. Explaining a signature may take a while. */
  #viewOf(delivery: RecordedDelivery): Promise<DeliveryView> {
    const { summarise, config } = this.#parts;
    const views = this.#views;
    const view = views.get(delivery) ?? this.#inTurn(() => viewDelivery(delivery, summarise(delivery), config));
    views.set(delivery, view);
    for (const oldest of views.keys()) if (views.size > KEPT_VIEWS) views.delete(oldest);
    return view;
  }

  /** Returns the cached masked body, or creates it. It is the same buffer when nothing was masked. */
  #maskedBody(delivery: RecordedDelivery, rawBody: Buffer): Promise<Buffer> {
    const body = this.#bodies.get(delivery) ?? this.#inTurn(() => this.#parts.config.masker.bytes(rawBody));
    this.#bodies.set(delivery, body);
    return body;
  }

  /**
   * Runs pieces of work one after another. Each yields to deliveries often; several at once would block them together.
   */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#lastWork.then(work);
    this.#lastWork = result.catch(() => {});
    return result;
  }
}

/**
 * Reads the body of an action; null if it is longer than an edit may be. The rest is read and dropped: the browser
 * shows no answer to a request that it could not send completely.
 */
async function bodyOf(req: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_EDIT) chunks.push(chunk);
  }
  return size > MAX_EDIT ? null : Buffer.concat(chunks);
}

const editSchema = z.strictObject({
  headers: z
    .array(
      z.tuple([z.string().regex(/^[!#$%&'*+.^`|~\w-]{1,200}$/), z.string().regex(/^[\t\x20-\x7e\x80-\xff]{0,8192}$/)]),
    )
    .max(100),
  body: z.string().optional(),
});

/** Reads the edit of a delivery; undefined for an empty body. Returns a sentence for the page if it is not valid. */
function readEdit(given: Buffer | null): DeliveryEdit | string | undefined {
  if (given === null) return 'The edited delivery is too large: send at most 2 MiB, or use `hookproof replay --body`.';
  if (given.length === 0) return undefined;
  try {
    const { headers, body } = editSchema.parse(JSON.parse(given.toString('utf8')));
    if (headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name))) return FRAMING;
    return { headers, ...(body !== undefined && { body: Buffer.from(body) }) };
  } catch {
    return 'The headers are not valid: write one `Name: value` on each line, with Latin-1 characters only.';
  }
}

function send(res: ServerResponse, status: number, type: string, content: Buffer): void {
  res.writeHead(status, { ...HEADERS, 'Content-Type': type, 'Content-Length': content.length });
  res.end(content);
}

function sendText(res: ServerResponse, status: number, text: string): void {
  if (status === 405) res.setHeader('Allow', 'GET');
  send(res, status, 'text/plain; charset=utf-8', Buffer.from(`${text}\n`));
}

function sendJson(res: ServerResponse, value: unknown): void {
  send(res, 200, 'application/json', Buffer.from(JSON.stringify(value)));
}

interface PageFile {
  readonly type: string;
  readonly content: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const PAGE_FILES = [
  ...['index.html', 'style.css', 'icon.svg', 'bytes.js', 'detail.js', 'dom.js', 'list.js', 'main.js', 'stream.js'],
  'theme.js',
];

/**
 * Returns the files of the page by name. They are read once, at start-up. Throws `HookproofError` (`INSPECTOR_PAGE`).
 */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  const files = PAGE_FILES.map((name): [string, PageFile] => {
    const content = readPackageFile(`receiver/inspector/page/${name}`);
    if (content === null) {
      throw new HookproofError('INSPECTOR_PAGE', 'The files of the inspector page are missing.', {
        hint: 'They are in receiver/inspector/page/ of the package: copy that folder too.',
        kind: 'internal',
      });
    }
    return [name, { type: TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream', content }];
  });
  return new Map(files);
}
