import type { StageFault } from './fault.ts';
import { escaped, rewriteJson } from './json-rewriting.ts';
import { rawBytes } from './raw-body-fix.ts';
import { readingText } from './raw-body-wrong-input.ts';

const base = { area: 'raw-body', severity: 'high', forbidden: true, stage: 'readBody' } as const;

/** The JSON text with its numbers spelt anew and everything else as it was. */
function withNumbers(text: string, spell: (source: string) => string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|-?\d[\d.eE+-]*/g, (all, token?: string) => token ?? spell(all));
}

/** Members that are repeated at the top level make the whole text be written again, as a parser that forbids them would. */
function withoutRepeatedKeys(text: string): string {
  const asIs = { separators: [',', ':'], number: (source: string) => source, string: JSON.stringify } as const;
  try {
    const once = rewriteJson(text, asIs);
    const count = (json: string) => json.match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length;
    return count(once) === count(text) ? text : once;
  } catch {
    return text;
  }
}

/** Decodes percent signs that introduce an escape, as lenient decoders do. */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

/** Bodies in which some spelling was changed on the way to the check, without a parser. */
export const respeltBodies: readonly StageFault[] = [
  {
    ...base,
    name: 'unescapes-slashes',
    title: 'Escaped slashes of the body are unescaped before the signature is verified.',
    seen: 'A patch for senders in PHP, copied into SDKs and forwarders.',
    why: 'The patch mends one sender by guessing how it writes. A sender that does escape is refused.',
    fix: rawBytes('Remove the patch: with the raw bytes no spelling has to be guessed.'),
    replace: readingText((text) => text.replaceAll('\\/', '/')),
  },
  {
    ...base,
    name: 'escapes-slashes',
    title: 'Slashes of the body are escaped before the signature is verified.',
    seen: 'Receivers in Node that imitate json_encode, so as to verify what a PHP sender has signed.',
    why: 'Every delivery with a link or a path in it is refused as soon as the sender is not PHP.',
    fix: rawBytes('Do not imitate how a sender escapes: verify the bytes that arrived.'),
    replace: readingText((text) => text.replace(/(?<!\\)\//g, '\\/')),
  },
  {
    ...base,
    name: 'escapes-non-ascii',
    title: 'Characters outside ASCII are turned into escapes before the signature is verified.',
    seen: 'SDKs that imitate the escapes of Python or PHP with a regular expression.',
    why: 'Deliveries with a letter outside ASCII that stands there as it is are refused.',
    fix: rawBytes('Do not imitate how a sender escapes: verify the bytes that arrived.'),
    replace: readingText((text) => escaped(text, /[\u0080-\uffff]/g)),
  },
  {
    ...base,
    name: 'unescapes-unicode',
    title: 'Unicode escapes of the body are turned into characters before the signature is verified.',
    seen: 'Log pipelines and forwarders that "beautify" JSON, and regular expressions that undo ensure_ascii.',
    why: 'A sender that writes in ASCII only is refused with the first accent.',
    fix: rawBytes('Leave escapes to the parser, after the check.'),
    replace: readingText((text) =>
      text.replace(/\\u([0-9a-f]{4})/gi, (all, digits: string) => {
        const unit = Number.parseInt(digits, 16);
        return unit < 0x20 || unit === 0x22 || unit === 0x5c ? all : String.fromCharCode(unit);
      }),
    ),
  },
  {
    ...base,
    name: 'escapes-html',
    title: 'The body is cleaned against script injection before the signature is verified.',
    seen: 'Filters such as xss-clean, strip_tags in a bootstrap file, and firewalls that rewrite requests.',
    why: 'A free text with <, > or & is refused although it is rightly signed, and the stored text is no longer what was sent.',
    fix: rawBytes('Exempt this route from input cleaning, and encode texts where you show them.'),
    replace: readingText((text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')),
  },
  {
    ...base,
    name: 'strips-backslashes',
    title: 'Backslashes are removed from the body before the signature is verified.',
    seen: 'stripslashes in PHP code from the time of magic quotes, and wp_unslash in plugins for WordPress.',
    why: 'Every body with an escape in it is refused: a quotation mark in a free text is enough.',
    fix: rawBytes('Do not unslash the body; it was never slashed.'),
    replace: readingText((text) => text.replace(/\\(.)/g, '$1')),
  },
  {
    ...base,
    name: 'strips-null-escapes',
    title: 'The escape of U+0000 is removed from the body before the signature is verified.',
    seen: 'A guard for PostgreSQL, whose text columns refuse that character, which was put in front of everything else.',
    why: 'A right signature is called wrong, and the sender looks for a fault in its credentials.',
    fix: rawBytes('Verify first. Refuse or remove U+0000 afterwards, in the parsed texts.'),
    severity: 'low',
    replace: readingText((text) => text.replaceAll('\\u0000', '')),
  },
  {
    ...base,
    name: 'reformats-numbers',
    title: 'Numbers of the body are written anew before the signature is verified.',
    seen: 'Gateways and JSON columns that keep the text but normalise numbers, and patches for 1.0 that became a rule.',
    why: 'Amounts such as 0.10 or 1.0 are spelt differently afterwards, and right deliveries are refused for a few amounts only.',
    fix: rawBytes('Verify before anything reads numbers; a regular expression for one spelling breaks on the next.'),
    replace: readingText((text) => withNumbers(text, (source) => JSON.stringify(Number(source)))),
  },
  {
    ...base,
    name: 'drops-repeated-keys',
    title: 'Repeated keys are removed from the body before the signature is verified.',
    seen: 'Firewalls and gateways that make JSON unambiguous before they pass it on.',
    why: 'A rightly signed body is called forged, in place of being refused for what it is.',
    fix: rawBytes('Verify before the gateway rewrites the body, or have it refuse such bodies with 400.'),
    severity: 'medium',
    replace: readingText(withoutRepeatedKeys),
  },
  {
    ...base,
    name: 'url-decodes-body',
    title: 'Percent escapes in the body are decoded before the signature is verified.',
    seen: 'Functions behind API gateways, form parsers, and helpers that decode every input of a request.',
    why: 'A link with %20 in it, or any escaped address in a text, makes a right delivery look forged.',
    fix: rawBytes('Do not decode the body: only form data is percent-encoded, and this is JSON.'),
    replace: readingText(percentDecoded),
  },
  {
    ...base,
    name: 'uses-body-as-format-string',
    title: 'The body is used as a format string on its way to the check.',
    seen: 'fmt.Fprintf(mac, body) in Go, printf in C and PHP, where the body stands in the place of the format.',
    why: 'A percent sign in a free text changes what is hashed; in C it can also read memory.',
    fix: rawBytes('Write the body with Write or update, never with a function of the printf family.', {
      go: 'Use `mac.Write(body)` and not `fmt.Fprintf(mac, string(body))`.',
    }),
    replace: readingText((text) =>
      text.replace(/%(.)/g, (_all, verb: string) => (verb === '%' ? '%' : `%!${verb}(MISSING)`)),
    ),
  },
  {
    ...base,
    name: 'puts-body-into-replacement',
    title: 'The body is put into a template with a replace function that gives dollar signs a meaning.',
    seen: "template.replace('{body}', body) in JavaScript, and its like with backslashes in other languages.",
    why: 'An amount such as $& or $1 in a text is expanded, so a right delivery with a dollar sign in the wrong place is refused.',
    fix: rawBytes('Hash the body itself. Where a template is needed, give replace a function.'),
    replace: readingText((text) => '{body}'.replace('{body}', text)),
  },
];
