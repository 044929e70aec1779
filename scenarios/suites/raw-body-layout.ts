import {
  compact,
  keysReversed,
  respelt,
  rewritten,
  type Serialiser,
  spacedOut,
  spelt,
  utf8,
  withMember,
} from '../changes/bodies.ts';
import { accepted, acceptedUnlessStrict, takenOrRejected } from '../expectations.ts';
import type { ProbeScenario } from '../scenario.ts';

const base = { level: 'must', requirements: ['hmac-raw-body'], needs: ['hmac'], expect: accepted } as const;

function indented(by: string | number): Serialiser {
  return (value) => utf8(JSON.stringify(value, null, by));
}

/** White space between, before and after the tokens. It is valid JSON, and re-serialising removes it. */
export const rawBodySpacing: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/spaces',
    title: 'Accepts a signed body with spaces around every token',
    change: { serialise: rewritten(spacedOut) },
    why:
      'A receiver that verifies JSON.stringify(req.body) works only while the sender happens to write JSON the ' +
      'same way.',
    fix: 'Verify the raw body (express.raw, request.get_data(), php://input) before anything parses it.',
  },
  {
    ...base,
    id: 'raw-body/indent-2',
    title: 'Accepts a signed body that is indented by two spaces',
    change: { serialise: indented(2) },
    why:
      'Some integration guides verify JSON.stringify(body, null, 2); others remove the indentation first. ' +
      'Neither is necessarily what the sender signed.',
    fix: 'Verify the raw bytes instead of the formatted body.',
  },
  {
    ...base,
    id: 'raw-body/indent-4',
    title: 'Accepts a signed body that is indented by four spaces',
    change: { serialise: indented(4) },
    why: 'PHP and Python indent by four spaces, so a receiver that expects two fails.',
    fix: 'Keep the body as bytes until it is verified, so that its formatting does not matter.',
  },
  {
    ...base,
    id: 'raw-body/tabs',
    title: 'Accepts a signed body that is indented with tabs',
    change: { serialise: indented('\t') },
    why: 'Gateways that replace tabs with spaces, or templates that embed the body, change what was signed.',
    fix: 'Verify the body before a template, logger or gateway changes it.',
  },
  {
    ...base,
    id: 'raw-body/python-separators',
    title: 'Accepts a signed body with a space after each comma and colon',
    change: {
      serialise: rewritten((json) => respelt(json, (token) => (token === ',' || token === ':' ? `${token} ` : token))),
    },
    why:
      "Python's json.dumps writes JSON like this by default. A receiver that re-serialises the body in any " +
      'other format rejects it.',
    fix: 'Verify the raw body (request.data or request.body), never re-serialised JSON.',
  },
  {
    ...base,
    id: 'raw-body/trailing-lf',
    title: 'Accepts a signed body that ends in a line feed',
    change: { serialise: rewritten((json) => `${json}\n`) },
    why: 'trim() or chomp before verification removes a byte that was signed.',
    fix: 'Remove trim, strip and chomp from the code that reads the body.',
  },
  {
    ...base,
    id: 'raw-body/trailing-crlf',
    title: 'Accepts a signed body that ends in a carriage return and a line feed',
    change: { serialise: rewritten((json) => `${json}\r\n`) },
    why: 'Reading the body line by line changes or removes the last line ending.',
    fix: 'Read the body as a block of bytes, not as lines.',
  },
  {
    ...base,
    id: 'raw-body/trailing-space',
    title: 'Accepts a signed body that ends in spaces',
    change: { serialise: rewritten((json) => `${json}  `) },
    why: 'Code that cleans up input removes trailing spaces, and the signature no longer matches.',
    fix: 'Turn off input clean-up (trim middleware) for this endpoint.',
  },
  {
    ...base,
    id: 'raw-body/leading-space',
    title: 'Accepts a signed body that starts with spaces',
    change: { serialise: rewritten((json) => `  ${json}`) },
    why: 'Code that reads from the first brace loses what is before it.',
    fix: 'Verify from the first byte of the body, not from the first brace.',
  },
  {
    ...base,
    id: 'raw-body/leading-lf',
    title: 'Accepts a signed body that starts with a line feed',
    change: { serialise: rewritten((json) => `\n${json}`) },
    why: 'Custom HTTP parsers skip empty lines after the headers, and with them the start of the body.',
    fix: 'Let the HTTP library read the body, using Content-Length.',
  },
  {
    ...base,
    id: 'raw-body/crlf-lines',
    title: 'Accepts a signed body with CRLF line endings',
    change: { serialise: (value) => utf8(JSON.stringify(value, null, 1).replaceAll('\n', '\r\n')) },
    why: 'Text streams convert CRLF to LF, so the verified bytes are not the received ones.',
    fix: 'Read the body as a binary stream, without newline translation.',
  },
  {
    ...base,
    id: 'raw-body/cr-lines',
    title: 'Accepts a signed body with CR line endings',
    change: { serialise: (value) => utf8(JSON.stringify(value, null, 1).replaceAll('\n', '\r')) },
    why: 'A carriage return is whitespace in JSON, and universal newline modes convert it.',
    fix: 'Do not convert line endings before verification.',
  },
  {
    ...base,
    id: 'raw-body/mixed-space',
    title: 'Accepts a signed body with every kind of JSON whitespace',
    change: {
      serialise: (value) =>
        utf8(respelt(compact(value), (token) => (token === ',' ? ' ,\t\r\n' : token === ':' ? '\t: ' : token))),
    },
    why: 'Some CDNs and firewalls minify bodies and remove all whitespace.',
    fix: 'Turn off body rewriting in the proxy, or verify the signature before the body reaches the proxy.',
  },
];

/** The order of keys, duplicate keys, and empty containers. */
export const rawBodyStructure: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/keys-reversed',
    title: 'Accepts a signed body with all keys in reverse order',
    change: { serialise: (value) => utf8(compact(keysReversed(value))) },
    why: 'JSON objects are unordered. Go maps, sort_keys and typed classes write another order.',
    fix: 'Verify the raw bytes instead of rebuilding the body from an object.',
  },
  {
    ...base,
    id: 'raw-body/keys-like-integers',
    title: 'Accepts a signed body with keys that look like integers',
    change: { serialise: spelt('data.metadata.testKeys', '{"10":"a","9":"b","x":"c"}') },
    expect: acceptedUnlessStrict,
    why: 'JavaScript moves such keys to the front, in ascending order.',
    fix: 'Keep the raw body: even JSON.parse and JSON.stringify of one engine change the order.',
  },
  {
    ...base,
    id: 'raw-body/keys-repeated',
    title: 'Handles a signed body with a duplicate key',
    change: { serialise: withMember('', '"type":"CAAS"') },
    expect: takenOrRejected,
    why: 'Parsers keep the first or the last of two members, so the re-serialised body has only one.',
    fix: 'Verify the bytes, and decide afterwards whether a duplicate key is a malformed payload.',
  },
  {
    ...base,
    id: 'raw-body/empty-object',
    title: 'Accepts a signed body with an empty object',
    change: { serialise: spelt('data.metadata.testObject', '{}') },
    expect: acceptedUnlessStrict,
    why: 'PHP parses an empty object into an empty array, and writes [].',
    fix: 'Verify php://input: json_decode into arrays cannot distinguish {} from [].',
  },
  {
    ...base,
    id: 'raw-body/empty-array',
    title: 'Accepts a signed body with an empty array',
    change: { serialise: spelt('data.metadata.testArray', '[ ]') },
    expect: acceptedUnlessStrict,
    why: 'Mappers that omit empty collections write a shorter body than the signed one.',
    fix: 'Verify the raw body, not what an object mapper writes.',
  },
];
