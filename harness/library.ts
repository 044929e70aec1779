/**
 * The library's `run`, against a URL or an app in this process. The app listens on a free loopback port during the run.
 * Unknown options are errors, because a misspelt one could silently skip checks.
 */
import { createServer, type RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HookproofError } from '../contract/index.ts';
import { visible } from '../contract/visible.ts';
import { nearestName } from './nearest-name.ts';
import type { Partner } from './partner.ts';
import type { ResultDocument, ScenarioResult } from './report/result-document.ts';
import { type RunOptions, run as runUrl } from './run/index.ts';

/** An Express, Connect or Fastify-style listener, any other Node request listener, or a server. */
export type App = RequestListener | Server;

/** Options for a run against an app instead of a URL. */
export interface AppOptions extends Omit<RunOptions, 'partner' | 'addresses' | 'resolve' | 'flags'> {
  readonly app: App;
  /** Path and query of the endpoint. Default: `/`. */
  readonly path?: string;
  /** The credentials and settings with which the app is configured. */
  readonly partner?: Omit<Partner, 'url' | 'lookup' | 'tls'>;
}

/** The keys of each options object. The types make an incomplete table a compile error. */
const KEYS: {
  readonly app: Readonly<Record<keyof AppOptions, true>>;
  readonly run: Readonly<Record<keyof RunOptions, true>>;
  readonly partner: Readonly<Record<keyof Partner, true>>;
  readonly limits: Readonly<Record<keyof NonNullable<RunOptions['limits']>, true>>;
  readonly selection: Readonly<Record<keyof NonNullable<RunOptions['selection']>, true>>;
} = {
  app: {
    ...{ app: true, path: true, partner: true, clientFixtures: true, selection: true, limits: true, profile: true },
    ...{ revision: true, seed: true, strict: true, bail: true, baseline: true, stack: true, evidence: true },
    ...{ advice: true, listener: true, signal: true, onSignature: true, evidenceSources: true },
  },
  run: {
    ...{ partner: true, addresses: true, resolve: true, clientFixtures: true, selection: true, limits: true },
    ...{ profile: true, revision: true, seed: true, strict: true, bail: true, baseline: true, stack: true },
    ...{ evidence: true, flags: true, advice: true, listener: true, signal: true, onSignature: true },
    evidenceSources: true,
  },
  partner: {
    ...{ url: true, signing: true, rotation: true, apiKey: true, headers: true, tls: true, decimals: true },
    ...{ samples: true, control: true, lookup: true },
  },
  limits: {
    ...{ timeoutMs: true, recoveryMs: true, concurrency: true, backoffMs: true, maxMs: true, intervalMs: true },
    waitMs: true,
  },
  selection: { suites: true, scenarios: true, greps: true, shard: true },
};

/**
 * Runs the suites.
 *
 * @returns the result document, whatever the endpoint does
 * @throws HookproofError RUN_OPTION_UNKNOWN, RUN_OPTION_MISSING, and the codes of a refused selection or address
 */
export async function run(options: RunOptions | AppOptions): Promise<ResultDocument> {
  const isApp = 'app' in options;
  refuseUnknown('', options, isApp ? KEYS.app : KEYS.run);
  for (const name of ['partner', 'limits', 'selection'] as const) refuseUnknown(`${name}.`, options[name], KEYS[name]);
  if (isApp) return runApp(options);
  if (options.partner === undefined) {
    throw new HookproofError('RUN_OPTION_MISSING', 'neither `partner` nor `app` is given', {
      hint: "Give the endpoint: `run({ partner: { url: 'http://127.0.0.1:3000/hooks' } })`, or `run({ app })`.",
    });
  }
  return runUrl(options);
}

/** Throws if an object has a key that is not an option. */
export function refuseUnknown(path: string, given: object | undefined, known: Readonly<Record<string, true>>): void {
  for (const key of Object.keys(given ?? {})) {
    if (Object.hasOwn(known, key)) continue;
    const names = Object.keys(known);
    const nearest = nearestName(key, names);
    throw new HookproofError('RUN_OPTION_UNKNOWN', `there is no option ${visible(`${path}${key}`)}`, {
      hint: nearest === null ? `The options are ${names.join(', ')}.` : `Did you mean ${path}${nearest}?`,
    });
  }
}

async function runApp({ app, path = '/', partner = {}, ...options }: AppOptions): Promise<ResultDocument> {
  const server = app instanceof Server ? app : createServer(app);
  const wasListening = server.listening;
  if (!wasListening) await listening(server);
  const { port } = server.address() as AddressInfo;
  try {
    const url = new URL(path, `http://127.0.0.1:${port}`).href;
    return withoutPort(await runUrl({ ...options, partner: { ...partner, url } }));
  } finally {
    if (!wasListening) {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
  }
}

function listening(server: Server): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      server.off('error', failed);
      done();
    });
  });
}

/** Replaces the commands that repeat checks with options: the port is closed after the run. */
function withoutPort(document: ResultDocument): ResultDocument {
  const repeated = ({ id, reproduce }: ScenarioResult) =>
    reproduce === null
      ? null
      : { curl: null, command: `selection: { scenarios: ['${id}'] }, seed: '${document.seed}'` };
  const results = document.results.map((result) => ({ ...result, reproduce: repeated(result) }));
  return { ...document, results, inProcess: true as const };
}
