/** Guesses the stack of an endpoint from its answers, for the fixes. Pure. */
import { fixSources, type Stack, titleOfStack } from '../../contract/index.ts';
import type { Exchange, ScenarioResult } from '../report/result-document.ts';

export interface KnownStack {
  readonly name: Stack;
  /** The source: `Server: Werkzeug/3.1`, an error page, or `--stack`. */
  readonly source: string;
}

type Answer = NonNullable<Exchange['response']>;
type Sign = readonly [pattern: RegExp, stack: Stack];

/**
 * Patterns of the headers, in the order in which they are tried. A server that several frameworks use reveals the
 * language alone: the plain stack of the language, whose fixes hold for its frameworks. Go, Fastify, Hono and NestJS on
 * Fastify do not name themselves, Laravel and Slim are `PHP`, and a proxy hides the rest.
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

/** Names of cookies that a framework sets by default. */
const COOKIES: readonly Sign[] = [
  [/^laravel_session=/, 'laravel'],
  [/^csrftoken=/, 'django'],
  [/^connect\.sid=/, 'express'],
  [/^PHPSESSID=/, 'php'],
  [/^JSESSIONID=/, 'java'],
];

/** The beginnings and phrases of the error pages that frameworks and servers have by default. */
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

/** What an answer says only together with the server that is already known. */
const ERRORS_OF_SERVERS: readonly (readonly [server: RegExp, ...Sign])[] = [
  [/^uvicorn|^hypercorn/, /^\{"detail":"[^"]*"\}$|^Internal Server Error$/, 'fastapi'],
];

const REVEALING_HEADERS = ['x-powered-by', 'server', 'x-runtime', 'x-aspnet-version'] as const;

/** Stacks that are a language without a framework. */
const PLAIN_STACKS: readonly Stack[] = ['node', 'python', 'java', 'php', 'ruby'];

function fromHeaders({ headers }: Answer): KnownStack[] {
  const found: KnownStack[] = [];
  for (const wanted of REVEALING_HEADERS) {
    for (const [name, value] of headers) {
      if (name.toLowerCase() !== wanted) continue;
      const source = `${name}: ${value.slice(0, 80)}`;
      // Ruby's X-Runtime is the time that the application took; ASP.NET's header is its version.
      if (wanted === 'x-runtime' && /^\d+\.\d+$/.test(value)) found.push({ name: 'rails', source });
      if (wanted === 'x-aspnet-version') found.push({ name: 'dotnet', source });
      const sign = SIGNS.find(([pattern]) => pattern.test(value));
      if (sign !== undefined) found.push({ name: sign[1], source });
    }
  }
  for (const [name, value] of headers) {
    const sign = name.toLowerCase() === 'set-cookie' && COOKIES.find(([pattern]) => pattern.test(value));
    if (sign) found.push({ name: sign[1], source: `${name}: ${value.split('=')[0]}` });
  }
  return found;
}

function fromBody({ status, headers, body }: Answer): KnownStack[] {
  const text = body.text ?? '';
  if (status < 400 && !/<b>\w+<\/b>: /.test(text)) return [];
  const headerOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';
  const page = ERROR_PAGES.map(([pattern, name]) => ({ name, shown: pattern.exec(text)?.[0] }));
  const known = ERRORS_OF_SERVERS.map(([server, pattern, name]) => ({
    name,
    shown: server.test(headerOf('server')) ? pattern.exec(text)?.[0] : undefined,
  }));
  // Go's `http.Error` sets both headers and ends the text with a line feed.
  const isGoError =
    headerOf('x-content-type-options') === 'nosniff' &&
    headerOf('content-type') === 'text/plain; charset=utf-8' &&
    /^[^\n<{]{1,200}\n$/.test(text);
  const go = { name: 'go' as const, shown: isGoError ? text : undefined };
  return [...page, ...known, go].flatMap(({ name, shown }) =>
    shown === undefined
      ? []
      : [{ name, source: `an error page with "${shown.replace(/\s+/g, ' ').trim().slice(0, 60)}"` }],
  );
}

/** Whether a finding says more than another: the framework of a language, or what is built on that framework. */
function refines(one: Stack, other: Stack): boolean {
  if (PLAIN_STACKS.includes(one) || titleOfStack(one).language !== titleOfStack(other).language) return false;
  return fixSources(one).slice(1).includes(other) || PLAIN_STACKS.includes(other);
}

/** The stack that the answers to failed checks reveal; null when they do not. A header counts more than a page. */
export function guessStack(results: readonly Pick<ScenarioResult, 'exchanges'>[]): KnownStack | null {
  const answers = results.flatMap(({ exchanges }) => exchanges.flatMap(({ response }) => response ?? []));
  const [first, ...others] = [...answers.flatMap(fromHeaders), ...answers.flatMap(fromBody)];
  if (first === undefined) return null;
  return others.reduce((best, one) => (refines(one.name, best.name) ? one : best), first);
}
