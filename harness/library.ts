/**
 * The library's `run`, against a URL or an app in this process. The app listens on a free loopback port during the run.
 * Unknown and invalid options are errors, because a misspelt one could silently skip checks.
 */
import { type RequestListener, Server } from 'node:http';
import * as z from 'zod';
import { HookproofError, RESERVED_HEADERS, STACKS, TOKEN } from '../contract/index.ts';
import { visible } from '../contract/visible.ts';
import { SOURCE_TEXTS, type SuiteName } from '../scenarios/index.ts';
import { missingFeatures, PROFILES, plainHttpAdvice } from '../scenarios/profiles.ts';
import { SETTING_TEXTS } from './diagnose/index.ts';
import { HostedApp } from './hosted-app.ts';
import { nearestName } from './nearest-name.ts';
import { everySecret, type Partner, requireCredentials } from './partner.ts';
import { createRedactor } from './report/index.ts';
import type { Diagnosis, ResultDocument, ScenarioResult } from './report/result-document.ts';
import { type RunOptions, run as runUrl } from './run/index.ts';
import { checkPartner } from './sender/index.ts';

/**
 * A Node request listener, such as an app of Express or Connect, or a server. Apps of Fastify, Koa, Hono and Nest are
 * neither, but have one: `app.server`, `app.callback()`, `getRequestListener(app.fetch)` and `app.getHttpServer()`.
 */
export type App = RequestListener | Server;

/** The checks to run. Default: all. The kinds narrow each other, and none may be empty. */
export interface SelectionOptions extends Omit<NonNullable<RunOptions['selection']>, 'suites'> {
  readonly suites?: readonly SuiteName[];
}

type CommonOptions = Omit<RunOptions, 'partner' | 'selection' | 'addresses' | 'resolve' | 'flags'> & {
  readonly selection?: SelectionOptions;
};

/** Options for a run against a URL. */
export interface UrlOptions extends CommonOptions, Pick<RunOptions, 'partner' | 'addresses' | 'resolve' | 'flags'> {
  readonly app?: never;
  /** The path is part of `partner.url`. */
  readonly path?: never;
}

/** Options for a run against an app instead of a URL. */
export interface AppOptions extends CommonOptions {
  readonly app: App;
  /** Path and query of the endpoint. Default: `/`. */
  readonly path?: string;
  /** The credentials and settings with which the app is configured. */
  readonly partner?: Omit<Partner, 'url' | 'lookup' | 'tls'> & {
    readonly url?: never;
    readonly lookup?: never;
    readonly tls?: never;
  };
}

const text = z.string('must be a string').min(1, 'is empty: give it a value, or leave it out');
const texts = z.array(z.string('must be a list of strings'), 'must be a list of strings');
/** An empty list would select everything. */
const selected = texts.min(1, 'is empty, and would select everything: name something, or leave it out');
const headerName = text
  .regex(TOKEN, 'is not a header name: use letters, digits and hyphens')
  .refine((name) => !RESERVED_HEADERS.has(name.toLowerCase()), 'is a header that the sender sets itself');
const headerValue = z
  .string('must be a string')
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'contains a line break or another character that a header cannot contain')
  .refine((value) => !/^[ \t]|[ \t]$/.test(value), 'starts or ends with whitespace, which HTTP drops');
const apiKey = headerValue.min(1, 'is empty: give it a value, or leave it out');
const toggle = z.boolean('must be true or false');
const amount = z.number('must be a number').min(0, 'must not be negative');
const timeLimit = amount.min(1, 'must be at least 1 (milliseconds)');
const handler = z.custom((value) => typeof value === 'function', 'must be a function');
const object = z.looseObject({}, 'must be an object');
const onlyForUrl = z.undefined('cannot be combined with `app`');
const oneOf = (noun: string, words: readonly string[]) =>
  z.custom((value) => words.some((one) => one === value), {
    error: ({ input }) => {
      const nearest = nearestName(String(input), words);
      return `is not a ${noun}; ${nearest === null ? `choose from ${words.join(', ')}` : `did you mean ${nearest}?`}`;
    },
  });
const stack = oneOf('stack', STACKS);

/** The rules for values of options. The texts follow the name of the option. */
export const RULES = {
  ...{ text, selected, toggle, timeLimit, stack, headerName, apiKey },
  headers: z.record(headerName, headerValue, 'must be an object'),
};

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
  signing: z.strictObject(
    { secret: text, header: headerName.optional(), scheme: scheme.optional() },
    'must be an object',
  ),
  apiKey: z.strictObject({ value: apiKey, header: headerName.optional() }, 'must be an object'),
  headers: z.array(z.tuple([headerName, headerValue], 'must be a name and a value'), 'must be a list'),
  ...{ rotation: object, decimals: object, samples: object, control: text, deliveries: z.array(object) },
};

const COMMON = {
  selection: group<NonNullable<RunOptions['selection']>>({
    ...{ suites: selected, scenarios: selected, greps: selected, shard: object.nullable() },
  }),
  limits: group<NonNullable<RunOptions['limits']>>({
    ...{ timeoutMs: timeLimit, recoveryMs: amount, backoffMs: amount, waitMs: amount, maxMs: timeLimit.nullable() },
    ...{ intervalMs: amount.nullable(), concurrency: amount.min(1, 'must be at least 1') },
  }),
  evidenceSources: group<NonNullable<RunOptions['evidenceSources']>>({
    ...{ effects: object, restartCommand: text, commandVariables: texts, restart: handler, logs: texts },
    rotation: object,
  }),
  ...{
    clientFixtures: object,
    profile: oneOf('profile', PROFILES).nullable(),
    revision: object.nullable(),
    seed: text.nullable(),
  },
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

/** What gives the listener or the server of an app of a framework, by a method that only its apps have. */
const FRAMEWORKS = {
  getHttpServer: 'for Nest, call `await app.init()` and pass `app.getHttpServer()`',
  ready: 'for Fastify, call `await app.ready()` and pass `app.server`',
  callback: 'for Koa, pass `app.callback()`',
  fetch: 'for Hono, pass `getRequestListener(app.fetch)` from @hono/node-server',
} as const;

const app = z.custom((value) => typeof value === 'function' || value instanceof Server, {
  error: ({ input }) => {
    const [, found] = Object.entries(FRAMEWORKS).find(([method]) => typeof Object(input)[method] === 'function') ?? [];
    return `must be a request listener or an http.Server; ${found ?? 'for a URL, call `run({ partner: { url } })`'}`;
  },
});

const APP_OPTIONS = group<AppOptions>({
  ...{ app, path: text },
  partner: group<Partner>({ ...PARTNER, url: onlyForUrl, tls: onlyForUrl, lookup: onlyForUrl }),
  ...COMMON,
}).extend({ app });

const URL_OPTIONS = group<UrlOptions>({
  partner: group<Partner>({
    url: text.refine((url) => /^https?:/i.test(url) && URL.canParse(url), 'must be a URL with http:// or https://'),
    ...PARTNER,
    tls: group<NonNullable<Partner['tls']>>({ clientCert: text, clientKey: text, passphrase: text, ca: text }),
    lookup: handler,
  }),
  ...COMMON,
  ...{ addresses: object, resolve: handler, flags: z.string('must be a string') },
  path: z.undefined('needs `app`; put the path in `partner.url`'),
  app: z.undefined(),
});

/**
 * Runs the suites.
 *
 * @returns the result document, whatever the endpoint does
 * @throws HookproofError RUN_OPTION_UNKNOWN, RUN_OPTION_INVALID, RUN_OPTION_MISSING, NO_CREDENTIALS, and the codes of a
 * refused selection, profile, header or address
 */
export async function run(options: UrlOptions | AppOptions): Promise<ResultDocument> {
  const isApp = Object.hasOwn(options ?? {}, 'app');
  checkOptions(options, isApp ? APP_OPTIONS : URL_OPTIONS);
  const given = options as RunOptions;
  if (!isApp && given.partner?.url === undefined) {
    throw new HookproofError('RUN_OPTION_MISSING', 'neither `partner.url` nor `app` is given', {
      hint: "Pass the endpoint: `run({ partner: { url: 'http://127.0.0.1:3000/hooks' } })`, or `run({ app })`.",
    });
  }
  const partner: Partial<Partner> = given.partner ?? {};
  if (given.open !== true) requireCredentials(partner, CREDENTIALS_HINT);
  const { signing, apiKey: key, headers } = partner;
  // Two headers may have the same name.
  checkPartner({
    url: 'http://127.0.0.1/',
    ...(signing && { signing }),
    ...(key && { apiKey: key }),
    headers: headers ?? [],
  });
  const advice = adviceOnProfile(given, isApp);
  const all = { ...given, ...(advice.length > 0 && { advice }) };
  return isApp ? runApp(all as RunOptions & AppOptions) : withOptionNames(await runUrl(all));
}

/**
 * Returns the advice of the options, and that on their profile.
 *
 * @throws HookproofError CONFIG_PROFILE if a feature that the profile needs is not configured
 */
function adviceOnProfile({ advice = [], partner, profile }: RunOptions, isApp: boolean): readonly string[] {
  if (profile == null) return advice;
  const { missing, plainLoopback } = missingFeatures(profile, {
    hmac: partner?.signing !== undefined,
    'api-key': partner?.apiKey !== undefined,
    url: isApp ? 'http://127.0.0.1/' : partner.url,
  });
  const [first] = missing;
  if (first !== undefined) {
    const hint = `Give ${PROFILE_HINTS[first.feature]}. Nothing was sent.`;
    throw new HookproofError('CONFIG_PROFILE', `the profile ${profile} needs ${first.what}`, { hint });
  }
  return plainLoopback ? [...advice, plainHttpAdvice(profile)] : advice;
}

const PROFILE_HINTS = {
  hmac: '`partner.signing.secret`',
  'api-key': '`partner.apiKey.value`',
  https: 'an https:// URL; only an endpoint on this machine may use plain HTTP',
} as const;

const CREDENTIALS_HINT =
  'Pass the secret or the API key with which the endpoint is configured. If it needs neither, pass `open: true`.';

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
  const inside = path === '' ? pathOf(key, rules) : null;
  const meant = inside ?? (nearest === null ? null : `${prefix}${nearest}`);
  throw new HookproofError('RUN_OPTION_UNKNOWN', `there is no option ${visible(`${prefix}${key}`)}`, {
    hint: meant === null ? `The options are ${known.join(', ')}.` : `Did you mean ${meant}?`,
  });
}

/** Returns the path of an option with this name in a group: `partner.signing.secret`. Null if there is none. */
function pathOf(key: string, { shape }: z.ZodObject): string | null {
  if (Object.hasOwn(shape, key)) return key;
  for (const [name, rule] of Object.entries(shape)) {
    const inner = rule instanceof z.ZodOptional ? rule.unwrap() : rule;
    const found = inner instanceof z.ZodObject ? pathOf(key, inner) : null;
    if (found !== null) return `${name}.${found}`;
  }
  return null;
}

function groupAt(rules: z.ZodObject, path: readonly PropertyKey[]): z.ZodObject {
  return path.reduce<z.ZodObject>((at, step) => {
    const inner = at.shape[String(step)];
    return (inner instanceof z.ZodOptional ? inner.unwrap() : inner) as z.ZodObject;
  }, rules);
}

async function runApp({ app, path = '/', partner = {}, ...options }: AppOptions): Promise<ResultDocument> {
  const hosted = new HostedApp(app);
  const port = await hosted.open();
  const url = new URL(path, `http://127.0.0.1:${port}`).href;
  let document: ResultDocument;
  try {
    document = withoutPort(await runUrl({ ...options, partner: { ...partner, url } }));
  } finally {
    await hosted.close();
  }
  const secrets = [...everySecret(partner), partner.apiKey?.value ?? []].flat();
  const redactor = createRedactor({ values: secrets.map((value) => ({ name: 'secret', value })) });
  return hosted.errors === 0 ? document : withErrors(document, hosted.errors, redactor.text(hosted.firstError));
}

/** Names the first error of the app in the causes about connections that it closed; as advice if there are none. */
function withErrors(document: ResultDocument, count: number, first: string): ResultDocument {
  const isClosed = ({ decidedBy, outcome, verdict }: ScenarioResult) =>
    verdict !== 'pass' && (decidedBy === 'connection-closed' || outcome === 'closed');
  const closed = new Set(document.results.filter(isClosed).map(({ id }) => id));
  const thrown = `threw ${first}${count === 1 ? '' : `, the first of ${count} errors that nothing caught`}`;
  const isAbout = ({ evidence, fault }: Diagnosis) =>
    fault === 'closes-without-answer' || evidence.some((id) => closed.has(id));
  const ending = `The app ${thrown}. In production, an error that nothing catches ends the process.`;
  return {
    ...document,
    advice: document.diagnosis.some(isAbout) ? document.advice : [...document.advice, ending],
    diagnosis: document.diagnosis.map((one) =>
      isAbout(one) ? { ...one, fix: `Handle the error: the app ${thrown}. ${one.fix}` } : one,
    ),
    results: document.results.map((one) =>
      closed.has(one.id) ? { ...one, reason: [one.reason, `the app threw ${first}`].filter(Boolean).join('; ') } : one,
    ),
  };
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
  return { ...withOptionNames(document), results, inProcess: true as const };
}

/** Replaces, in the fixes, flags, variables and keys of the configuration file with option names. */
function withOptionNames(document: ResultDocument): ResultDocument {
  const rewritten = (fix: string) =>
    Object.values(SETTING_TEXTS).reduce((words, { flag, option }) => words.replaceAll(flag, option), fix);
  return { ...document, diagnosis: document.diagnosis.map((one) => ({ ...one, fix: rewritten(one.fix) })) };
}

function withOptions(reason: string): string {
  const { effects, log, restart } = SOURCE_TEXTS;
  const rotation = { flag: '--next-secret-file', option: 'evidenceSources.rotation of run' };
  const named = [effects, log, restart, rotation].find(({ flag }) => reason.endsWith(flag));
  return named === undefined ? reason : reason.slice(0, -named.flag.length) + named.option;
}
