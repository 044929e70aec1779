/** Assembles the console and starts listening. */
import type { KeyObject } from 'node:crypto';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import type { Pool } from 'pg';
import { PAGE_HEADERS } from '../../contract/browser-requests.ts';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { readPackageFile } from '../../contract/package-file.ts';
import { openDatabase } from '../register/index.ts';
import { readAsset } from '../report/html/index.ts';
import { compareRuns } from '../report/index.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { Access } from './access.ts';
import { Actions, type ConsoleQueue, type Wanted } from './actions.ts';
import { API_ROUTES, known, openApiDocument } from './api.ts';
import { readAudit } from './audit.ts';
import { isCastError } from './cursor.ts';
import { readRecords, readTrends } from './history.ts';
import { expiringPage, nowPage, trendsPage } from './list-pages.ts';
import { ConsoleMetrics } from './metrics.ts';
import { auditListPage, queuePage } from './operation-pages.ts';
import { pathOf, renderMessage } from './pages.ts';
import { comparePage, partnerPage } from './partner-pages.ts';
import { Problem } from './problem.ts';
import { listRuns, pathOfRun, readRunFile } from './runs.ts';
import {
  ACTIONS,
  type ActionName,
  auditQuery,
  expiringQuery,
  listQuery,
  partnerName,
  recordsQuery,
  trendsQuery,
} from './schemas.ts';
import { Standings } from './standings.ts';
import type { Tokens } from './tokens.ts';
import { readOperation } from './workers.ts';

export interface ConsoleOptions {
  /** URL of the PostgreSQL database with the register. */
  readonly database: string;
  /** The trusted public keys of the operator. */
  readonly keys: readonly KeyObject[];
  readonly currentRevision: number;
  readonly host: string;
  readonly port: number;
  readonly tokens: Tokens;
  /** The folder with the partners' reports. */
  readonly outputDir?: string | undefined;
  /** Signs overrides. If absent, overrides are not offered. */
  readonly signingKey?: KeyObject | undefined;
  /** Certificate chain and private key in PEM. If absent, the console uses plain HTTP. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** The origin at which a reverse proxy serves the console. */
  readonly publicOrigin?: string | undefined;
  /** Adds runs to the workers' queue. If absent, starting runs is not offered. */
  readonly queue?: ConsoleQueue | undefined;
  /** Reads a saved run. Rejects with a HookproofError if the file is not a valid result document. */
  readonly readRun: (path: string) => Promise<{ readonly document: ResultDocument }>;
  /** Called with errors whose details must not reach the client. */
  readonly onError: (error: unknown) => void;
}

export interface RunningConsole {
  readonly url: string;
  close(): Promise<void>;
}

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/** The policy of a served report: its inline styles are allowed; scripts and access to the console's origin are not. */
const REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";
const HEADERS = {
  ...PAGE_HEADERS,
  // With `no-referrer`, browsers would submit forms with `Origin: null`, and the origin is checked.
  'Referrer-Policy': 'same-origin',
  'Content-Security-Policy': POLICY,
} as const;
/** Maximum time that start-up waits for standings to be derived. */
const START_MS = 10_000;
const STATEMENT_MS = 10_000;
const MAX_FORM_BYTES = 16 * 1024;
const SHOWN_AUDIT = 5;

/**
 * Starts the console.
 *
 * @throws HookproofError REGISTER_DATABASE, CONSOLE_LISTEN, CONSOLE_PAGE
 */
export async function openConsole(options: ConsoleOptions): Promise<RunningConsole> {
  const { database, host, keys, onError, port, tls } = options;
  // Creating a missing index over millions of records takes longer than the time limit of pages.
  await (await openDatabase(database, { max: 1, name: 'hookproof-console' })).end();
  const pool = await openDatabase(database, { max: 8, name: 'hookproof-console', queryMs: STATEMENT_MS });
  try {
    const standings = new Standings({ pool, keys, currentRevision: options.currentRevision, onError });
    // Deriving all standings of a large register takes longer. Until then, the pages say that they are incomplete.
    await standings.refresh(START_MS);
    // Verifies every grant before the first request.
    await standings.totals();
    const server = await listening(new ConsoleRoutes(options, { pool, standings }).app(), { host, port, tls });
    const address = server.address() as AddressInfo;
    const name = host.includes(':') ? `[${host}]` : host;
    return {
      url: options.publicOrigin ?? `${tls === undefined ? 'http' : 'https'}://${name}:${address.port}`,
      async close() {
        await new Promise((resolve) => {
          server.close(resolve);
          server.closeAllConnections();
        });
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

interface Sources {
  readonly pool: Pool;
  readonly standings: Standings;
}

class ConsoleRoutes {
  readonly #options: ConsoleOptions;
  readonly #sources: Sources;
  readonly #access: Access;
  readonly #actions: Actions;
  readonly #metrics: ConsoleMetrics;

  constructor(options: ConsoleOptions, sources: Sources) {
    const { currentRevision, host, keys, publicOrigin, queue, signingKey, tls, tokens } = options;
    this.#options = options;
    this.#sources = sources;
    this.#access = new Access({ host, isTls: tls !== undefined, publicOrigin, tokens });
    this.#actions = new Actions({ ...sources, currentRevision, keys, queue, signingKey });
    const operation = () => readOperation(sources.pool);
    this.#metrics = new ConsoleMetrics({ standings: sources.standings, operation });
  }

  app(): Express {
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    app.set('query parser', 'simple');
    app.use((_req, res, next) => {
      res.set(HEADERS);
      next();
    });
    app.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
    app.use((req, res, next) => {
      this.#access.check(req);
      this.#measure(req, res);
      next();
    });
    this.#addFiles(app);
    this.#addPages(app);
    this.#addApi(app);
    this.#addActions(app);
    app.use(() => {
      throw new Problem(404, 'not-found', 'There is nothing at this address.');
    });
    app.use(this.#answerError);
    return app;
  }

  #measure(req: Request, res: Response): void {
    const startedAt = performance.now();
    res.once('finish', () => {
      const route: unknown = (req.route as { path?: unknown } | undefined)?.path;
      const seconds = (performance.now() - startedAt) / 1000;
      this.#metrics.observe(typeof route === 'string' ? route : 'none', res.statusCode, seconds);
    });
  }

  #addFiles(app: Express): void {
    const style = ['report.css', 'fleet.css'] as const;
    const css = [...style.map(readAsset), readPackaged('harness/console/console.css')].join('');
    const icon = readPackaged('harness/console/icon.svg');
    app.get('/console.css', (_req, res) => void res.type('css').send(css));
    app.get('/icon.svg', (_req, res) => void res.type('svg').send(icon));
    app.get('/metrics', async (_req, res) => {
      const { contentType, text } = await this.#metrics.scrape();
      res.type(contentType).send(text);
    });
  }

  #addPages(app: Express): void {
    const { pool, standings } = this.#sources;
    const { outputDir } = this.#options;
    app.get('/', async (req, res) => {
      const query = parsed(listQuery, req.query);
      const [view, totals] = await Promise.all([standings.list(query), standings.totals()]);
      res.send(nowPage(view, totals, query));
    });
    app.get('/expiring', async (req, res) => {
      const query = parsed(expiringQuery, req.query);
      const view = await standings.list({ ...query, q: '', sort: 'until', order: 'asc', limit: 50 });
      res.send(expiringPage(view, query));
    });
    app.get('/trends', async (req, res) => {
      const { weeks } = parsed(trendsQuery, req.query);
      res.send(trendsPage(await readTrends(pool, weeks)));
    });
    app.get('/queue', async (_req, res) => void res.send(queuePage(await readOperation(pool))));
    app.get('/audit', async (req, res) => {
      const query = parsed(auditQuery, req.query);
      const { entries, next } = await readAudit(pool, query);
      res.send(auditListPage(entries, { after: query.after, next }));
    });
    app.get('/partners/:name', (req, res) => this.#sendPartner(req, res, noticeOf(req)));
    app.get('/partners/:name/compare', (req, res) => this.#sendComparison(req, res));
    app.get('/partners/:name/files/:id/:file', async (req, res) => {
      const { file = '', id = '' } = req.params;
      const found = await readRunFile(outputDir, nameIn(req), { id, file });
      if (found === null) throw new Problem(404, 'no-file', 'There is no such file in the output folder.');
      res.set('Content-Security-Policy', REPORT_POLICY).type(found.type).send(found.bytes);
    });
  }

  async #sendPartner(req: Request, res: Response, notice: Parameters<typeof partnerPage>[0]['notice']): Promise<void> {
    const { pool, standings } = this.#sources;
    const { outputDir, tokens } = this.#options;
    const partner = nameIn(req);
    const query = parsed(recordsQuery, req.method === 'GET' ? req.query : {});
    const [standing, page, runs, { entries }] = await Promise.all([
      standings.standingOf(partner),
      readRecords(pool, partner, query),
      listRuns(outputDir, partner),
      readAudit(pool, { partner, limit: SHOWN_AUDIT }),
    ]);
    const found = known(standing);
    const offered = tokens.isEmpty ? null : await this.#actions.offeredFor(found);
    res.send(partnerPage({ standing: found, page, query, runs, offered, audit: entries, notice }));
  }

  async #sendComparison(req: Request, res: Response): Promise<void> {
    const { outputDir, readRun } = this.#options;
    const partner = nameIn(req);
    const side = async (id: unknown) => {
      const path =
        outputDir === undefined || typeof id !== 'string'
          ? null
          : await pathOfRun(outputDir, partner, { id, file: 'run.json' });
      if (path === null || typeof id !== 'string') {
        throw new Problem(404, 'no-run', 'There is no such run in the output folder.');
      }
      const report = (await pathOfRun(outputDir ?? '', partner, { id, file: 'report.html' })) !== null;
      const { document } = await readRun(path).catch(() => {
        throw new Problem(409, 'no-run', `${id}: its run.json is not a result document.`);
      });
      return { document, name: id, report: report ? pathOf(partner, 'files', id, 'report.html') : null };
    };
    const [before, now] = [await side(req.query.before), await side(req.query.now)];
    res.send(comparePage(partner, compareRuns(before.document, now.document), [before, now]));
  }

  #addApi(app: Express): void {
    const { pool, standings } = this.#sources;
    app.get('/api/openapi.json', (req, res) => {
      res.json(openApiDocument(this.#options.publicOrigin ?? `${req.protocol}://${req.headers.host}`));
    });
    for (const { answer, path, query } of API_ROUTES) {
      app.get(path, async (req, res) => {
        const name = 'name' in req.params ? nameIn(req) : '';
        res.json(await answer({ pool, standings }, name, parsed(query, req.query) as never));
      });
    }
  }

  #addActions(app: Express): void {
    const form = express.urlencoded({ extended: false, limit: MAX_FORM_BYTES, parameterLimit: 20 });
    const json = express.json({ limit: MAX_FORM_BYTES });
    for (const name of Object.keys(ACTIONS) as ActionName[]) {
      app.post(`/partners/:name/${name}`, form, async (req, res) => {
        const partner = nameIn(req);
        try {
          const { token, ...given } = bodyOf(req);
          const who = this.#access.actorOf({}, token);
          await this.#actions.act(who, partner, wanted(name, given));
        } catch (error) {
          const { message, status } = problemOf(error);
          if (status >= 500 || status === 404) throw error;
          res.status(status);
          return this.#sendPartner(req, res, { text: `Not done: ${message}`, isError: true });
        }
        res.redirect(303, `${pathOf(partner)}?done=${name}`);
      });
      app.post(`/api/partners/:name/${name}`, json, async (req, res) => {
        const who = this.#access.actorOf(req.headers, undefined);
        await this.#actions.act(who, nameIn(req), wanted(name, bodyOf(req)));
        res.status(204).end();
      });
    }
  }

  readonly #answerError: ErrorRequestHandler = (error, req, res, _next) => {
    const { code, hint, message, status } = problemOf(error);
    if (status >= 500) this.#options.onError(error);
    if (res.headersSent) return void res.destroy();
    if (status === 401) res.set('WWW-Authenticate', 'Basic realm="hookproof console", charset="UTF-8"');
    if (status === 405) res.set('Allow', 'GET, HEAD, POST');
    res.status(status);
    if (req.path.startsWith('/api/')) res.json({ error: code, message, ...(hint !== undefined && { hint }) });
    else res.send(renderMessage(TITLES[status] ?? 'Request failed', message, hint));
  };
}

const TITLES: Readonly<Record<number, string>> = { 401: 'Token required', 403: 'Not allowed', 404: 'Not found' };

/** Returns what the client may know about an error: nothing about the database. */
function problemOf(error: unknown): Pick<Problem, 'status' | 'code' | 'message' | 'hint'> {
  if (error instanceof Problem) return error;
  if (error instanceof HookproofError && /^(?:PARTNERS|CONSOLE)_/.test(error.code)) {
    return { status: 409, code: error.code, message: `${error.message}.`, hint: error.hint };
  }
  if (error instanceof HookproofError && error.code === 'PACKAGE_MISSING') {
    return { status: 501, code: error.code, message: error.message, hint: error.hint };
  }
  if (isCastError(error)) return invalid('`after` is not a valid cursor');
  // Express rejects a body that is too large or malformed.
  const status: unknown = (error as { status?: unknown } | null)?.status;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return { ...invalid('the request cannot be read'), status };
  }
  return { status: 500, code: 'internal', message: 'The console failed. See its log for the reason.', hint: undefined };
}

function invalid(message: string): Problem {
  return new Problem(400, 'invalid-query', message);
}

/** The part of a Zod schema that is used here. */
interface Schema<Output> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: Output }
    | { readonly success: false; readonly error: { readonly issues: readonly { readonly path: PropertyKey[] }[] } };
}

/** @throws Problem 400 */
function parsed<Output>(schema: Schema<Output>, value: unknown): Output {
  // Browsers submit form fields that were left empty as empty strings.
  const filled = Object.entries(value as Record<string, unknown>).filter(([, one]) => one !== '');
  const result = schema.safeParse(Object.fromEntries(filled));
  if (result.success) return result.data;
  const names = result.error.issues.map(({ path }) => String(path[0] ?? 'the request'));
  throw invalid(`the value of ${[...new Set(names)].join(', ')} is not valid`);
}

function wanted(name: ActionName, given: Record<string, unknown>): Wanted {
  return { name, given: parsed(ACTIONS[name], given) } as Wanted;
}

function bodyOf({ body }: Request): Record<string, unknown> {
  return typeof body === 'object' && body !== null ? { ...body } : {};
}

/** @throws Problem 404 */
function nameIn({ params }: Request): string {
  const { data, success } = partnerName.safeParse(params.name);
  if (success) return data;
  throw new Problem(404, 'no-partner', 'There is no such partner in the register.');
}

const DONE: Readonly<Record<ActionName, string>> = {
  revoke: 'The certificate is revoked.',
  override: 'The certificate is reinstated.',
  'run-now': 'A run is queued.',
  reschedule: 'A run is queued for that time.',
};

function noticeOf({ query: { done } }: Request): { text: string; isError: false } | null {
  return typeof done === 'string' && Object.hasOwn(DONE, done)
    ? { text: DONE[done as ActionName], isError: false }
    : null;
}

/** @throws HookproofError CONSOLE_PAGE */
function readPackaged(path: string): string {
  const file = readPackageFile(path);
  if (file !== null) return file.toString();
  throw new HookproofError('CONSOLE_PAGE', `The file ${path} of the console was not found.`, {
    hint: 'The file belongs to the package: reinstall the package.',
    kind: 'internal',
  });
}

interface ListenOptions extends Pick<ConsoleOptions, 'host' | 'port' | 'tls'> {}

function listening(app: Express, { host, port, tls }: ListenOptions): Promise<Server> {
  const timeouts = { headersTimeout: 10_000, requestTimeout: 15_000, keepAliveTimeout: 5000 };
  const server =
    tls === undefined
      ? createHttpServer(timeouts, app)
      : createHttpsServer({ ...timeouts, ...tls, minVersion: 'TLSv1.2' }, app);
  server.maxConnections = 200;
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const message = `the console cannot listen on ${host} port ${port} (${cause.code})`;
      const hint = 'Choose another port, or 0 for a free one, and an address of this machine.';
      reject(new HookproofError('CONSOLE_LISTEN', message, { hint, cause }));
    });
    server.listen(port, host, () => resolve(server));
  });
}
