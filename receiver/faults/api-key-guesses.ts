import type { StageFault } from './fault.ts';
import { alsoAccepts } from './lenient-key.ts';

const base = { area: 'api-key', severity: 'critical', forbidden: true, stage: 'checkApiKey' } as const;

/** Keys that work at any partner's endpoint with the same mistake, because nothing secret is in them. */
export const guessableKeys: readonly StageFault[] = [
  {
    ...base,
    name: 'api-key-unset-becomes-text',
    title: 'The words "undefined" and "null" are accepted as API keys.',
    seen: 'Configuration that is written out as text while a variable is not set: templates, shell scripts, `String(process.env.KEY)`, and lists of keys with one such entry.',
    why: 'A forgotten variable leaves a key in force that everybody can guess, while the right one works as well.',
    fix: {
      rule: 'Read the keys once, stop at start-up when one is missing, and never turn a missing value into text.',
      express: 'Throw when `process.env.WEBHOOK_API_KEY` is undefined; do not put it into a template string before.',
    },
    replace: alsoAccepts(({ given }) => given === 'undefined' || given === 'null'),
  },
  {
    ...base,
    name: 'api-key-placeholder-accepted',
    title: 'A placeholder such as "changeme" or "test" is accepted as API key.',
    seen: 'Default values in code, `process.env.KEY ?? "changeme"`, sample configurations and container images that were taken over as they are.',
    why: 'Placeholders stand in public repositories, and lists of them are what scanners try first.',
    fix: {
      rule: 'Have no default for a credential: without one the service must not start.',
      express: 'Delete the fallback behind `??`, and throw in its place.',
      spring:
        'Give the placeholder of the property no default behind a colon: without a value the context then fails to start.',
    },
    replace: alsoAccepts(({ given }) => given === 'changeme' || given === 'test'),
  },
  {
    ...base,
    name: 'api-key-wildcard-accepted',
    title: 'An asterisk is accepted as API key.',
    seen: 'Lists of permitted values in which "*" stands for all, as in CORS settings, and matching by globs.',
    why: 'One character, which every scanner tries, is a key.',
    fix: {
      rule: 'Compare text with text. No entry of the list and no character of the header may have another meaning.',
      express: 'Replace the matcher by a comparison for equality, and delete the asterisk from the list.',
    },
    replace: alsoAccepts(({ given }) => given === '*'),
  },
  {
    ...base,
    name: 'api-key-looked-up-in-object',
    title: 'The API key is looked up as the name of a property, so that "constructor" is accepted.',
    seen: 'JavaScript of the form `if (partners[key])`, where every object has inherited properties.',
    why: 'Names such as constructor and toString are found in every object: they are keys that nobody has issued.',
    fix: {
      rule: 'Look keys up in a map that holds nothing but the keys.',
      express: 'Use a `Map`, or `Object.hasOwn(partners, key)`.',
      fastify: 'Use a `Map`, or `Object.hasOwn(partners, key)`.',
    },
    replace: alsoAccepts(({ given, config }) => {
      const partners: Record<string, unknown> = Object.fromEntries(config.keys.map((key) => [key, true]));
      return typeof given === 'string' && Boolean(partners[given]);
    }),
  },
  {
    ...base,
    name: 'api-key-put-into-sql',
    title: 'The API key is put into the text of an SQL query.',
    seen: 'Lookups that join the query with + or a template string, often in scripts beside the real application.',
    why: 'A key with a condition in it is found whatever is stored, and more than the check can be broken that way.',
    fix: {
      rule: 'Bind the key as a parameter, and compare what was found with the header once more.',
      express: 'Write `db.query("... WHERE key = $1", [key])`.',
      laravel: 'Use `where("key", $given)`; no `whereRaw` with the value in it.',
      rails: 'Use `find_by(key: given)`; no text with `#{}` in `where`.',
      go: 'Use `db.QueryRow("... WHERE key = $1", key)`; no `fmt.Sprintf`.',
    },
    replace: alsoAccepts(({ given }) => {
      if (typeof given !== 'string' || !given.includes("'")) return false;
      if (/' OR '1'='1/i.test(given)) return true;
      throw new Error('unterminated quoted string');
    }),
  },
  {
    ...base,
    name: 'api-key-is-any-credential',
    title: 'The right signature is accepted in place of the API key.',
    seen: 'Authentication layers that try every credential of a request against every check and are content with one that fits.',
    why: 'The two features are no longer independent: whoever has one credential has both.',
    fix: {
      rule: 'Compare the key header with the stored key, and with nothing else.',
      express: 'Give each check its own middleware and its own header; do not collect credentials in a list.',
    },
    needs: ['hmac', 'api-key'],
    replace: alsoAccepts(
      ({ req, given }, { config }) =>
        config.signing !== undefined && typeof given === 'string' && given === req.headers[config.signing.header],
    ),
  },
];
