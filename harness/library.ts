/**
 * The library's `run`, against a URL or an app in this process. The app listens on a free loopback port during the run.
 * Unknown and invalid options are errors, because a misspelt one could silently skip checks.
 */
import { createServer, type RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { HookproofError, STACKS } from '../contract/index.ts';
import { visible } from '../contract/visible.ts';
import { SOURCE_TEXTS } from '../scenarios/index.ts';
import { nearestName } from './nearest-name.ts';
import { type Partner, requireCredentials } from './partner.ts';
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

const text = z.string('must be a string').min(1, 'is empty: give it a value, or leave it out');
const texts = z.array(z.string('must be a list of strings'), 'must be a list of strings');
const toggle = z.boolean('must be true or false');
const amount = z.number('must be a number').min(0, 'must not be negative');
const handler = z.custom((value) => typeof value === 'function', 'must be a function');
const object = z.looseObject({}, 'must be an object');
const onlyForUrl = z.undefined('cannot be combined with `app`');
const stack = z.custom((value) => STACKS.some((one) => one === value), {
  error: ({ input }) => {
    const nearest = nearestName(String(input), STACKS);
    return `is not a stack; ${nearest === null ? `choose from ${STACKS.join(', ')}` : `did you mean ${nearest}?`}`;
  },
});

/** The rules for values of options. The texts follow the name of the option. */
export const RULES = { text, texts, toggle, amount, stack, record: z.record(z.string(), text, 'must be an object') };

/** Returns the rules for an options object. The type makes an incomplete table a compile error. */
export function group<Options>(rules: Readonly<Record<keyof Options, z.ZodType>>) {
  return z.strictObject(rules, 'must be an object').partial();
}

/**
 * Checks only the main members of a literal: its type defines the rest, and the run leaves out the checks that do not
 * apply to it.
 */
const scheme = z.looseObject({ name: text, signed: text, headers: z.looseObject({}) }, 'must be a scheme');

const PARTNER = {
  signing: z.strictObject({ secret: text, header: text.optional(), scheme: scheme.optional() }, 'must be an object'),
  apiKey: z.strictObject({ value: text, header: text.optional() }, 'must be an object'),
  headers: z.array(z.array(z.string('must be a string')).length(2, 'must be a name and a value'), 'must be a list'),
  ...{ rotation: object, decimals: object, samples: object, control: text, deliveries: z.array(object) },
};

const COMMON = {
  selection: group<NonNullable<RunOptions['selection']>>({
    ...{ suites: texts, scenarios: texts, greps: texts, shard: object.nullable() },
  }),
  limits: group<NonNullable<RunOptions['limits']>>({
    ...{ timeoutMs: amount, recoveryMs: amount, backoffMs: amount, waitMs: amount, maxMs: amount.nullable() },
    ...{ intervalMs: amount.nullable(), concurrency: amount.min(1, 'must be at least 1') },
  }),
  evidenceSources: group<NonNullable<RunOptions['evidenceSources']>>({
    ...{ effects: object, restartCommand: text, commandVariables: texts, restart: handler, logs: texts },
    rotation: object,
  }),
  ...{ clientFixtures: object, profile: text.nullable(), revision: object.nullable(), seed: text.nullable() },
  ...{
    open: toggle,
    strict: toggle,
    bail: toggle,
    baseline: object.nullable(),
    stack: stack.nullable(),
    evidence: toggle,
  },
  ...{ advice: texts, listener: handler, signal: object, onSignature: handler },
};

const app = z.custom(
  (value) => typeof value === 'function' || value instanceof Server,
  'must be a request listener or an http.Server; for a URL, call `run({ partner: { url } })`',
);

const APP_OPTIONS = group<AppOptions>({
  ...{ app, path: text },
  partner: group<Partner>({ ...PARTNER, url: onlyForUrl, tls: onlyForUrl, lookup: onlyForUrl }),
  ...COMMON,
}).extend({ app });

const URL_OPTIONS = group<RunOptions>({
  partner: group<Partner>({
    url: text.refine((url) => /^https?:/i.test(url) && URL.canParse(url), 'must be a URL with http:// or https://'),
    ...PARTNER,
    tls: group<NonNullable<Partner['tls']>>({ clientCert: text, clientKey: text, passphrase: text, ca: text }),
    lookup: handler,
  }),
  ...COMMON,
  ...{ addresses: object, resolve: handler, flags: z.string('must be a string') },
});

/**
 * Runs the suites.
 *
 * @returns the result document, whatever the endpoint does
 * @throws HookproofError RUN_OPTION_UNKNOWN, RUN_OPTION_INVALID, RUN_OPTION_MISSING, NO_CREDENTIALS, and the codes of a
 * refused selection or address
 */
export async function run(options: RunOptions | AppOptions): Promise<ResultDocument> {
  const isApp = Object.hasOwn(options ?? {}, 'app');
  checkOptions(options, isApp ? APP_OPTIONS : URL_OPTIONS);
  const given = options as RunOptions;
  if (!isApp && given.partner?.url === undefined) {
    throw new HookproofError('RUN_OPTION_MISSING', 'neither `partner.url` nor `app` is given', {
      hint: "Give the endpoint: `run({ partner: { url: 'http://127.0.0.1:3000/hooks' } })`, or `run({ app })`.",
    });
  }
  if (given.open !== true) requireCredentials(given.partner ?? {}, CREDENTIALS_HINT);
  return isApp ? runApp(options as AppOptions) : runUrl(given);
}

const CREDENTIALS_HINT =
  'Give the secret or the API key with which the endpoint is configured. If it needs neither, give `open: true`.';

/** Throws if an option does not exist or has an invalid value. The message never contains a value. */
export function checkOptions(options: unknown, rules: z.ZodObject): void {
  const issues = rules.safeParse(options).error?.issues ?? [];
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue === undefined) return;
  const path = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') {
    const message = `\`${visible(path || 'options')}\` ${issue.message}`;
    throw new HookproofError('RUN_OPTION_INVALID', message, { hint: 'Nothing was sent.' });
  }
  const [key = ''] = issue.keys;
  const prefix = path && `${path}.`;
  const known = Object.keys(groupAt(rules, issue.path).shape);
  const nearest = nearestName(key, known);
  throw new HookproofError('RUN_OPTION_UNKNOWN', `there is no option ${visible(`${prefix}${key}`)}`, {
    hint: nearest === null ? `The options are ${known.join(', ')}.` : `Did you mean ${prefix}${nearest}?`,
  });
}

function groupAt(rules: z.ZodObject, path: readonly PropertyKey[]): z.ZodObject {
  return path.reduce<z.ZodObject>((at, step) => {
    const inner = at.shape[String(step)];
    return (inner instanceof z.ZodOptional ? inner.unwrap() : inner) as z.ZodObject;
  }, rules);
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

/** Replaces commands and flags with options, because the port is closed after the run. */
function withoutPort(document: ResultDocument): ResultDocument {
  const repeated = ({ id, reproduce }: ScenarioResult) =>
    reproduce === null
      ? null
      : { curl: null, command: `selection: { scenarios: ['${id}'] }, seed: '${document.seed}'` };
  const results = document.results.map((result) => ({
    ...result,
    reproduce: repeated(result),
    reason: result.verdict === 'not-applicable' ? withOptions(result.reason) : result.reason,
  }));
  return { ...document, results, inProcess: true as const };
}

function withOptions(reason: string): string {
  const { effects, log, restart } = SOURCE_TEXTS;
  const rotation = { flag: '--next-secret-file', option: 'evidenceSources.rotation of run' };
  const named = [effects, log, restart, rotation].find(({ flag }) => reason.endsWith(flag));
  return named === undefined ? reason : reason.slice(0, -named.flag.length) + named.option;
}
