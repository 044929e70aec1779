import { compact, respelt, rewritten, type Serialiser, spacedOut, utf8 } from '../changes/bytes.ts';
import { accepted } from '../expectations.ts';
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
