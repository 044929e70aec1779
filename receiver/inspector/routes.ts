/** What the inspector answers. Everything is read-only, and nothing may be kept by a browser or read by another page. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyWithoutCredentials, type DeliveryView, type ViewConfig, viewDelivery } from './delivery-view.ts';
import type { EventStreams } from './event-streams.ts';
import type { Guard } from './guard.ts';
import type { PageFile } from './page-files.ts';
import type { RecordedDelivery } from './recorded-delivery.ts';
import type { Recorder } from './recorder.ts';
import { searchBodies } from './search-bodies.ts';
import type { Summarise } from './summary.ts';

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;

/** A view holds the bodies once more, so only the last few are kept. */
const KEPT_VIEWS = 20;
/** Characters of a search. */
const MAX_QUERY = 200;

export interface RouteParts {
  readonly guard: Guard;
  readonly files: ReadonlyMap<string, PageFile>;
  readonly recorder: Recorder;
  readonly summarise: Summarise;
  readonly streams: EventStreams;
  readonly config: ViewConfig;
}

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

export function createRoutes({ guard, files, recorder, summarise, streams, config }: RouteParts): Handler {
  const views = new Map<RecordedDelivery, Promise<DeliveryView>>();

  /** Worked out once: it may take a while to say why a signature does not match. */
  const viewOf = (delivery: RecordedDelivery): Promise<DeliveryView> => {
    const view = views.get(delivery) ?? viewDelivery(delivery, summarise(delivery), config);
    views.set(delivery, view);
    for (const oldest of views.keys()) if (views.size > KEPT_VIEWS) views.delete(oldest);
    return view;
  };

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const asked = guard.check(req);
    if ('status' in asked) return plain(res, asked.status, asked.text);
    const { path, query } = asked;
    const file = files.get(path === '' ? 'index.html' : path);
    if (file !== undefined) return end(res, 200, file.type, file.content);
    if (path === 'events') return watch(req, res, query);
    if (path === 'search') return search(res, query);
    const [, id = '', rest = ''] = /^deliveries\/([\w-]+)(\/body)?$/.exec(path) ?? [];
    const delivery = recorder.get(recorder.numberOf(id) ?? -1);
    if (delivery === undefined) return plain(res, 404, 'There is nothing here, or it is no longer kept.');
    if (rest === '') return json(res, await viewOf(delivery));
    return download(res, delivery, id);
  }

  function watch(req: IncomingMessage, res: ServerResponse, query: URLSearchParams): void {
    const after = req.headers['last-event-id'] ?? query.get('after') ?? undefined;
    res.writeHead(200, { ...HEADERS, 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
    if (streams.open(res, typeof after === 'string' ? after : undefined)) return;
    // As an event, and not as a status: a page cannot read the status of a stream.
    res.end('retry: 10000\nevent: full\ndata: {}\n\n');
  }

  async function search(res: ServerResponse, query: URLSearchParams): Promise<void> {
    const wanted = (query.get('q') ?? '').slice(0, MAX_QUERY);
    const after = recorder.numberOf(query.get('after') ?? '') ?? 0;
    const isOver = () => res.destroyed;
    json(res, wanted === '' ? [] : await searchBodies(recorder, config, { query: wanted, after, isOver }));
  }

  function download(res: ServerResponse, { rawBody }: RecordedDelivery, id: string): void {
    if (rawBody === undefined) {
      plain(res, 404, 'There is no body, or it is not kept.');
      return;
    }
    const body = bodyWithoutCredentials(rawBody, config);
    const name = `delivery-${id}${body === rawBody ? '' : '-masked'}.bin`;
    res.setHeader('Content-Disposition', `attachment; filename="${name}"`);
    end(res, 200, 'application/octet-stream', body);
  }

  return (req, res) => {
    answer(req, res).catch(() => {
      if (res.headersSent) res.destroy();
      else plain(res, 500, 'The inspector failed. Deliveries are not affected.');
    });
  };
}

function end(res: ServerResponse, status: number, type: string, content: Buffer): void {
  res.writeHead(status, { ...HEADERS, 'Content-Type': type, 'Content-Length': content.length });
  res.end(content);
}

function plain(res: ServerResponse, status: number, text: string): void {
  if (status === 405) res.setHeader('Allow', 'GET');
  end(res, status, 'text/plain; charset=utf-8', Buffer.from(`${text}\n`));
}

function json(res: ServerResponse, value: unknown): void {
  end(res, 200, 'application/json', Buffer.from(JSON.stringify(value)));
}
