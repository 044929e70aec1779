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
} from '../changes/bytes.ts';
import { accepted, acceptedUnlessStrict, takenOrRejected } from '../expectations.ts';
import type { ProbeScenario } from '../scenario.ts';

const base = { level: 'must', requirements: ['hmac-raw-body'], needs: ['hmac'], expect: accepted } as const;

function indented(by: string | number): Serialiser {
  return (value) => utf8(JSON.stringify(value, null, by));
}

/** White space between, before and after the tokens: legal in JSON, and lost by whoever parses and writes again. */
export const rawBodySpacing: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/spaces',
    title: 'Accepts a signed body with spaces around every token',
    change: { serialise: rewritten(spacedOut) },
    why: 'A receiver that signs JSON.stringify(req.body) works only as long as the sender happens to write JSON the same way.',
    fix: 'Verify the bytes as they came: take the raw body (express.raw, request.get_data(), php://input) before anything parses it.',
  },
  {
    ...base,
    id: 'raw-body/indent-2',
    title: 'Accepts a signed body that is indented by two spaces',
    change: { serialise: indented(2) },
    why: 'Some integration guides verify over JSON.stringify(body, null, 2); others lose the indentation. Both compare with a text that was never sent.',
    fix: 'Do not format the parsed body for the check, indented or not: hash the raw bytes.',
  },
  {
    ...base,
    id: 'raw-body/indent-4',
    title: 'Accepts a signed body that is indented by four spaces',
    change: { serialise: indented(4) },
    why: 'PHP and Python pretty-print with four spaces. A check that was fitted to two spaces fails on it.',
    fix: 'Keep the body as bytes until it is verified, so that its layout does not matter.',
  },
  {
    ...base,
    id: 'raw-body/tabs',
    title: 'Accepts a signed body that is indented by tabs',
    change: { serialise: indented('\t') },
    why: 'Gateways that turn tabs into spaces, or templates that embed the body, change what was signed.',
    fix: 'Take the body before any template, logger or gateway transformation touches it.',
  },
  {
    ...base,
    id: 'raw-body/python-separators',
    title: 'Accepts a signed body with a space after each comma and colon',
    change: {
      serialise: rewritten((json) => respelt(json, (token) => (token === ',' || token === ':' ? `${token} ` : token))),
    },
    why: 'This is how Python writes JSON by default. A receiver that passes here and fails at the plain delivery signs json.dumps(...).',
    fix: 'Use request.data or request.body and not json.dumps(request.json).',
  },
  {
    ...base,
    id: 'raw-body/trailing-lf',
    title: 'Accepts a signed body that ends in a line feed',
    change: { serialise: rewritten((json) => `${json}\n`) },
    why: 'A trim() or chomp before the check drops a byte that the sender has signed.',
    fix: 'Remove trim, strip and chomp from the code that reads the body.',
  },
  {
    ...base,
    id: 'raw-body/trailing-crlf',
    title: 'Accepts a signed body that ends in a carriage return and a line feed',
    change: { serialise: rewritten((json) => `${json}\r\n`) },
    why: 'Reading the body line by line normalises or swallows the last line end.',
    fix: 'Read the body as a block of bytes and not as lines.',
  },
  {
    ...base,
    id: 'raw-body/trailing-space',
    title: 'Accepts a signed body that ends in spaces',
    change: { serialise: rewritten((json) => `${json}  `) },
    why: 'A helper that cleans up input text strips the end of it, and with it the signature.',
    fix: 'Turn off input clean-up (trim middleware) for this endpoint.',
  },
  {
    ...base,
    id: 'raw-body/leading-space',
    title: 'Accepts a signed body that starts with spaces',
    change: { serialise: rewritten((json) => `  ${json}`) },
    why: 'Cutting a body from its first brace on finds the JSON, and loses what stood before it.',
    fix: 'Hash from the first byte of the body, not from the first brace.',
  },
  {
    ...base,
    id: 'raw-body/leading-lf',
    title: 'Accepts a signed body that starts with a line feed',
    change: { serialise: rewritten((json) => `\n${json}`) },
    why: 'Home-made HTTP parsers skip empty lines after the headers and so eat the start of the body.',
    fix: 'Take the body from the HTTP library, by Content-Length.',
  },
  {
    ...base,
    id: 'raw-body/crlf-lines',
    title: 'Accepts a signed body whose lines end in carriage return and line feed',
    change: { serialise: (value) => utf8(JSON.stringify(value, null, 1).replaceAll('\n', '\r\n')) },
    why: 'Text streams turn CRLF into LF when they read, so the bytes that are hashed are fewer than those that came.',
    fix: 'Open the body as a binary stream, without newline translation.',
  },
  {
    ...base,
    id: 'raw-body/cr-lines',
    title: 'Accepts a signed body whose lines end in a carriage return alone',
    change: { serialise: (value) => utf8(JSON.stringify(value, null, 1).replaceAll('\n', '\r')) },
    why: 'A lone carriage return is white space in JSON, and universal-newline modes turn it into something else.',
    fix: 'Do not normalise line ends of any kind before the check.',
  },
  {
    ...base,
    id: 'raw-body/mixed-space',
    title: 'Accepts a signed body with every kind of white space that JSON knows',
    change: {
      serialise: (value) =>
        utf8(respelt(compact(value), (token) => (token === ',' ? ' ,\t\r\n' : token === ':' ? '\t: ' : token))),
    },
    why: 'Minifiers in front of the endpoint (some CDNs and firewalls have one) remove it all.',
    fix: 'Turn off body rewriting in the proxy, or verify the signature before it.',
  },
];

/** The order of keys, repeated keys, and empty containers. */
export const rawBodyStructure: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/keys-reversed',
    title: 'Accepts a signed body with all keys in reverse order',
    change: { serialise: (value) => utf8(compact(keysReversed(value))) },
    why: 'JSON objects have no order. Go maps and sort_keys write an order of their own, and typed classes the one of their fields.',
    fix: 'Do not rebuild the body from an object: its order of keys is not the one that was signed.',
  },
  {
    ...base,
    id: 'raw-body/keys-like-integers',
    title: 'Accepts a signed body with keys that look like integers',
    change: { serialise: spelt('data.metadata.testKeys', '{"10":"a","9":"b","x":"c"}') },
    expect: acceptedUnlessStrict,
    why: 'JavaScript moves such keys to the front in rising order, so this body fails where all others pass.',
    fix: 'Keep the raw body; even JSON.parse and JSON.stringify of the same engine change the order.',
  },
  {
    ...base,
    id: 'raw-body/keys-repeated',
    title: 'Takes or rejects a signed body with a repeated key, and does not call its signature wrong',
    change: { serialise: withMember('', '"type":"CAAS"') },
    expect: takenOrRejected,
    why: 'Parsers keep the first or the last of two members. Written again there is one of them, and the signature no longer fits.',
    fix: 'Verify the bytes, and decide afterwards whether a repeated key is a bad payload.',
  },
  {
    ...base,
    id: 'raw-body/empty-object',
    title: 'Accepts a signed body with an empty object in it',
    change: { serialise: spelt('data.metadata.testObject', '{}') },
    expect: acceptedUnlessStrict,
    why: 'PHP parses an empty object into an empty array and writes [] back.',
    fix: 'Hash php://input; json_decode without objects cannot tell {} from [].',
  },
  {
    ...base,
    id: 'raw-body/empty-array',
    title: 'Accepts a signed body with an empty array in it',
    change: { serialise: spelt('data.metadata.testArray', '[ ]') },
    expect: acceptedUnlessStrict,
    why: 'Mappers that drop empty collections write a shorter body than the one that was signed.',
    fix: 'Do not sign what an object mapper writes, whatever its options for empty values are.',
  },
];
