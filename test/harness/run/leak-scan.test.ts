import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { findLeaks, isHarmless } from '../../../harness/run/leak-scan.ts';
import type { Leak } from '../../../scenarios/index.ts';
import { SPELLINGS } from '../../proofs/hostile/spellings.ts';
import { API_KEY, answered, assembled, partnerAt, SECRET } from './parts.ts';

const partner = partnerAt();
const { rightSignature } = assembled();
const right = rightSignature!;
const digest = Buffer.from(right, 'base64');

function leaksIn(body: string, headers: [string, string][] = [], sent: string[] = []): Leak[] {
  const { answer } = answered(401, body, headers);
  return isHarmless(answer!, partner) ? [] : findLeaks(answer!, partner, [right], sent);
}

describe('findLeaks', () => {
  it.each<[string, string, Leak[]]>([
    ['nothing', '{"error":"unauthorized"}', []],
    ['the secret', `key=${SECRET}`, ['secret']],
    ['the key', `{"expected":"${API_KEY}"}`, ['api-key']],
    ['the signature', `expected ${right}`, ['signature']],
    ['the signature without padding', right.replace('=', ''), ['signature']],
    ['the signature in hex', digest.toString('hex'), ['signature']],
    ['the signature in upper-case hex', digest.toString('hex').toUpperCase(), ['signature']],
    ['the signature in base64url', digest.toString('base64url'), ['signature']],
    ['the signature as JSON of PHP', `{"expected":"${right.replaceAll('/', '\\/')}"}`, ['signature']],
    [
      'the signature in HTML',
      right.replaceAll(/[+/=]/g, (one) => `&#x${one.charCodeAt(0).toString(16)};`),
      ['signature'],
    ],
    ['the signature in a link', encodeURIComponent(right), ['signature']],
    ['the signature as JSON of a buffer', JSON.stringify({ expected: digest }, null, 2), ['signature']],
    ['the signature as a printed buffer', `expected ${inspect(digest)}`, ['signature']],
    ['the text of the signature as JSON of a buffer', JSON.stringify(Buffer.from(right)), ['signature']],
    ['the secret in Base64', Buffer.from(SECRET).toString('base64'), ['secret']],
    ['the key in hexadecimal', Buffer.from(API_KEY).toString('hex'), ['api-key']],
    ['another signature', Buffer.from(digest.map((byte) => byte ^ 1)).toString('base64'), []],
    ['all three', `${SECRET} ${API_KEY} ${right}`, ['secret', 'api-key', 'signature']],
    ['JavaScript', 'Error: x\n    at verify (/app/server.js:10:5)\n', ['stack-trace']],
    ['Express', 'Error: x<br> &nbsp; &nbsp;at verify (/app/server.js:10:5)', ['stack-trace']],
    ['JavaScript in JSON', JSON.stringify({ stack: 'Error: x\n    at verify (/app/server.js:10:5)' }), ['stack-trace']],
    ['Java in JSON', JSON.stringify({ trace: 'x\n\tat com.example.Hook.verify(Hook.java:42)' }), ['stack-trace']],
    ['Python', 'Traceback (most recent call last):\n  File "x"', ['stack-trace']],
    ['Java', '\tat com.example.Hook.verify(Hook.java:42)', ['stack-trace']],
    ['Go', 'goroutine 1 [running]:', ['stack-trace']],
    ['PHP', 'Fatal error in /var/www/hook.php:12', ['stack-trace']],
    ['Ruby', "app/hooks.rb:12:in `verify'", ['stack-trace']],
    ['.NET', '   at App.Hook.Verify(String body) in C:\\app\\Hook.cs:line 12', ['stack-trace']],
    ['a parser of JavaScript', `Unexpected token 'x', "x" is not valid JSON`, ['parser-detail']],
    ['a parser of Python', 'Expecting value: line 1 column 1 (char 0)', ['parser-detail']],
    ['a parser of Go', "invalid character 'x' looking for beginning of value", ['parser-detail']],
    ['the newer messages of JavaScript', 'Unterminated string in JSON at position 15', ['parser-detail']],
    ['an exception of JavaScript', "Cannot read properties of undefined (reading 'id')", ['error-message']],
    ['an exception of Python', "KeyError: 'data'", ['error-message']],
    ['PostgreSQL', 'duplicate key value violates unique constraint "events_pkey"', ['database-message']],
    ['PostgreSQL in JSON', JSON.stringify('relation "events" does not exist'), ['database-message']],
    ['MySQL', "Duplicate entry 'x' for key 'PRIMARY'", ['database-message']],
    ['Django', 'because you have <code>DEBUG = True</code>', ['debug-page']],
    ['Rails', '<title>Routing Error</title>', ['debug-page']],
    ['profiles of Go', '<html><head><title>/debug/pprof/</title></head>', ['internal-page']],
    ['variables of Go', '{"cmdline": [], "memstats": {"Alloc":1}}', ['internal-page']],
    ['settings of Spring', '{"activeProfiles":[],"propertySources":[{"name":"x"}]}', ['internal-page']],
    ['routes of Spring', '{"contexts":{"app":{"mappings":{"dispatcherServlets":{}}}}}', ['internal-page']],
    ['the actuators of Spring', '{"_links":{"heapdump":{"href":"http://x/actuator/heapdump"}}}', ['internal-page']],
    ['only the health of Spring', '{"_links":{"health":{"href":"http://x/actuator/health"}}}', []],
    ['phpinfo', '<title>PHP 8.3.1 - phpinfo()</title>', ['internal-page']],
    ['Symfony', '<title>Symfony Profiler</title>', ['internal-page']],
    ['a console of Python', '<title>Console // Werkzeug Debugger</title>', ['debug-page', 'internal-page']],
    ['properties of Rails', '<td class="name">Rails version</td>', ['internal-page']],
    ['Apache', '<h1>Apache Server Status for localhost</h1>', ['internal-page']],
    ['the branch of a repository', 'ref: refs/heads/main\n', ['internal-page']],
    ['settings in .env', '# local\n\nAPP_ENV=test\nAPP_DEBUG=true\n', ['internal-page']],
    ['one assignment', 'STATUS=UP\n', []],
    ['assignments in a page', 'Set these:\n\nAPP_ENV=test\nAPP_DEBUG=true\n', []],
    ['plain words', 'We look at your request at 10:05, and expect no error in the line 5.', []],
    ['a page of HTML', '<html><body><h1>401 Unauthorized</h1>nginx/1.25.3</body></html>', []],
  ])('finds %s', (_, body, leaks) => {
    expect(leaksIn(body)).toEqual(leaks);
  });

  it('finds a credential in every spelling, and nothing in random bytes in any encoding', () => {
    const missed = (value: string, leak: Leak) =>
      Object.entries(SPELLINGS).flatMap(([name, spell]) => (leaksIn(`<${spell(value)}>`)[0] === leak ? [] : [name]));
    // Letters with others in between, and a key in another letter case, are redacted, but do not affect a verdict.
    const apart = /^letters|^joined strings|^hex in groups|^base64 in lines|^(?:lower|upper) case/;
    expect(missed(SECRET, 'secret').filter((name) => !apart.test(name))).toEqual([]);
    expect(missed(API_KEY, 'api-key').filter((name) => !apart.test(name))).toEqual([]);
    for (let count = 0; count < 20; count += 1) {
      const other = randomBytes(3_000);
      const body = [other.toString('base64'), other.toString('hex'), other.join(', '), other.toString('latin1')].join(
        ' ',
      );
      expect(leaksIn(body)).toEqual([]);
    }
  });

  it('does not report the echo of the headers of a request behind an encoding', () => {
    const echo = Buffer.from(JSON.stringify({ 'x-service-signature': right, accept: '*/*' }));
    expect(leaksIn(`{"debug":"${echo.toString('base64')}"}`, [], [right])).toEqual([]);
    expect(leaksIn(`{"debug":"${echo.toString('hex')}"}`, [], [right])).toEqual([]);
    expect(leaksIn(`{"debug":"${echo.toString('base64')}"}`)).toEqual(['signature']);
  });

  it('searches the headers', () => {
    expect(leaksIn('', [['X-Expected', right]])).toEqual(['signature']);
  });

  it('searches the reason phrase', () => {
    expect(findLeaks(answered(401, '', [], `not ${right}`).answer!, partner, [right], [])).toEqual(['signature']);
  });

  it('does not report the echo of another encoding, of a part or of a trimmed value', () => {
    const hex = digest.toString('hex');
    expect(leaksIn(`{"got":"sha256=${hex}"}`, [], [`sha256=${hex}`])).toEqual([]);
    expect(leaksIn(`{"got":"${right}"}`, [], [`\t ${right} \t`])).toEqual([]);
    expect(leaksIn(`{"got":["${right}","x"]}`, [], [`${right},x`])).toEqual([]);
    expect(leaksIn(`{"got":"sha256=${hex}","expected":"${right}"}`, [], [`sha256=${hex}`])).toEqual(['signature']);
    expect(leaksIn(`got ${SECRET}`, [], [SECRET])).toEqual([]);
  });

  it.each(['base64', 'hex', 'base64url'] as const)('does not report the echo of the secret in %s', (encoding) => {
    const sent = Buffer.from(SECRET).toString(encoding);
    const body = JSON.stringify({ expected: 'another', got: sent });
    expect(leaksIn(body, [], [sent])).toEqual([]);
    expect(leaksIn(body, [], ['another value'])).toEqual(['secret']);
  });

  it('does not report the echo of a value whose last byte is escaped', () => {
    const answer = `cannot decode "${right}\\xff"`;
    expect(leaksIn(answer, [], [`${right}\u00ff`])).toEqual([]);
    expect(leaksIn(answer)).toEqual(['signature']);
  });

  it('does not report the echo of a percent-encoded value', () => {
    const sent = encodeURIComponent(right);
    expect(sent).not.toBe(right);
    expect(leaksIn(`<p>invalid header: ${sent}</p>`, [], [sent])).toEqual([]);
    expect(leaksIn(`<p>invalid header: ${sent}</p>`, [], ['another value'])).toEqual(['signature']);
  });

  it('does not report the echo of a sent signature', () => {
    expect(leaksIn(`you sent ${right}`, [], [right])).toEqual([]);
    expect(leaksIn(`you sent ${right}`, [], [`${right}x`])).toEqual(['signature']);
  });

  it.each([
    ['the start of the signature', `expected ${right.slice(0, 20)}...`],
    ['the middle of the signature in hexadecimal', `expected ..${digest.toString('hex').slice(10, 40)}..`],
    ['the end of the key', `key ending in ${API_KEY.slice(-6)}`],
    ['the start of the secret', `secret ${SECRET.slice(0, 8)}***`],
  ])('finds %s', (_, body) => {
    expect(leaksIn(body)).toEqual(['credential-part']);
    expect(leaksIn('', [['X-Hint', body]])).toEqual(['credential-part']);
  });

  it('does not take an echo or a longer word for a part of a credential', () => {
    expect(leaksIn(`got ${right.slice(0, 20)}`, [], [right.slice(0, 30)])).toEqual([]);
    expect(leaksIn(`id x${API_KEY.slice(-6)}`)).toEqual([]);
    expect(leaksIn(`id ${API_KEY.slice(-6)}x`)).toEqual([]);
  });

  it('ignores credentials so short that they occur by chance', () => {
    const short = { url: partner.url, signing: { secret: 'test' }, apiKey: { value: 'key' } };
    expect(findLeaks(answered(401, 'test key').answer!, short, [], [])).toEqual([]);
  });

  it('finds a credential in the same text when another delivery had sent it', () => {
    const text = 'key ending in '.concat(API_KEY.slice(-8));
    expect(leaksIn(text, [], [API_KEY.slice(-8)])).toEqual([]);
    expect(leaksIn(text)).toEqual(['credential-part']);
  });
});
