import type { StageFault } from './fault.ts';
import { type Failed, type Page, refusingKey, show, showingInstead } from './leaking-answer.ts';

const base = { area: 'leaks', severity: 'critical', forbidden: true } as const;

const NO_ECHO: StageFault['fix'] = {
  rule: 'Answer with fixed texts. Never copy headers, the configuration or variables into an answer, not even into an error page.',
  express:
    'Set NODE_ENV=production, and end the chain with an error handler that sends a status and a word: `(err, req, res, next) => res.status(400).json({ error: "bad-request" })`.',
  django: 'Set `DEBUG = False`.',
  flask: 'Do not run with `debug=True`.',
  spring: 'Keep `server.error.include-message` and `include-stacktrace` at never.',
  rails: 'Set `config.consider_all_requests_local = false`.',
  laravel: 'Set `APP_DEBUG=false` and clear the cached configuration.',
  dotnet: 'Use `UseExceptionHandler` and leave `UseDeveloperExceptionPage` to development.',
};

const KEY_TRAVELS =
  'The sender keeps answers in its log and shows them in its dashboard, so the API key gets to people and places that should not have it.';

/** The request as an error page for developers prints it. */
const request = ({ req, rawBody }: Failed) => ({
  method: req.method,
  url: req.originalUrl,
  headers: req.headers,
  ...(rawBody !== undefined && { body: rawBody.toString('utf8') }),
});

/** Environment variables as a debug page lists them. */
function environment({ signing, apiKey }: Failed['config']): string {
  const rows = { NODE_ENV: 'development', WEBHOOK_SECRET: signing?.secrets[0], WEBHOOK_KEY: apiKey?.keys[0] };
  return Object.entries(rows)
    .map(([name, value]) => `<tr><td>${name}</td><td>${(value ?? '').replaceAll('=', '&#x3D;')}</td></tr>`)
    .join('');
}

const echo = (failed: Failed): Page => ({ body: { error: 'could not handle this request', request: request(failed) } });

/** Answers that hold the secret or the API key. */
export const shownCredentials: readonly StageFault[] = [
  {
    ...base,
    name: 'shows-right-key',
    title: 'A wrong API key is answered with the right one.',
    seen: 'Messages of the kind "expected X, got Y", and assertions whose text is sent.',
    why: 'The first guess is the last one that an attacker needs.',
    fix: NO_ECHO,
    needs: ['api-key'],
    stage: 'checkApiKey',
    replace: refusingKey(({ presented, keys }) =>
      presented === undefined ? null : { body: { error: `API key is not ${keys[0]}`, presented } },
    ),
  },
  {
    ...base,
    name: 'shows-variables-without-key',
    title: 'A missing API key ends in an exception, and its debug page lists the variables around it.',
    seen: 'Error pages of Laravel, Django and Symfony in debug mode, where a value is only masked if its name is on a list.',
    why: 'A request without any credential is enough to be handed the secret and the key.',
    fix: NO_ECHO,
    needs: ['api-key'],
    stage: 'checkApiKey',
    replace: (parts) =>
      refusingKey(({ presented, req }) =>
        presented === undefined
          ? {
              body: `<h1>Undefined header</h1><table>${environment(parts.config)}</table><p>${req.method} ${req.path}</p>`,
            }
          : null,
      )(parts),
  },
  {
    ...base,
    name: 'shows-configuration-to-other-methods',
    title: 'Any method but POST is answered with a page about the endpoint and its configuration.',
    seen: 'Status pages for "is my webhook set up?", made for a browser and for the time of development.',
    why: 'Search engines and scanners come by with GET. Who finds the address has the secret.',
    fix: {
      ...NO_ECHO,
      rule: 'Answer other methods with 405 and nothing else; put a status page behind a login, without secrets.',
    },
    stage: 'accept',
    replace: showingInstead('accept', 405, ({ config }) => ({
      body: `<h1>Webhook endpoint</h1><table>${environment(config)}</table>`,
      headers: { Allow: 'POST' },
    })),
  },
  {
    ...base,
    name: 'echoes-headers-of-broken-json',
    title: 'A body that is no JSON is answered with the whole request, its headers with the API key included.',
    seen: 'Error handlers that send the request along "for support", and error objects of HTTP libraries that are turned into JSON whole.',
    why: KEY_TRAVELS,
    fix: NO_ECHO,
    severity: 'high',
    needs: ['api-key'],
    stage: 'parse',
    replace: showingInstead('parse', 400, echo),
  },
  {
    ...base,
    name: 'echoes-headers-of-invalid-fields',
    title: 'A payload that fails validation is answered with the request, its headers with the API key included.',
    seen: 'Validators that are given the whole request in place of the body, and repeat their input in the error.',
    why: KEY_TRAVELS,
    fix: { ...NO_ECHO, rule: 'Validate the body alone, and answer with the names of the fields that are wrong.' },
    severity: 'high',
    needs: ['api-key'],
    stage: 'validate',
    replace: showingInstead('validate', 400, echo),
  },
  {
    ...base,
    name: 'echoes-headers-of-other-content-types',
    title: 'A body of another content type is answered with all headers of the request.',
    seen: 'Handlers for 415 that list what they were given so that the sender can see its mistake.',
    why: KEY_TRAVELS,
    fix: NO_ECHO,
    severity: 'high',
    needs: ['api-key'],
    stage: 'checkContentType',
    replace: showingInstead('checkContentType', 415, echo),
  },
  {
    ...base,
    name: 'echoes-headers-of-large-bodies',
    title: 'A body beyond the limit is answered with all headers of the request.',
    seen: 'Error pages of reverse proxies that were adapted to show the request, and limits that are enforced apart from all other errors.',
    why: `${KEY_TRAVELS} This path is tested by hardly anyone.`,
    fix: NO_ECHO,
    severity: 'high',
    needs: ['api-key'],
    stage: 'readBody',
    replace: showingInstead('readBody', 413, echo),
  },
  {
    ...base,
    name: 'echoes-headers-of-accepted-deliveries',
    title: 'An accepted delivery is answered with what was received, its headers included.',
    seen: 'Request bins, echo templates of serverless platforms, and `res.json({ received: { headers, body } })` from the first day.',
    why: KEY_TRAVELS,
    fix: { ...NO_ECHO, rule: 'Answer 200 with an empty body, or with a word of your own.' },
    severity: 'high',
    needs: ['api-key'],
    stage: 'reply',
    replace:
      ({ handling, config }) =>
      (req, res) => {
        const { notification, stored, rawBody } = res.locals;
        show(res, 200, { body: { received: request({ req, config, rawBody }) } });
        if (stored === 'stored' && notification !== undefined) handling.wake();
      },
  },
];
