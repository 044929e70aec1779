/** Guesses the stack of an endpoint from its answers, for the fixes. Pure. */
import type { Stack } from '../../contract/index.ts';
import type { Exchange, ScenarioResult } from '../report/result-document.ts';

export interface KnownStack {
  readonly name: Stack;
  /** The source: `Server: Werkzeug/3.1`, or `--stack`. */
  readonly source: string;
}

/**
 * Patterns of the headers, in the order in which they are tried. A server that several frameworks use reveals the
 * language alone: the plain stack of the language, whose fixes hold for its frameworks. Go, Fastify, Hono and NestJS on
 * Fastify do not name themselves, Laravel and Slim are `PHP`, and a proxy hides the rest.
 */
const SIGNS: readonly (readonly [pattern: RegExp, stack: Stack])[] = [
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

const REVEALING_HEADERS = ['x-powered-by', 'server', 'x-runtime', 'x-aspnet-version'] as const;

function stackOf(headers: NonNullable<Exchange['response']>['headers']): KnownStack | null {
  for (const wanted of REVEALING_HEADERS) {
    for (const [name, value] of headers) {
      if (name.toLowerCase() !== wanted) continue;
      // Ruby's X-Runtime is the time that the application took; ASP.NET's header is its version.
      if (wanted === 'x-runtime' && /^\d+\.\d+$/.test(value)) return { name: 'rails', source: `${name}: ${value}` };
      if (wanted === 'x-aspnet-version') return { name: 'dotnet', source: `${name}: ${value}` };
      const found = SIGNS.find(([pattern]) => pattern.test(value));
      if (found !== undefined) return { name: found[1], source: `${name}: ${value.slice(0, 80)}` };
    }
  }
  return null;
}

/** The stack that the answers to failed checks reveal; null when they do not. */
export function guessStack(results: readonly Pick<ScenarioResult, 'exchanges'>[]): KnownStack | null {
  for (const { exchanges } of results) {
    for (const { response } of exchanges) {
      const found = response === null ? null : stackOf(response.headers);
      if (found !== null) return found;
    }
  }
  return null;
}
