import { GUARDED_PARSING, IN_FRONT, RAW_BYTES } from './code-by-stack.ts';
import { ids, mistakes } from './mistake.ts';

/** Mistakes in how a receiver reads the bytes of the body that it verifies. */
export const RAW_BODY_MISTAKES = mistakes({
  'reserialised-body': {
    title: 'Computes the signature over re-serialised JSON',
    seen:
      '`JSON.stringify(req.body)`, `json.dumps`, `json_encode`, `json.Marshal` or a bound class that is written ' +
      'back, because only the parsed body is at hand.',
    why:
      'A valid signature matches only while two JSON libraries write the same text. Whitespace, a number such as ' +
      '`1.0`, an escape, the order of the keys or a new field is enough for a mismatch.',
    fix: {
      rule:
        'Verify the bytes that arrived, before anything parses them, and do not tune the output of a JSON library ' +
        'to match the other side. A sender serialises once, then signs and sends the same bytes. ' +
        IN_FRONT,
      ...RAW_BYTES,
    },
    severity: 'high',
    cwe: 347,
    implies: ids(
      'raw-body-fallback sanitised-body body-decoded-by-charset body-as-template undecodable-body-throws',
      'optional-data-required narrow-value-format unknown-fields-forbidden lenient-parser body-as-c-string',
      'decoded-body lossy-body-text body-chunks-as-text unstorable-characters valid-text-rejected',
      'copies-by-content body-content-filter unstorable-body-text',
    ),
  },
  'decoded-body': {
    title: 'Computes the signature over decoded or edited text of the body',
    seen:
      'Text readers and their default character sets, `trim`, `chomp`, line readers, text mode with newline ' +
      'translation, and Unicode normalisation.',
    why:
      'Simple ASCII bodies pass. A body in which the conversion changes a byte, for example a line ending, a byte ' +
      'order mark or an accented letter, has a signature that does not match.',
    fix: {
      rule:
        'Sign and verify the exact bytes of the body: decode, trim, normalise or convert nothing first. Where the ' +
        'HMAC function takes text, encode as UTF-8; where the platform delivers Base64, decode that first. ' +
        IN_FRONT,
      ...RAW_BYTES,
    },
    severity: 'high',
    cwe: 347,
    implies: ['raw-body-fallback', 'body-chunks-as-text', 'valid-text-rejected', 'unstorable-characters'],
  },
  'signed-part-of-body': {
    title: 'Computes the signature over something other than the complete body',
    seen:
      'Only the field `data`, or the text from the first brace on; the id, time or URL together with the body; ' +
      'code for another webhook scheme; a variable that does not hold the body.',
    why:
      'A signature over the body alone does not match. Where only a part is signed, the rest is unprotected: an ' +
      'attacker can send a captured delivery with a new id.',
    fix: {
      rule:
        'Compute the HMAC over the whole body as it is sent, and over nothing else: no id, timestamp, URL or ' +
        'digest. If a library for another scheme cannot do this, replace it.',
      ...RAW_BYTES,
    },
    severity: 'high',
    cwe: 347,
  },
  'lossy-body-text': {
    title: 'Verifies a lossy decoding of the body, so different bodies share a signature',
    seen:
      "`body.toString()`, `errors='replace'` or `'ignore'`, `new String(bytes)`, `iconv` with `//IGNORE`, " +
      "`scrub('')`; Encoding.ASCII and Latin-1 encoders.",
    why:
      'Bytes or characters that the conversion cannot represent become one replacement, or disappear. An attacker ' +
      'can exchange or add such bytes in a signed body.',
    fix: {
      rule:
        'Compute the HMAC over the undecoded bytes. Decode as strict UTF-8 and parse after that, in one try/catch ' +
        `that answers 400. ${IN_FRONT}`,
      ...RAW_BYTES,
      dotnet: 'Use Encoding.UTF8 instead of Encoding.ASCII, or better, the bytes of `Request.Body`.',
    },
    severity: 'high',
    cwe: 347,
    implies: ids('decoded-body raw-body-fallback body-chunks-as-text valid-text-rejected unstorable-characters'),
  },
  'body-decoded-by-charset': {
    title: 'Decodes the body by the charset of Content-Type before verification',
    seen:
      '`express.text()`, `request.getReader()`, where Latin-1 is the default of servlets, and Spring or ASP.NET ' +
      'with the body bound to a string.',
    why:
      'An unsigned header decides which bytes are verified. Valid deliveries fail when its charset, or the default ' +
      'without one, is not that of the body; an unknown charset can throw.',
    fix: {
      rule:
        'Ignore the charset for the verification: JSON is UTF-8, and the signature covers bytes. 415 is fine for a ' +
        'charset that you reject.',
      ...RAW_BYTES,
    },
    severity: 'medium',
    cwe: 807,
    implies: ids(
      'lossy-body-text decoded-body raw-body-fallback body-chunks-as-text valid-text-rejected',
      'unstorable-characters',
    ),
  },
  'raw-body-fallback': {
    title: 'Also accepts a signature over a changed form of the body',
    seen:
      'A second attempt after the raw bytes do not match: re-serialised, trimmed or normalised text, kept from ' +
      'older code, a test tool or another sender.',
    why:
      'The fallback accepts a body that was never signed in the form in which it arrived, so different bodies share ' +
      'a signature. The stored body may not be the signed one.',
    fix: {
      rule:
        'Remove every fallback, and verify only the raw bytes. Change the test or the fixture instead of the ' +
        'verification.',
      ...RAW_BYTES,
    },
    severity: 'medium',
    cwe: 347,
  },
  'imitated-body-format': {
    title: 'Edits the body to imitate how the sender writes JSON',
    seen:
      'Regular expressions that add or remove escapes of slashes or Unicode, or reformat numbers: workarounds for ' +
      'PHP or Python senders, copied into SDKs and forwarders.',
    why:
      'The code guesses the format of one sender. A valid delivery that uses another escape or number format is ' +
      'rejected.',
    fix: {
      rule:
        'Remove the workaround: with the raw bytes, there is nothing to guess. Leave escapes and numbers to the ' +
        `parser, after verification. ${IN_FRONT}`,
      ...RAW_BYTES,
    },
    severity: 'high',
    cwe: 347,
    implies: ['reserialised-body', 'decoded-body', 'lossy-body-text', 'raw-body-fallback'],
  },
  'sanitised-body': {
    title: 'Sanitises the body before verification',
    seen:
      'xss-clean, `strip_tags`, `stripslashes`, `wp_unslash`, URL decoding of all input, removal of non-printable ' +
      'characters or of U+0000.',
    why:
      'A text that the filter changes makes a valid delivery look forged: an ampersand, a backslash, `%20` or a ' +
      'control character is enough.',
    fix: {
      rule:
        'Exclude this route from input filters, and verify the received bytes first. Filter texts afterwards, ' +
        `where you store them, and encode them where you display them. ${IN_FRONT}`,
      ...RAW_BYTES,
    },
    severity: 'high',
    cwe: 347,
    implies: ids(
      'body-content-filter body-as-template unstorable-body-text backtracking-pattern valid-text-rejected',
      'lenient-parser unstorable-characters',
    ),
  },
  'body-rewritten-upstream': {
    title: 'Verifies the body after another component has rewritten it',
    seen:
      'Gateways, firewalls and CDNs that minify JSON or remove repeated keys, templates that convert tabs, and ' +
      'text columns that lose emoji.',
    why:
      'Bodies that the component leaves alone pass. The first one that it changes is reported as forged, although ' +
      'its signature is valid.',
    fix: {
      rule:
        'Disable body rewriting for this route, or verify the signature before the body reaches the component. ' +
        `Store the body as bytes, and only after verification. ${IN_FRONT}`,
      ...RAW_BYTES,
    },
    severity: 'high',
    cwe: 347,
    implies: ['reserialised-body', 'decoded-body', 'lossy-body-text', 'raw-body-fallback', 'copies-by-content'],
  },
  'body-as-template': {
    title: 'Passes the body through a format string or a replace pattern before verification',
    seen:
      "`fmt.Fprintf(mac, body)`, `printf` with the body as the format, and `template.replace('{body}', body)`, " +
      'which expands dollar signs.',
    why:
      'A text with `%s`, `$&` or `$1` changes what is hashed, so a valid delivery is rejected. In C, a format ' +
      'string can also read memory.',
    fix: {
      rule:
        'Pass the body to the HMAC function directly. If you need a template, insert the body with a function that ' +
        'interprets nothing.',
      express: "Use `hmac.update(req.body)`. In `replace`, pass a function: `template.replace('{body}', () => text)`.",
      go: 'Use `mac.Write(body)` instead of `fmt.Fprintf(mac, string(body))`.',
    },
    severity: 'high',
    cwe: 134,
  },
  'shared-body-buffer': {
    title: 'Collects the body in a variable that all requests share',
    seen: 'Variables of a module, or fields of a singleton, that each request empties when it begins.',
    why:
      'One delivery at a time works. In production, bodies overlap and mix, and valid deliveries are rejected at ' +
      'random.',
    fix: {
      rule: 'Keep the chunks in a variable of the request.',
      node: 'Declare the array of chunks inside the handler.',
    },
    severity: 'high',
    cwe: 362,
    implies: ['incomplete-body', 'state-shared-by-requests', 'body-consumed-twice', 'body-chunks-as-text'],
  },
  'incomplete-body': {
    title: 'Verifies the body before it has been read to its end',
    seen:
      'A `data` event that calls the handler, a single `read()` on a socket, and fixed-size buffers of 1, 8 or 64 ' +
      'KiB.',
    why:
      'Small bodies in one packet pass every local test. In production, longer bodies, or bodies that the network ' +
      'splits, are rejected although their signature is valid.',
    fix: {
      rule: 'Read to the end of the body, and hash all of it. Limit the size with a 413, not with a shorter read.',
      ...RAW_BYTES,
    },
    severity: 'high',
    cwe: 130,
    implies: ids(
      'valid-body-size-rejected oversized-body-unhandled signed-part-of-body body-chunks-as-text load-rejected',
      'trusted-content-length backtracking-pattern body-consumed-twice state-shared-by-requests',
    ),
  },
  'body-chunks-as-text': {
    title: 'Decodes each chunk of the body separately and joins the texts',
    seen: '`body += chunk` in Node, and decoders that keep no state between reads.',
    why:
      'A character that is split between two packets turns into replacement characters. This is rare, happens ' +
      'only with non-ASCII text, and causes a valid delivery to be rejected.',
    fix: {
      rule: `Collect the chunks as bytes, join them, and decode once, after verification. ${IN_FRONT}`,
      ...RAW_BYTES,
    },
    severity: 'high',
    cwe: 176,
  },
  'body-as-c-string': {
    title: 'Ends the body at the first zero byte',
    seen:
      'C code that measures the body with `strlen`, and extensions or web server modules that pass it on as a C ' +
      'string.',
    why: 'The signature does not cover anything after the zero byte, which another reader of the request may process.',
    fix: {
      rule: 'Hash as many bytes as were received, not up to a terminator. Reject zero bytes as invalid JSON.',
      node: 'Pass the whole buffer to `hmac.update`.',
    },
    severity: 'high',
    cwe: 626,
  },
  'body-length-in-characters': {
    title: 'Uses the number of characters as the length of the body in bytes',
    seen:
      'Forwarders that set Content-Length to `text.length`, and buffers in C that are sized by a number of ' +
      'characters.',
    why: 'ASCII bodies pass. Every other character cuts bytes off the end, and the rest neither verifies nor parses.',
    fix: {
      rule: `Count bytes wherever the body is copied or forwarded. ${IN_FRONT}`,
      node: 'Use `Buffer.byteLength(text)`, or the length of the buffer, instead of `text.length`.',
    },
    severity: 'high',
    cwe: 135,
    implies: ids(
      'body-decoded-by-charset decoded-body lossy-body-text body-chunks-as-text valid-text-rejected',
      'unstorable-characters reserialised-body',
    ),
  },
  'body-consumed-twice': {
    title: 'Reads the body in two places',
    seen:
      '`raw-body` or another second reader after a body parser, signature middleware in an application with a ' +
      'global `express.json()`, and pipes to a file.',
    why:
      'The second reader finds nothing or waits for an end event that has already fired. The sender sees timeouts ' +
      'or rejections, and retries with the same result.',
    fix: {
      rule: 'Read the body in one place, to its end, and pass the bytes to the verification and to the parser.',
      ...RAW_BYTES,
    },
    severity: 'critical',
    cwe: 666,
  },
  'decompressed-body': {
    title: 'Decompresses the body before verification',
    seen:
      'Body parsers that inflate by default, functions after gateways that decompress by hand, and middleware for ' +
      'compressed requests.',
    why:
      'The verified bytes are not the received ones, and one Content-Encoding header makes an unguarded decoder ' +
      'throw, without any credential.',
    fix: {
      rule:
        'Answer 415 to compressed bodies, because the service never compresses. If you need compression, verify ' +
        'first, and catch errors of the decoder.',
      express: 'Set `inflate: false` in `express.raw({ type: () => true, inflate: false })`: it then answers 415.',
      nestjs: "Pass `inflate: false` to `app.useBodyParser('raw', ...)`: it then answers 415.",
    },
    severity: 'medium',
    cwe: 696,
    implies: ['decompression-unguarded'],
  },
  'undecodable-body-throws': {
    title: 'Answers 500 to a body that it cannot decode or parse',
    seen:
      '`body.decode()`, a strict encode after `force_encoding`, or a parser call on a byte order mark, without ' +
      'error handling.',
    why:
      'The sender treats 500 as an outage and retries, and each attempt looks like a server error in the ' +
      'monitoring.',
    fix: {
      rule: 'Verify the bytes first. Then catch errors of the decoder and of the parser, and answer 400.',
      ...GUARDED_PARSING,
    },
    severity: 'medium',
    cwe: 248,
    implies: ['lossy-body-text', 'decompressed-body'],
  },
  'unstorable-body-text': {
    title: 'Answers 500 to text that it cannot store or encode',
    seen:
      'PostgreSQL text columns, which reject U+0000, and logs or columns in UTF-8, to which Python and PHP cannot ' +
      'write a lone surrogate.',
    why: 'A correctly signed delivery is answered 500, and the sender retries it with the same result.',
    fix: {
      rule:
        'Verify the bytes, and then check strings before you store them: remove U+0000 or answer 400, and answer ' +
        '400 to a lone surrogate.',
      node: "Check `text.includes('\\u0000')` and `text.isWellFormed()` after `JSON.parse`, and answer 400.",
    },
    severity: 'medium',
    cwe: 176,
  },
  'printed-body': {
    title: 'Computes the signature over the body as its programming language prints it',
    seen:
      '`JSON.stringify(req.rawBody)` of a Buffer, `str()` of bytes or a dict, `fmt.Sprint`, `Arrays.toString`, ' +
      '`inspect`, string interpolation of a parsed body, hexadecimal or base64 text of the body.',
    why: 'A signature over the body never matches, since the language writes bytes and maps in its own notation.',
    fix: {
      rule:
        'Pass the bytes of the body to the HMAC function as they arrived: no conversion to text, no interpolation. ' +
        'To compare with another program, print the length and the SHA-256 of the bytes on both sides.',
      ...RAW_BYTES,
    },
    severity: 'high',
    cwe: 347,
  },
});
