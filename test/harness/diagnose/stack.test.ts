import { describe, expect, it } from 'vitest';
import { STACKS, titleOfStack } from '../../../contract/index.ts';
import { codeFor, MISTAKES } from '../../../contract/mistakes/index.ts';
import { guessStack } from '../../../harness/diagnose/stack.ts';
import { exchangeWith, resultWith, textBody } from '../report/documents.ts';

function guessed(...headers: [string, string][]) {
  const response = { status: 401, headers, body: textBody('') };
  return guessStack([resultWith({ exchanges: [exchangeWith({ response: null }), exchangeWith({ response })] })]);
}

describe('the stack', () => {
  it.each([
    ['X-Powered-By', 'Express', 'express'],
    ['server', 'Werkzeug/3.1.3 Python/3.13.5', 'flask'],
    ['Server', 'daphne', 'django'],
    ['Server', 'BaseHTTP/0.6 Python/3.11.2', 'python'],
    ['Server', 'WSGIServer/0.2 CPython/3.13.5', 'python'],
    ['Server', 'gunicorn', 'python'],
    ['Server', 'uvicorn', 'python'],
    ['Server', 'Jetty(12.0.15)', 'java'],
    ['Server', 'Apache-Coyote/1.1', 'java'],
    ['Server', 'nginx + Phusion Passenger 6.0.23', 'ruby'],
    ['Server', 'WEBrick/1.8.1 (Ruby/3.1.2/2022-04-12)', 'ruby'],
    ['X-Runtime', '0.012345', 'rails'],
    ['X-Powered-By', 'PHP/8.4.16', 'php'],
    ['Server', 'Kestrel', 'dotnet'],
    ['X-Powered-By', 'ASP.NET', 'dotnet'],
  ])('is guessed from %s: %s', (name, value, stack) => {
    expect(guessed([name, value])).toEqual({ name: stack, source: `${name}: ${value}` });
  });

  it.each([
    ['Server', 'nginx/1.26.3'],
    ['Server', 'Apache/2.4.66 (Debian)'],
    ['Server', 'cloudflare'],
    ['Content-Type', 'text/html; express'],
    ['X-Runtime', 'node'],
  ])('is not guessed from %s: %s', (name, value) => {
    expect(guessed([name, value])).toBeNull();
  });

  it('is guessed from the application rather than from the server in front', () => {
    expect(guessed(['Server', 'Apache/2.4'], ['X-Powered-By', 'Express'])?.name).toBe('express');
  });

  it('is unknown without an answer', () => {
    expect(guessStack([])).toBeNull();
    expect(guessStack([resultWith({ exchanges: [exchangeWith({ response: null })] })])).toBeNull();
  });
});

describe('the fix', () => {
  const fix = { rule: 'The rule.', express: 'In Express.', python: 'In Python.', django: 'In Django.' };
  it.each([
    ['express', 'In Express.'],
    ['django', 'In Django.'],
    ['python', 'In Python.'],
    ['flask', 'In Python.'],
    ['nestjs', 'In Express.'],
    ['node', 'In Express.'],
  ] as const)('for %s is: %s', (name, text) => {
    expect(codeFor(fix, name)).toBe(text);
  });

  it('for another stack is the rule alone', () => {
    expect(codeFor(fix, 'go')).toBeUndefined();
  });

  it('for a stack never names another language', () => {
    const foreign = Object.entries(MISTAKES).flatMap(([name, { fix: texts }]) =>
      STACKS.flatMap((stack) => {
        const { language } = titleOfStack(stack);
        const text = codeFor(texts, stack) ?? '';
        return FOREIGN.filter(([pattern, own]) => own !== language && pattern.test(text)).map(
          ([pattern]) => `${name}, ${stack}: ${pattern.source}`,
        );
      }),
    );
    expect(foreign).toEqual([]);
  });
});

/** Words that only one language has. */
const FOREIGN: readonly (readonly [pattern: RegExp, language: string])[] = [
  [/\bNode\b|Express\b|timingSafeEqual|JSON\.stringify/, 'JavaScript'],
  [/json\.(?:loads|dumps)|compare_digest/, 'Python'],
  [/php:\/\/|json_decode|json_encode|hash_equals/, 'PHP'],
  [/io\.ReadAll|json\.Unmarshal/, 'Go'],
];
