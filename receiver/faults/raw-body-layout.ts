import type { StageFault } from './fault.ts';
import { rawBytes } from './raw-body-fix.ts';
import { readingText, verifyingOver } from './raw-body-wrong-input.ts';

const base = { area: 'raw-body', severity: 'high', forbidden: true } as const;

/** White space at the ends, between the tokens, and at the ends of lines: bytes that look as if they did not matter. */
export const relaidBodies: readonly StageFault[] = [
  {
    ...base,
    name: 'trims-body',
    title: 'White space at both ends of the body is removed before the signature is verified.',
    seen: 'trim(), strip() or middleware that cleans up input, as Laravel has for request fields.',
    why: 'A body with a line feed at its end is refused although it is rightly signed, and bytes that nobody signed are let through.',
    fix: rawBytes('Pass the body to the HMAC function as it is, without trim or strip.'),
    stage: 'readBody',
    replace: readingText((text) => text.trim()),
  },
  {
    ...base,
    name: 'chomps-body',
    title: 'One line end at the end of the body is removed before the signature is verified.',
    seen: 'chomp in Ruby and Perl code, shell substitution, and line readers.',
    why: 'The sender has signed that line end, so the delivery is refused; and a line end that nobody signed can be added.',
    fix: rawBytes('Read the body as a block of bytes, and do not chomp it.'),
    stage: 'readBody',
    replace: readingText((text) => text.replace(/(?:\r\n|\n|\r)$/, '')),
  },
  {
    ...base,
    name: 'joins-lines-without-line-ends',
    title: 'The body is read line by line and joined without the line ends.',
    seen: 'The loop over BufferedReader.readLine() that is copied into many servlets, and its likes in C# and Go.',
    why: 'A body of one line passes every test. One with a line end anywhere outside of its texts is refused.',
    fix: rawBytes('Read the body as bytes, and not as lines.', {
      spring: 'Take the body as `@RequestBody byte[]` and not from `request.getReader()`.',
    }),
    stage: 'readBody',
    replace: readingText((text) => text.replace(/[\r\n]/g, '')),
  },
  {
    ...base,
    name: 'normalises-line-ends',
    title: 'Line ends of the body are turned into a single line feed before the signature is verified.',
    seen: 'Input streams in text mode (universal newlines in Python, text mode on Windows) and form sanitisers.',
    why: 'The hash is over fewer bytes than came, so a body with carriage returns is refused.',
    fix: rawBytes('Open the input in binary mode, without newline translation.'),
    stage: 'readBody',
    replace: readingText((text) => text.replace(/\r\n?/g, '\n')),
  },
  {
    ...base,
    name: 'verifies-from-first-brace',
    title: 'Only what stands from the first brace on is verified.',
    seen: 'Home-made HTTP parsers that look for the start of the JSON text in what they read.',
    why: 'What stands before the brace is not covered by the check, and when the sender signs it the delivery is refused.',
    fix: rawBytes('Take the body from the HTTP library, from its first byte on.'),
    stage: 'verifySignature',
    replace: verifyingOver((body) => [body.subarray(Math.max(0, body.indexOf('{')))]),
  },
  {
    ...base,
    name: 'verifies-minified-json',
    title: 'White space outside of texts is removed before the signature is verified.',
    seen: 'Gateways, firewalls and CDNs that minify JSON on its way to the handler.',
    why: 'Compact bodies pass, so nobody notices. Every body with a space or a line end between its tokens is refused.',
    fix: rawBytes('Turn off body rewriting for this route, or verify in front of it.'),
    stage: 'readBody',
    replace: readingText((text) => text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_all, token?: string) => token ?? '')),
  },
  {
    ...base,
    name: 'expands-tabs',
    title: 'Tabs in the body are turned into spaces before the signature is verified.',
    seen: 'Template engines and transformation steps of integration platforms that put the body into a text of their own.',
    why: 'Bodies that are indented by tabs are refused, and no others: a fault that waits for a new sender.',
    fix: rawBytes('Verify before any template or transformation step handles the body.'),
    stage: 'readBody',
    replace: readingText((text) => text.replaceAll('\t', '  ')),
  },
];
