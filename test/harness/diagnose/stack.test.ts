import { describe, expect, it } from 'vitest';
import { fixFor } from '../../../harness/diagnose/diagnose.ts';
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
    ['Server', 'gunicorn', 'flask'],
    ['Server', 'uvicorn', 'flask'],
    ['Server', 'WSGIServer/0.2 CPython/3.13.5', 'django'],
    ['Server', 'Jetty(12.0.15)', 'spring'],
    ['Server', 'Apache-Coyote/1.1', 'spring'],
    ['Server', 'nginx + Phusion Passenger 6.0.23', 'rails'],
    ['X-Runtime', '0.012345', 'rails'],
    ['X-Powered-By', 'PHP/8.4.16', 'laravel'],
    ['Server', 'Apache/2.4.66 (Debian)', 'laravel'],
    ['Server', 'Kestrel', 'dotnet'],
    ['X-Powered-By', 'ASP.NET', 'dotnet'],
  ])('is guessed from %s: %s', (name, value, stack) => {
    expect(guessed([name, value])).toEqual({ name: stack, told: `${name}: ${value}` });
  });

  it.each([
    ['Server', 'nginx/1.26.3'],
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
  const fix = { rule: 'The rule.', express: 'In Express.', django: 'In Django.' };
  const told = 'Server: x';

  it.each([
    ['express', 'The rule. In Express.'],
    ['django', 'The rule. In Django.'],
    ['flask', 'The rule. In Django.'],
    ['fastify', 'The rule. In Express.'],
    ['go', 'The rule.'],
    [null, 'The rule.'],
  ] as const)('for %s is: %s', (name, text) => {
    const stack = name === null ? null : { name, told };
    expect(fixFor(fix, stack)).toEqual({ fix: text, stack: text === fix.rule ? null : stack });
  });
});
