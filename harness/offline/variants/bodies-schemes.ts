/** Other signing inputs: those of other vendors' schemes, and what is left of a body that was already consumed. */
import { createHash } from 'node:crypto';
import { PYTHON_DEFAULT } from '../json-styles.ts';
import { writeJson } from '../json-text.ts';
import type { BodyVariant } from './body-reading.ts';

const BODY_ONLY =
  'Sign the whole raw body and nothing else: this service has no timestamp, id or URL in its signing input.';
const RAW_FIRST = 'Keep the raw bytes when the body is read, and give them to the check.';

function before(part: (body: Parameters<BodyVariant['bytes']>[0]) => unknown, separator = ''): BodyVariant['bytes'] {
  return (body) => {
    const value = part(body);
    if (typeof value !== 'string' && typeof value !== 'number') return undefined;
    return Buffer.concat([Buffer.from(`${value}${separator}`), body.body]);
  };
}

function fixed(content: string): BodyVariant['bytes'] {
  return () => Buffer.from(content);
}

export const schemeBodies: readonly BodyVariant[] = [
  {
    name: 'data-only',
    title: 'only the "data" object of the body was signed',
    why: 'The envelope was unpacked before the check, as other vendors have it.',
    fix: BODY_ONLY,
    common: true,
    bytes: (body) => {
      const data = body.field('data');
      return data === undefined ? undefined : Buffer.from(JSON.stringify(data));
    },
  },
  {
    name: 'data-only-python',
    title: 'only the "data" object of the body was signed, as json.dumps writes it',
    why: 'The envelope was unpacked before the check, as other vendors have it.',
    fix: BODY_ONLY,
    bytes: (body) => {
      const tree = body.tree();
      const data = tree?.kind === 'object' ? tree.entries.get('data') : undefined;
      return data === undefined ? undefined : Buffer.from(writeJson(data, PYTHON_DEFAULT));
    },
  },
  {
    name: 'timestamp-dot-body',
    title: 'the time, a dot and the body were signed',
    why: 'This is the scheme of another well-known service (a t=,v1= header).',
    fix: BODY_ONLY,
    common: true,
    bytes: before((body) => body.field('at'), '.'),
  },
  {
    name: 'id-timestamp-body',
    title: 'the id, the time and the body were signed, with dots between them',
    why: 'This is the scheme of Standard Webhooks.',
    fix: BODY_ONLY,
    common: true,
    bytes: before((body) => {
      const id = body.field('id');
      const at = body.field('at');
      return id === undefined || at === undefined ? undefined : `${id}.${at}`;
    }, '.'),
  },
  {
    name: 'id-body',
    title: 'the id and the body were signed together',
    why: 'Another scheme was followed.',
    fix: BODY_ONLY,
    bytes: before((body) => body.field('id')),
  },
  {
    name: 'id-dot-body',
    title: 'the id, a dot and the body were signed',
    why: 'Another scheme was followed.',
    fix: BODY_ONLY,
    bytes: before((body) => body.field('id'), '.'),
  },
  {
    name: 'id-only',
    title: 'only the id was signed',
    why: 'Another scheme was followed. Such a signature does not protect the content.',
    fix: BODY_ONLY,
    bytes: (body) => {
      const id = body.field('id');
      return typeof id === 'string' ? Buffer.from(id) : undefined;
    },
  },
  {
    name: 'url-body',
    title: 'the URL and the body were signed together',
    why: 'Some payment and telephony services sign the URL too, and code for them was reused.',
    fix: BODY_ONLY,
    common: true,
    bytes: before((body) => body.url),
  },
  {
    name: 'url-only',
    title: 'only the URL was signed',
    why: 'Another scheme was followed. Such a signature does not protect the content.',
    fix: BODY_ONLY,
    bytes: ({ url }) => (url === undefined ? undefined : Buffer.from(url)),
  },
  {
    name: 'empty-body',
    title: 'an empty body was signed',
    why: 'The body had already been read by a parser, and nothing was left of the stream.',
    fix: RAW_FIRST,
    common: true,
    bytes: fixed(''),
  },
  {
    name: 'empty-object-body',
    title: 'the text {} was signed in place of the body',
    why: 'No body parser ran, or another one had run already, and JSON.stringify was applied to an empty object.',
    fix: RAW_FIRST,
    common: true,
    bytes: fixed('{}'),
  },
  {
    name: 'object-object-body',
    title: 'the text [object Object] was signed in place of the body',
    why: 'The parsed object was converted to a text by JavaScript.',
    fix: RAW_FIRST,
    common: true,
    bytes: fixed('[object Object]'),
  },
  {
    name: 'undefined-body',
    title: 'the word "undefined" was signed in place of the body',
    why: 'A property such as req.rawBody does not exist, and was converted to a text by JavaScript.',
    fix: RAW_FIRST,
    bytes: fixed('undefined'),
  },
  {
    name: 'quoted-body',
    title: 'the body was signed as one JSON text, quoted and escaped',
    why: 'The text of the body was given to a JSON serialiser once more.',
    fix: BODY_ONLY,
    common: true,
    bytes: (body) => {
      const text = body.text();
      return text === undefined ? undefined : Buffer.from(JSON.stringify(text));
    },
  },
  {
    name: 'base64-body',
    title: 'the base64 form of the body was signed',
    why: 'The platform hands bodies over in base64 (AWS Lambda with isBase64Encoded), and they were not decoded.',
    fix: 'Decode the base64 of the platform first, and sign the bytes that it stands for.',
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('base64')),
  },
  {
    name: 'hashed-body',
    title: 'the SHA-256 of the body in hexadecimal was signed in place of the body',
    why: 'Some schemes sign a digest of the body; here the HMAC takes the body itself.',
    fix: BODY_ONLY,
    common: true,
    bytes: ({ body }) => Buffer.from(createHash('sha256').update(body).digest('hex')),
  },
];
