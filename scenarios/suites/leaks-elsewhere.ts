/** Requests without credentials to other URLs of the server, where files and pages may show its configuration. */
import { fixedText } from '../changes/bodies.ts';
import type { AddressChange, Delivery, Expectation, FlowScenario } from '../scenario.ts';
import { inSequence } from './flows.ts';

/** Permits any answer that contains no credentials. */
const withoutCredentials: Expectation = {
  text: 'any answer without a secret, a key or a signature',
  authentic: false,
  pass: ['2xx', '3xx', '4xx', '5xx', 'closed'],
  warn: ['none'],
  unclear: ['unreadable'],
  absent: ['signature', 'secret', 'api-key'],
};

/** Permits any answer that contains no credentials and is not a page about the internals of the receiver. */
const withoutInternalPages: Expectation = {
  ...withoutCredentials,
  text: 'any answer that is not a page or file for operators',
  absent: ['internal-page'],
};

/**
 * Sends a request without a body and without any header except Host. A POST also has `Content-Length: 0`. `path`
 * receives the registered path.
 */
function visit(
  label: string,
  path: (registered: string, nonce: string) => string,
  method = 'GET',
  expect = withoutCredentials,
): Delivery {
  const names = method === 'POST' ? ['host', 'content-length'] : ['host'];
  const address: AddressChange = {
    label: `${label}, without credentials`,
    make: ({ target, headers }, kit) => ({
      method,
      target: path(target.split('?')[0] ?? '/', kit.nonce(16)),
      headers: headers.filter(([name]) => names.includes(name.toLowerCase())),
    }),
  };
  return { label, change: { serialise: fixedText(''), address }, expect };
}

/** Paths at which frameworks and careless deployments expose their configuration. */
const KNOWN_PATHS = [
  '/',
  '/.env',
  '/.git/config',
  '/config',
  '/config.json',
  '/env',
  '/debug',
  '/actuator/env',
  '/phpinfo.php',
  '/health',
  '/status',
  '/info',
  '/metrics',
] as const;

const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1);

export const leaksElsewhere: FlowScenario = {
  id: 'leaks/other-urls',
  title: 'Handles requests to other URLs without revealing a credential',
  defect: 'Reveals credentials at another URL',
  level: 'must',
  requirements: ['no-leak'],
  flow: () =>
    inSequence(
      visit('GET at the endpoint', (registered) => registered),
      visit('OPTIONS at the endpoint', (registered) => registered, 'OPTIONS'),
      visit('GET of a random path', (_registered, nonce) => `/${nonce}`),
      visit('POST to a random path', (_registered, nonce) => `/${nonce}`, 'POST'),
      ...KNOWN_PATHS.map((path) => visit(`GET ${path}`, () => path)),
      visit('GET .env below the endpoint', (registered) => `${registered.replace(/\/$/, '')}/.env`),
      visit('GET .env in the folder of the endpoint', (registered) =>
        folderOf(registered) === '/' ? '/.env.local' : `${folderOf(registered)}.env`,
      ),
    ),
  mistake: 'configuration-file-served',
};

/**
 * Paths at which platforms serve pages for operators. `/actuator/heapdump` is left out, because a request for it makes
 * the receiver write its memory to disk; `/actuator` lists this page.
 */
const INTERNAL_PATHS = [
  '/debug/pprof/',
  '/debug/vars',
  '/actuator',
  '/actuator/env',
  '/actuator/mappings',
  '/_profiler/',
  '/phpinfo.php',
  '/server-status',
  '/.env',
  '/.git/HEAD',
  '/console',
  '/rails/info/properties',
] as const;

export const leaksOfOperators: FlowScenario = {
  id: 'leaks/internal-pages',
  title: 'Does not serve profiles, settings or other pages for operators next to the endpoint',
  defect: 'Serves pages for operators, such as profiles or settings, to everyone',
  level: 'should',
  requirements: ['no-hints'],
  flow: () =>
    inSequence(...INTERNAL_PATHS.map((path) => visit(`GET ${path}`, () => path, 'GET', withoutInternalPages))),
  mistake: 'operator-pages-public',
};
