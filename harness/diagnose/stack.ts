/** Guesses the endpoint's stack from its answers, to choose the fixes. All functions are pure. */
import { fixSources, type Stack, titleOfStack } from '../../contract/index.ts';
import type { Exchange, ScenarioResult } from '../report/result-document.ts';

export interface KnownStack {
  readonly name: Stack;
  /** The evidence: `Server: Werkzeug/3.1`, an error page, or `--stack`. */
  readonly source: string;
}

type RecordedAnswer = NonNullable<Exchange['response']>;
type Sign = readonly [pattern: RegExp, stack: Stack];

/**
 * Header patterns, in the order in which they are tried. A server that several frameworks use reveals only the
 * language: then the plain stack of the language is used, whose fixes also apply to its frameworks. Go, Fastify, Hono
 * and NestJS on Fastify do not name themselves, Laravel and Slim look like plain PHP, and a proxy hides the rest.
 */
const SIGNS: readonly Sign[] = [
  [/\bexpress\b/i, 'express'],
  [/\bfastify\b/i, 'fastify'],
  [/\bnext\.js\b|\bkoa\b/i, 'node'],
  [/\bdjango\b|\bdaphne\b/i, 'django'],
  [/\bwerkzeug\b|\bflask\b/i, 'flask'],
  [/\bfastapi\b/i, 'fastapi'],
  [/\bwsgiserver\b|\bbasehttp\b|\bc?python\b|\bgunicorn\b|\buvicorn\b|\bhypercorn\b|\bwaitress\b/i, 'python'],
  [/\btornadoserver\b|\baiohttp\b|\bcherrypy\b|\buwsgi\b/i, 'python'],
  [/\bspring\b/i, 'spring'],
  [/\bjetty\b|\btomcat\b|\bcoyote\b|\bundertow\b|\bservlet\b|\bnetty\b/i, 'java'],
  [/\brails\b/i, 'rails'],
  [/\bphusion\b|\bpassenger\b|\bpuma\b|\bunicorn\b|\bwebrick\b|\bthin\b/i, 'ruby'],
  [/\blaravel\b/i, 'laravel'],
  [/\bphp\b/i, 'php'],
  [/\bkestrel\b|\basp\.net\b|\bmicrosoft-iis\b/i, 'dotnet'],
  [/\bfasthttp\b/i, 'go'],
  [/\bactix\b|\baxum\b|\bhyper\b/i, 'rust'],
];

/** Cookies that frameworks set by default. */
const COOKIES: readonly Sign[] = [
  [/^laravel_session=/, 'laravel'],
  [/^csrftoken=/, 'django'],
  [/^connect\.sid=/, 'express'],
  [/^PHPSESSID=/, 'php'],
  [/^JSESSIONID=/, 'java'],
];

/** Beginnings and phrases of the default error pages of frameworks and servers. */
const ERROR_PAGES: readonly Sign[] = [
  [/"code":"FST_[A-Z_]+"|^\{"message":"Route [A-Z]+:\S+ not found","error"/, 'fastify'],
  [/^\{"statusCode":\d{3},"message":|^\{"message":.{1,300}"statusCode":\d{3}\}$/, 'nestjs'],
  // Fastify without a code, and hapi.
  [/^\{"statusCode":\d{3},"error":"[A-Z][\w ]+","message":/, 'node'],
  [
    /<pre>Cannot [A-Z]+ \/|^<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</,
    'express',
  ],
  [/__NEXT_DATA__|"next-error-h1"/, 'node'],
  [/CSRF verification failed\. Request aborted|DJANGO_SETTINGS_MODULE|<code>DEBUG = True<\/code>/, 'django'],
  [/<h1>(?:Bad Request \(400\)|Server Error \(500\))<\/h1>/, 'django'],
  [/<h1>Not Found<\/h1><p>The requested resource was not found on this server\.<\/p>/, 'django'],
  [
    /^<!doctype html>\n<html lang=en>\n {0,2}(?:<head>\n +)?<title>\d{3} |^<!DOCTYPE HTML PUBLIC "-\/\/W3C.+\n<title>/,
    'flask',
  ],
  [/Werkzeug (?:powered traceback|Debugger)/, 'flask'],
  [/^\{"detail":\[\{"(?:type|loc)":.{0,200}"loc":|^\{"detail":\[\{"loc":/, 'fastapi'],
  [/<h1><p>(?:Internal Server Error|Bad Request)<\/p><\/h1>|^\d{3} [\w ]+\n\nServer got itself in trouble/, 'python'],
  [/^<html><title>\d{3}: [\w ]+<\/title><body>|<p>Error code explanation: |^Traceback \(most recent call/, 'python'],
  [/Whoops, looks like something went wrong|Illuminate\\|<title>Page Expired<|"CSRF token mismatch\."/, 'laravel'],
  [/^\{\s*"message": ?"(?:Server Error|The given data was invalid\.|Unauthenticated\.)"/, 'laravel'],
  [/Oops! An Error Occurred|Symfony\\(?:Component|Bundle)/, 'php'],
  [/<b>(?:Warning|Notice|Deprecated|Fatal error)<\/b>: |^(?:PHP )?(?:Warning|Fatal error): /, 'php'],
  [/We're sorry, but something went wrong|The change you wanted was rejected|Action ?Controller::? ?\w/, 'rails'],
  [/^\{"status":\d{3},"error":"[A-Z][\w ]+"(?:\}$|,"exception":"#<)|<h1>Blocked hosts?:/, 'rails'],
  [/Sinatra doesn.{1,7}t know this ditty|\/__sinatra__\/|Puma caught this error|unhandled lowlevel error/, 'ruby'],
  [/Whitelabel Error Page|^\{"timestamp":.{10,40},"status":\d{3},"error":/, 'spring'],
  [/<title>HTTP Status \d{3} .|Powered by Jetty|^(?:java\.lang|jakarta|javax)\.\w/, 'java'],
  [/^404 page not found\n|^http: [a-z]/, 'go'],
  [/"type":"https:\/\/tools\.ietf\.org\/html\/rfc.{5,60}"title":/, 'dotnet'],
  [/^Failed to (?:parse|deserialize) the (?:request body|JSON body)/, 'rust'],
];

/**
 * Matches FastAPI's errors. Other frameworks also send them, so they count only with a server that usually runs
 * FastAPI.
 */
const STARLETTE_ERROR = /^\{"detail":"[^"]*"\}$|^Internal Server Error$/;

const REVEALING_HEADERS: readonly string[] = ['x-powered-by', 'server', 'x-runtime', 'x-aspnet-version', 'set-cookie'];

/** Stacks that stand for a language without a framework. */
const PLAIN_STACKS: readonly Stack[] = ['node', 'python', 'java', 'php', 'ruby'];

function fromHeader(name: string, value: string): KnownStack | null {
  const source = `${name}: ${value.slice(0, 80)}`;
  const known = (signs: readonly Sign[]) => signs.find(([pattern]) => pattern.test(value))?.[1];
  switch (name.toLowerCase()) {
    case 'set-cookie': {
      const cookie = known(COOKIES);
      return cookie === undefined ? null : { name: cookie, source: `${name}: ${value.split('=')[0]}` };
    }
    // This header contains the version of ASP.NET.
    case 'x-aspnet-version':
      return { name: 'dotnet', source };
    default: {
      // Ruby's X-Runtime is the duration of the request.
      const isRuntime = name.toLowerCase() === 'x-runtime' && /^\d+\.\d+$/.test(value);
      const stack = isRuntime ? 'rails' : known(SIGNS);
      return stack === undefined ? null : { name: stack, source };
    }
  }
}

function fromHeaders({ headers }: RecordedAnswer): KnownStack[] {
  const revealing = headers.flatMap(([name, value]) => {
    const rank = REVEALING_HEADERS.indexOf(name.toLowerCase());
    return rank === -1 ? [] : [{ rank, name, value }];
  });
  return revealing.toSorted((a, b) => a.rank - b.rank).flatMap(({ name, value }) => fromHeader(name, value) ?? []);
}

function fromBody({ status, headers, body }: RecordedAnswer): KnownStack[] {
  const text = body.text ?? '';
  if (status < 400 && !/<b>\w+<\/b>: /.test(text)) return [];
  const headerOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';
  // Go's `http.Error` sets both headers and ends the text with a line feed.
  const isGoError =
    headerOf('x-content-type-options') === 'nosniff' &&
    headerOf('content-type') === 'text/plain; charset=utf-8' &&
    /^[^\n<{]{1,200}\n$/.test(text);
  const found = [
    ...ERROR_PAGES.filter(([pattern]) => pattern.test(text)).map(([, name]) => name),
    ...(/^(?:uvicorn|hypercorn)/.test(headerOf('server')) && STARLETTE_ERROR.test(text) ? (['fastapi'] as const) : []),
    ...(isGoError ? (['go'] as const) : []),
  ];
  return found.map((name) => ({ name, source: `an error page of ${titleOfStack(name).title}` }));
}

/**
 * Detects a header that Node's server adds by default. Tomcat sends other numbers, and Apache adds `max`. A proxy may
 * also add it.
 */
const fromKeepAlive = ({ headers }: RecordedAnswer): KnownStack[] =>
  headers
    .filter(([name, value]) => name.toLowerCase() === 'keep-alive' && value === 'timeout=5')
    .map(([name, value]) => ({ name: 'node', source: `${name}: ${value}` }));

/** Whether one stack is more specific than the other: a framework of its language, or built on its framework. */
function refines(one: Stack, other: Stack): boolean {
  if (PLAIN_STACKS.includes(one) || titleOfStack(one).language !== titleOfStack(other).language) return false;
  return fixSources(one).slice(1).includes(other) || PLAIN_STACKS.includes(other);
}

const beginningOf = ({ status, body: { length, text } }: RecordedAnswer) =>
  `${status} ${length} ${text?.slice(0, 100)}`;

/**
 * Returns the stack that the answers to failed checks reveal; null if they reveal none. Headers take precedence over
 * bodies, and bodies over `Keep-Alive`.
 */
export function guessStack(results: readonly Pick<ScenarioResult, 'exchanges'>[]): KnownStack | null {
  const answers = results.flatMap(({ exchanges }) => exchanges.flatMap(({ response }) => response ?? []));
  // Duplicates are skipped, because most answers of a run have the same text.
  const different = new Map(answers.map((answer) => [beginningOf(answer), answer])).values();
  const [first, ...others] = [
    ...answers.flatMap(fromHeaders),
    ...[...different].flatMap(fromBody),
    ...answers.flatMap(fromKeepAlive),
  ];
  if (first === undefined) return null;
  return others.reduce((best, one) => (refines(one.name, best.name) ? one : best), first);
}
