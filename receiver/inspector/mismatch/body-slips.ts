/** Other bytes than those that came, which senders sign by mistake. */
import { COMPACT, type JsonStyle, PHP, PYTHON, PYTHON_COMPACT, PYTHON_UNICODE, restyle } from './json-text.ts';
import type { Slip } from './slip.ts';

export interface ReadBody {
  readonly body: Buffer;
  /** Undefined when it is not UTF-8. A byte order mark stays in front. */
  readonly text: string | undefined;
  /** Undefined when it is not JSON. A byte order mark is overlooked. */
  readonly json: { readonly text: string; readonly value: unknown } | undefined;
  /** Path and query of the request. */
  readonly target: string;
}

export interface BodySlip extends Slip {
  /** What was signed. Undefined where the slip does not apply to this body. */
  readonly signed: (read: ReadBody) => string | Buffer | undefined;
}

export function readBody(body: Buffer, target: string): ReadBody {
  let text: string | undefined;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return { body, text: undefined, json: undefined, target };
  }
  const jsonText = text.replace(/^\ufeff/, '');
  try {
    return { body, text, json: { text: jsonText, value: JSON.parse(jsonText) }, target };
  } catch {
    return { body, text, json: undefined, target };
  }
}

const SEND_WHAT_YOU_SIGN = 'Serialise once, and both sign and send those bytes.';
const SIGN_BYTES = 'Sign the bytes that go over the wire, after everything that changes them.';
const BODY_ONLY = 'Sign the whole body and nothing else: no time, id or URL belongs to it here.';

const onText =
  (change: (text: string) => string | Buffer | undefined): BodySlip['signed'] =>
  ({ text }) =>
    text === undefined ? undefined : change(text);

const stringified =
  (space?: number | string): BodySlip['signed'] =>
  ({ json }) =>
    json && JSON.stringify(json.value, null, space);

const styled =
  (style: JsonStyle): BodySlip['signed'] =>
  ({ json }) =>
    json && restyle(json.text, style);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, sorted(item)]),
  );
}

function field({ json }: ReadBody, name: string): unknown {
  const value = json?.value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** The likely ones first: where two slips give the same bytes, the first is told. */
export const BODY_SLIPS: readonly BodySlip[] = [
  {
    name: 'without-trailing-newline',
    title: 'The sender signed the body without its trailing newline.',
    fix: `The newline was added after signing, often by a template, an editor or echo. ${SIGN_BYTES}`,
    common: true,
    signed: onText((text) => (/\r?\n$/.test(text) ? text.replace(/\r?\n$/, '') : undefined)),
  },
  {
    name: 'with-trailing-newline',
    title: 'The sender signed the body with a newline at its end, and sent it without.',
    fix: `The signature was made from piped or saved text (echo, a file). ${SIGN_BYTES}`,
    common: true,
    signed: ({ body }) => Buffer.concat([body, Buffer.from('\n')]),
  },
  {
    name: 'trimmed',
    title: 'The sender signed the body without the white space at its ends.',
    fix: SIGN_BYTES,
    common: true,
    signed: onText((text) => text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')),
  },
  {
    name: 'json-stringify',
    title: 'The sender signed JSON.stringify of the value, and sent another spelling of it.',
    fix: `White space, escapes or the spelling of numbers differ between the two. ${SEND_WHAT_YOU_SIGN}`,
    common: true,
    signed: stringified(),
  },
  {
    name: 'json-python',
    title: 'The sender signed the JSON as Python writes it, with a space after "," and ":".',
    fix: `requests.post(json=...) and httpx serialise again, without these spaces or with them. ${SEND_WHAT_YOU_SIGN}`,
    common: true,
    signed: styled(PYTHON),
  },
  {
    name: 'json-python-unicode',
    title: 'The sender signed the JSON as Python writes it with ensure_ascii=False.',
    fix: SEND_WHAT_YOU_SIGN,
    signed: styled(PYTHON_UNICODE),
  },
  {
    name: 'json-compact',
    title: 'The sender signed the JSON without white space between its parts, and sent it with some.',
    fix: SEND_WHAT_YOU_SIGN,
    common: true,
    signed: styled(COMPACT),
  },
  {
    name: 'json-compact-ascii',
    title: 'The sender signed compact JSON with everything outside ASCII escaped (\\u....).',
    fix: SEND_WHAT_YOU_SIGN,
    common: true,
    signed: styled(PYTHON_COMPACT),
  },
  {
    name: 'json-php',
    title: 'The sender signed the JSON as PHP writes it, with "\\/" and "\\u" escapes.',
    fix: `json_encode was called twice with different flags. ${SEND_WHAT_YOU_SIGN}`,
    common: true,
    signed: styled(PHP),
  },
  ...([2, 4, '\t'] as const).map((space) => ({
    name: `json-indented-${space === '\t' ? 'tab' : space}`,
    title: `The sender signed the JSON indented by ${space === '\t' ? 'a tab' : `${space} spaces`}.`,
    fix: `The body was formatted for reading on one side only. ${SEND_WHAT_YOU_SIGN}`,
    signed: stringified(space),
  })),
  {
    name: 'json-sorted',
    title: 'The sender signed the JSON with its keys in alphabetical order.',
    fix: `A canonical form was signed and another was sent. ${SEND_WHAT_YOU_SIGN}`,
    signed: ({ json }) => json && JSON.stringify(sorted(json.value)),
  },
  {
    name: 'json-go',
    title: 'The sender signed the JSON as Go writes a map: keys in order, "<", ">" and "&" escaped.',
    fix: SEND_WHAT_YOU_SIGN,
    signed: ({ json }) =>
      json &&
      JSON.stringify(sorted(json.value)).replace(
        /[<>&\u2028\u2029]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
  },
  {
    name: 'lf-line-ends',
    title: 'The sender signed the body with LF line ends, and sent it with CRLF.',
    fix: `Something on the way writes text in the Windows manner. ${SIGN_BYTES}`,
    common: true,
    signed: onText((text) => text.replaceAll('\r\n', '\n')),
  },
  {
    name: 'crlf-line-ends',
    title: 'The sender signed the body with CRLF line ends, and sent it with LF.',
    fix: SIGN_BYTES,
    common: true,
    signed: onText((text) => text.replace(/(?<!\r)\n/g, '\r\n')),
  },
  {
    name: 'without-line-ends',
    title: 'The sender signed the body without its line ends (curl -d @file takes them away on the other side).',
    fix: 'With curl, send with --data-binary, which changes nothing.',
    signed: onText((text) => text.replace(/[\r\n]/g, '')),
  },
  {
    name: 'latin1',
    title: 'The sender signed the body in Latin-1, and sent it in UTF-8.',
    fix: `Name UTF-8 wherever text becomes bytes. ${SIGN_BYTES}`,
    common: true,
    signed: onText((text) => Buffer.from(text, 'latin1')),
  },
  {
    name: 'double-utf8',
    title: 'The sender signed the body encoded in UTF-8 twice.',
    fix: `A binary string was taken for text. ${SIGN_BYTES}`,
    common: true,
    signed: ({ body, text }) => (text === undefined ? undefined : body.toString('latin1')),
  },
  {
    name: 'utf8-of-latin1',
    title: 'The sender signed the body in UTF-8, and sent it in Latin-1.',
    fix: `Send the UTF-8 bytes: JSON is always UTF-8. ${SIGN_BYTES}`,
    signed: ({ body, text }) => (text === undefined ? body.toString('latin1') : undefined),
  },
  {
    name: 'ascii',
    title: 'The sender signed the body with "?" for everything outside ASCII.',
    fix: 'Name UTF-8 wherever text becomes bytes (Encoding.ASCII in .NET does this).',
    signed: onText((text) => text.replace(/[^\0-\x7f]/g, '?')),
  },
  {
    name: 'utf16',
    title: 'The sender signed the body in UTF-16, and sent it in UTF-8.',
    fix: 'Encode in UTF-8 before signing (Encoding.UTF8 in .NET).',
    signed: onText((text) => Buffer.from(text, 'utf16le')),
  },
  {
    name: 'without-byte-order-mark',
    title: 'The sender signed the body without the byte order mark in front of it.',
    fix: 'Write UTF-8 without a mark. JSON does not allow one.',
    signed: onText((text) => text.replace(/^\ufeff/, '')),
  },
  {
    name: 'quoted-body',
    title: 'The sender signed the text of the body as one JSON string, quoted and escaped.',
    fix: `The text was given to the serialiser once more. ${SEND_WHAT_YOU_SIGN}`,
    signed: onText(JSON.stringify),
  },
  {
    name: 'data-only',
    title: 'The sender signed only the "data" object.',
    fix: BODY_ONLY,
    common: true,
    signed: (read) => {
      const data = field(read, 'data');
      return data === undefined ? undefined : JSON.stringify(data);
    },
  },
  {
    name: 'time-and-body',
    title: 'The sender signed the time, a dot and the body.',
    fix: BODY_ONLY,
    common: true,
    signed: (read) => (read.json ? Buffer.concat([Buffer.from(`${field(read, 'at')}.`), read.body]) : undefined),
  },
  {
    name: 'id-time-and-body',
    title: 'The sender signed the id, the time and the body, with dots between them.',
    fix: `This is the scheme of Standard Webhooks. ${BODY_ONLY}`,
    signed: (read) =>
      read.json ? Buffer.concat([Buffer.from(`${field(read, 'id')}.${field(read, 'at')}.`), read.body]) : undefined,
  },
  {
    name: 'path-and-body',
    title: 'The sender signed the path and the body.',
    fix: BODY_ONLY,
    signed: ({ target, body }) => Buffer.concat([Buffer.from(target), body]),
  },
  {
    name: 'empty',
    title: 'The sender signed an empty body.',
    fix: 'The signature was made before the body was there, or from a stream that had been read already.',
    common: true,
    signed: () => '',
  },
  {
    name: 'empty-object',
    title: 'The sender signed {} in place of the body.',
    fix: 'The signature was made before the object was filled, or from another object.',
    signed: () => '{}',
  },
  {
    name: 'object-object',
    title: 'The sender signed the text [object Object] in place of the body.',
    fix: 'Serialise the object before it is signed.',
    signed: () => '[object Object]',
  },
  {
    name: 'base64-body',
    title: 'The sender signed the base64 form of the body.',
    fix: SIGN_BYTES,
    signed: ({ body }) => body.toString('base64'),
  },
];
