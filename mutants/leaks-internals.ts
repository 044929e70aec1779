/** Mutants whose answers reveal internals or the reason of a rejection. */
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import { type Failed, type Page, rejectSignature, show, showAccepted, showInstead } from './leaks-credentials.ts';
import { exceptFor } from './stage-changes.ts';

function messageOfParser(rawBody: Buffer | undefined): string | null {
  try {
    JSON.parse((rawBody ?? Buffer.alloc(0)).toString('utf8'));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The error page that Express sends without NODE_ENV=production. */
const expressPage = (message: string, frames: readonly string[]): Page => ({
  body: `<!DOCTYPE html><title>Error</title><pre>${[message, ...frames].join('<br> &nbsp; &nbsp;')}</pre>`,
});

const traceOfParser = ({ rawBody }: Failed): Page =>
  expressPage(`SyntaxError: ${messageOfParser(rawBody) ?? 'invalid body'}`, [
    'at JSON.parse (&lt;anonymous&gt;)',
    'at parse (/srv/app/node_modules/body-parser/lib/types/json.js:92:19)',
  ]);

const PYTHON_TRACE = [
  'Traceback (most recent call last):',
  '  File "/app/hooks/views.py", line 31, in receive',
  '    digest = base64.b64decode(header, validate=True)',
  'binascii.Error: Incorrect padding',
].join('\n');

const JAVA_TRACE = [
  'org.springframework.web.HttpMediaTypeNotSupportedException: Content type not supported',
  '\tat com.example.hooks.HookController.receive(HookController.java:48)',
].join('\n');

const PROFILES =
  '<title>/debug/pprof/</title><a href="goroutine?debug=1">goroutine</a> <a href="heap?debug=1">heap</a>';

const UNIQUE_VIOLATION =
  'ERROR: duplicate key value violates unique constraint "deliveries_pkey" DETAIL: Key (id) already exists.';

/**
 * Mutants that reveal internals, or the reason of a rejection. Internals are not credentials, so keeping them out of
 * answers is good practice, not a rule of the specification. Uniform rejections are not a rule either, because the
 * specification requires 401 and does not define the body.
 */
export const leaksInternalsFaults = family<StageFault>(
  { area: 'leaks', forbidden: false, mistake: 'debug-output-in-answer' },
  {
    // Answers that show internals.
    'shows-stack-trace-of-broken-json': [
      'Answers a body that is not JSON with a stack trace',
      showInstead('parse', 400, traceOfParser),
    ],
    'shows-message-of-json-parser': [
      'Answers a body that is not JSON with the message of the parser',
      showInstead('parse', 400, ({ rawBody }) => ({ body: { error: messageOfParser(rawBody) } })),
      'error-message-in-answer',
    ],
    'shows-parser-message-to-strangers': [
      'Answers an unsigned body that is not JSON with 401 and the message of the parser',
      rejectSignature(({ rawBody }) => {
        const message = messageOfParser(rawBody);
        return message === null ? null : { body: { error: 'unauthorized', errors: [message] } };
      }),
      'error-message-in-answer',
      {
        note: 'The message also shows that bodies are parsed before any credential is checked.',
      },
    ],
    'shows-message-of-exception': [
      'Answers an invalid payload with the message of the exception it caused',
      showInstead('validate', 400, () => ({
        body: { error: "Cannot read properties of undefined (reading 'transactionId')" },
      })),
      'error-message-in-answer',
    ],
    'shows-stack-trace-of-signature-decoder': [
      'Answers a signature that is not Base64 with a stack trace of the decoder',
      rejectSignature(({ reason }) => (reason === 'malformed' ? { body: { detail: PYTHON_TRACE } } : null)),
    ],
    'shows-debug-page-to-other-methods': [
      'Answers any method other than POST with the debug page of the framework',
      showInstead('accept', 405, () => ({
        body:
          "<h1>Page not found</h1><p>You're seeing this error because you have <code>DEBUG = True</code> in your " +
          'settings file.</p>',
        headers: { Allow: 'POST' },
      })),
    ],
    'shows-stack-trace-of-large-bodies': [
      'Answers a body over the limit with a stack trace',
      showInstead('readBody', 413, () =>
        expressPage('PayloadTooLargeError: request entity too large', [
          'at readStream (/srv/app/node_modules/raw-body/index.js:163:17)',
        ]),
      ),
    ],
    'shows-stack-trace-of-other-content-types': [
      'Answers a body of another content type with a stack trace',
      showInstead('checkContentType', 415, () => ({ body: { status: 415, trace: JAVA_TRACE } })),
    ],
    'shows-database-message-of-duplicates': [
      'Answers a duplicate with 200 and the database message about its key',
      ({ correct }) =>
        (req, res, next) => {
          if (res.locals.stored === 'stored') return correct.reply(req, res, next);
          show(res, 200, { body: { status: 'duplicate', detail: UNIQUE_VIOLATION } });
        },
      'error-message-in-answer',
      { stage: 'reply', note: 'Insert with "on conflict do nothing", and answer a duplicate like the first delivery.' },
    ],
    'appends-debug-bar': [
      'Appends a debug bar to the answer to accepted deliveries',
      showAccepted(() => ({
        body: '<div class="phpdebugbar" data-queries="12">SELECT * FROM deliveries</div>',
      })),
      {
        note: 'The bar lists session data and settings, and senders that check the response body stop delivering.',
      },
    ],
    'profiles-open-to-everyone': [
      'Serves a page for operators, such as profiles at /debug/pprof/, to everyone',
      exceptFor(
        'accept',
        ({ path, method }) => path === '/debug/pprof/' && method === 'GET',
        (_req, res) => show(res, 200, { body: PROFILES }),
      ),
      'operator-pages-public',
    ],
  },
);
