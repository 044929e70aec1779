import { describe, expect, it } from 'vitest';
import { guessStack } from '../../../harness/diagnose/stack.ts';
import { exchangeWith, resultWith, textBody } from '../report/documents.ts';

function guessed(...headers: [string, string][]) {
  const response = { status: 401, headers, body: textBody('') };
  return guessStack([resultWith({ exchanges: [exchangeWith({ response: null }), exchangeWith({ response })] })]);
}

function guessedFrom(status: number, text: string, ...headers: [string, string][]) {
  return guessStack([
    resultWith({ exchanges: [exchangeWith({ response: { status, headers, body: textBody(text) } })] }),
  ]);
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
    ['Keep-Alive', 'timeout=5', 'node'],
  ])('is guessed from %s: %s', (name, value, stack) => {
    expect(guessed([name, value])).toEqual({ name: stack, source: `${name}: ${value}` });
  });

  it.each([
    ['Server', 'nginx/1.26.3'],
    ['Server', 'Apache/2.4.66 (Debian)'],
    ['Server', 'cloudflare'],
    ['Keep-Alive', 'timeout=5, max=100'],
    ['Keep-Alive', 'timeout=60'],
    ['Content-Type', 'text/html; express'],
    ['X-Runtime', 'node'],
  ])('is not guessed from %s: %s', (name, value) => {
    expect(guessed([name, value])).toBeNull();
  });

  it.each([
    ['fastify', '{"statusCode":415,"code":"FST_ERR_CTP_INVALID_MEDIA_TYPE","error":"Error","message":""}'],
    ['fastify', '{"message":"Route POST:/nope not found","error":"Not Found","statusCode":404}'],
    ['nestjs', '{"statusCode":500,"message":"Internal server error"}'],
    ['nestjs', '{"message":"Cannot POST /nope","error":"Not Found","statusCode":404}'],
    ['nestjs', '{"message":"Unauthorized","statusCode":401}'],
    ['nestjs', '{"statusCode":400,"message":["id must be a string"],"error":"Bad Request"}'],
    ['node', '{"statusCode":500,"error":"Internal Server Error","message":"An internal server error occurred"}'],
    ['express', '<!DOCTYPE html>\n<html lang="en">\n<body>\n<pre>Cannot POST /nope</pre>\n</body>\n</html>\n'],
    ['express', '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</title>\n</head>'],
    ['node', '<!DOCTYPE html><html><head></head><body><script id="__NEXT_DATA__"></script></body></html>'],
    ['django', '<h1>Forbidden <span>(403)</span></h1>\n  <p>CSRF verification failed. Request aborted.</p>'],
    ['django', '\n<!doctype html>\n<html lang="en">\n<body>\n  <h1>Bad Request (400)</h1><p></p>\n</body>\n</html>'],
    ['django', '\n<!doctype html>\n<html lang="en">\n<body>\n  <h1>Server Error (500)</h1><p></p>\n</body>\n</html>'],
    ['django', '<h1>Not Found</h1><p>The requested resource was not found on this server.</p>'],
    ['django', "<p>You're seeing this error because you have <code>DEBUG = True</code> in your settings file.</p>"],
    ['flask', '<!doctype html>\n<html lang=en>\n<title>500 Internal Server Error</title>\n<h1></h1>'],
    ['flask', '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">\n<title>404 Not Found</title>\n<h1></h1>'],
    ['flask', '<title>KeyError: &#39;x&#39;\n // Werkzeug Debugger</title>'],
    ['fastapi', '{"detail":[{"loc":["body",1],"msg":"Expecting value","type":"value_error.jsondecode"}]}'],
    ['fastapi', '{"detail":[{"type":"json_invalid","loc":["body",0],"msg":"JSON decode error","input":{}}]}'],
    ['python', '<html>\n  <body>\n    <h1><p>Internal Server Error</p></h1>\n    \n  </body>\n</html>\n'],
    ['python', '<html><title>405: Method Not Allowed</title><body>405: Method Not Allowed</body></html>'],
    ['python', '500 Internal Server Error\n\nServer got itself in trouble'],
    ['laravel', '{\n    "message": "Server Error"\n}'],
    ['laravel', '{"message":"CSRF token mismatch."}'],
    ['laravel', '<title>Page Expired</title>'],
    ['laravel', '{"message": "x", "exception": "Illuminate\\\\Database\\\\QueryException"}'],
    ['php', '<h1>Oops! An Error Occurred</h1>\n<h2>The server returned a "500 Internal Server Error".</h2>'],
    ['php', '<br />\n<b>Fatal error</b>:  Uncaught Exception: x in /srv/hook.php:2'],
    ['rails', "<h1>We're sorry, but something went wrong.</h1>"],
    ['rails', '<h1>The change you wanted was rejected.</h1>'],
    ['rails', '{"status":500,"error":"Internal Server Error"}'],
    ['rails', '<title>Action Controller: Exception caught</title>'],
    ['rails', '<h1>Blocked host: localhost</h1>'],
    ['ruby', '<h2>Sinatra doesn’t know this ditty.</h2>'],
    ['ruby', 'Puma caught this error: x (RuntimeError)'],
    ['spring', '<html><body><h1>Whitelabel Error Page</h1></body></html>'],
    ['spring', '{"timestamp":"2026-01-01T00:00:00.000+00:00","status":500,"error":"Error","path":"/hooks"}'],
    ['java', '<!doctype html><html lang="en"><head><title>HTTP Status 400 – Bad Request</title>'],
    ['go', '404 page not found\n'],
    ['go', 'http: request body too large\n'],
    ['dotnet', '{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1","title":"Bad Request","status":400}'],
    ['rust', 'Failed to parse the request body as JSON: EOF while parsing'],
  ])('is guessed from an error page: %s, %s', (stack, text) => {
    expect(guessedFrom(500, text)?.name).toBe(stack);
  });

  it.each([
    '{"error":"unauthorized"}',
    '{"message":"invalid signature"}',
    '{"detail":"Not Found"}',
    '{"status":"error","error":"Internal Server Error"}',
    '{"statusCode":401}',
    'Internal Server Error',
    'Bad Request',
    '<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>',
    '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n<html><head>\n<title>403 Forbidden</title>\n</head>',
  ])('is not guessed from the answer %s', (text) => {
    expect(guessedFrom(500, text)).toBeNull();
  });

  it('is not guessed from the answer to an accepted delivery, unless it has a warning of PHP', () => {
    expect(guessedFrom(200, '{"statusCode":200,"message":"ok"}')).toBeNull();
    expect(guessedFrom(200, '<br />\n<b>Warning</b>:  Undefined array key "x"')?.name).toBe('php');
  });

  it('is guessed from the language that a server names and the error page of a framework', () => {
    const page = '<h1>Server Error (500)</h1>';
    expect(guessedFrom(500, page, ['Server', 'gunicorn'])?.name).toBe('django');
    expect(guessedFrom(500, '{"statusCode":500,"message":"x"}', ['X-Powered-By', 'Express'])?.name).toBe('nestjs');
    expect(guessedFrom(422, '{"detail":"Not Found"}', ['server', 'uvicorn'])?.name).toBe('fastapi');
    expect(guessedFrom(500, 'Internal Server Error', ['server', 'uvicorn'])?.name).toBe('fastapi');
    expect(guessedFrom(500, '<title>Page Expired</title>', ['X-Powered-By', 'PHP/8.2'])?.name).toBe('laravel');
  });

  it('is guessed from a header rather than from the error page of another language', () => {
    expect(guessedFrom(500, '<h1>Server Error (500)</h1>', ['X-Powered-By', 'Express'])?.name).toBe('express');
    expect(
      guessedFrom(500, '{"statusCode":500,"error":"Error","message":"x"}', ['X-Powered-By', 'Express'])?.name,
    ).toBe('express');
  });

  it('is guessed from the error page of another language rather than from Keep-Alive, which a proxy may add', () => {
    expect(guessedFrom(404, '404 page not found\n', ['Keep-Alive', 'timeout=5'])?.name).toBe('go');
  });

  it('is guessed from the two headers of http.Error in Go, and from cookies', () => {
    const headers: [string, string][] = [
      ['Content-Type', 'text/plain; charset=utf-8'],
      ['X-Content-Type-Options', 'nosniff'],
    ];
    expect(guessedFrom(401, 'unauthorized\n', ...headers)?.name).toBe('go');
    expect(guessedFrom(401, 'unauthorized', ...headers)).toBeNull();
    expect(guessedFrom(302, '', ['Set-Cookie', 'laravel_session=eyJpdiI6; path=/'])).toEqual({
      name: 'laravel',
      source: 'Set-Cookie: laravel_session',
    });
  });

  it('names the page that it was guessed from', () => {
    expect(guessedFrom(404, '404 page not found\n')?.source).toBe('an error page of Go net/http');
  });

  it('is guessed from the application rather than from the server in front', () => {
    expect(guessed(['Server', 'Apache/2.4'], ['X-Powered-By', 'Express'])?.name).toBe('express');
  });

  it('is unknown without an answer', () => {
    expect(guessStack([])).toBeNull();
    expect(guessStack([resultWith({ exchanges: [exchangeWith({ response: null })] })])).toBeNull();
  });
});
