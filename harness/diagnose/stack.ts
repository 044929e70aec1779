/** Which stack an endpoint is built with, as far as its answers give it away: fixes are told for it. Pure. */
import type { Stack } from '../../contract/index.ts';
import type { Exchange, ScenarioResult } from '../report/result-document.ts';

export interface KnownStack {
  readonly name: Stack;
  /** What gives it away: `Server: Werkzeug/3.1`, or `--stack`. */
  readonly told: string;
}

/**
 * What headers say. `Server` and `X-Powered-By` name a server, and a server is used by few stacks. Go and Fastify say nothing of themselves,
 * and a proxy in front hides the rest.
 */
const SIGNS: readonly (readonly [pattern: RegExp, stack: Stack])[] = [
  [/\bexpress\b/i, 'express'],
  [/\bfastify\b/i, 'fastify'],
  [/\bwsgiserver\b|\bdjango\b|\bdaphne\b/i, 'django'],
  [/\bwerkzeug\b|\bgunicorn\b|\buvicorn\b|\bhypercorn\b|\bwaitress\b|\bflask\b/i, 'flask'],
  [/\bjetty\b|\btomcat\b|\bcoyote\b|\bundertow\b|\bspring\b|\bservlet\b/i, 'spring'],
  [/\bphusion\b|\bpassenger\b|\bpuma\b|\bunicorn\b|\bwebrick\b|\brails\b/i, 'rails'],
  [/\bphp\b|\blaravel\b|^apache\b/i, 'laravel'],
  [/\bkestrel\b|\basp\.net\b|\bmicrosoft-iis\b/i, 'dotnet'],
  [/\bfasthttp\b/i, 'go'],
];

const TELLING = ['x-powered-by', 'server', 'x-runtime', 'x-aspnet-version'] as const;

function stackOf(headers: NonNullable<Exchange['response']>['headers']): KnownStack | null {
  for (const wanted of TELLING) {
    for (const [name, value] of headers) {
      if (name.toLowerCase() !== wanted) continue;
      // Ruby's X-Runtime is the time that the application took; ASP.NET's header is its version.
      if (wanted === 'x-runtime' && /^\d+\.\d+$/.test(value)) return { name: 'rails', told: `${name}: ${value}` };
      if (wanted === 'x-aspnet-version') return { name: 'dotnet', told: `${name}: ${value}` };
      const found = SIGNS.find(([pattern]) => pattern.test(value));
      if (found !== undefined) return { name: found[1], told: `${name}: ${value.slice(0, 80)}` };
    }
  }
  return null;
}

/** The stack that the answers to what was not passed give away; null when they do not. */
export function guessStack(results: readonly Pick<ScenarioResult, 'exchanges'>[]): KnownStack | null {
  for (const { exchanges } of results) {
    for (const { response } of exchanges) {
      const found = response === null ? null : stackOf(response.headers);
      if (found !== null) return found;
    }
  }
  return null;
}
