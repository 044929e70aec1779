/** Characters of a credential that are not meant, or that do not arrive. Pure. */
import { advice, problem } from '../findings/finding.ts';
import { COPY_AGAIN, type CredentialCheck, codeFor } from './credential-check.ts';

/** Characters that nobody sees: zero-width ones, no-break spaces, soft hyphens, byte order marks that are not at the start. */
const INVISIBLE = /[\u00a0\u00ad\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000]|(?<!^)\ufeff/;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** What a header cannot carry: control characters other than the tab, and what does not fit into one byte. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;
/** A byte order mark is looked at by itself. */
const withoutMark = (value: string) => value.replace(/^\uFEFF/, '');

const lineBreak: CredentialCheck = (given) => {
  if (!/[\r\n]/.test(given.value)) return null;
  const atEnd = !/[\r\n]/.test(given.value.replace(/[\r\n]+$/, ''));
  const text = atEnd ? 'ends with a line break' : 'holds line breaks';
  const fix =
    'Take it out on this side and, if it was set the same way, at the receiver: `printf %s` writes none, `echo` does.';
  return problem(codeFor(given, 'line-break'), `${given.noun} ${text}, which counts as a part of it.`, fix);
};

const whiteSpace: CredentialCheck = (given) => {
  const value = withoutMark(given.value).replace(/^[\r\n]+|[\r\n]+$/g, '');
  if (value === value.trim()) return null;
  const title = `${given.noun} begins or ends with white space`;
  return given.kind === 'secret'
    ? advice(codeFor(given, 'white-space'), `${title}, which counts as a part of it.`, `Take it out. ${COPY_AGAIN}`)
    : problem(codeFor(given, 'white-space'), `${title}, which HTTP drops: it never arrives as it is.`, 'Take it out.');
};

const byteOrderMark: CredentialCheck = (given) =>
  given.value.startsWith('\uFEFF')
    ? problem(
        codeFor(given, 'byte-order-mark'),
        `${given.noun} begins with a byte order mark, which counts as a part of it.`,
        'Save the file as UTF-8 without a byte order mark.',
      )
    : null;

const unseen: CredentialCheck = (given) => {
  if (INVISIBLE.test(given.value)) {
    const title = `${given.noun} holds a character that cannot be seen, such as a no-break or zero-width space.`;
    return problem(
      codeFor(given, 'invisible-character'),
      title,
      `They come from copying out of documents. ${COPY_AGAIN}`,
    );
  }
  if (!CONTROL.test(given.value)) return null;
  return problem(codeFor(given, 'control-character'), `${given.noun} holds a control character.`, COPY_AGAIN);
};

const quotes: CredentialCheck = (given) =>
  /^(["'`])[\s\S]*\1$/.test(given.value.trim()) && given.value.trim().length > 1
    ? advice(
        codeFor(given, 'quoted'),
        `${given.noun} stands in quotes, which count as a part of it.`,
        'Leave them out: `docker --env-file` and many readers of .env files keep them.',
      )
    : null;

const notAscii: CredentialCheck = (given) => {
  const { value, kind } = given;
  if (!/[^\0-\x7f]/.test(value.replace(new RegExp(INVISIBLE, 'g'), '').replace(/^\uFEFF/, ''))) return null;
  if (kind === 'api-key' && UNSENDABLE.test(value)) return null;
  const [composed, decomposed] = [value.normalize('NFC'), value.normalize('NFD')];
  const form =
    composed === decomposed
      ? 'Its characters have one spelling in Unicode.'
      : value === composed
        ? 'Its accents are composed (NFC); a copy whose accents are separate (NFD, as macOS writes them) looks the same and is another value.'
        : 'Its accents are separate characters (NFD, as macOS writes them); a composed copy (NFC) looks the same and is another value.';
  const detail = kind === 'secret' ? `The key is its bytes in UTF-8. ${form}` : form;
  const fix = 'Use printable ASCII characters: everything between the two sides takes them as they are.';
  return advice(codeFor(given, 'not-ascii'), `${given.noun} has characters outside ASCII.`, fix, detail);
};

const unsendable: CredentialCheck = (given) =>
  given.kind === 'api-key' && UNSENDABLE.test(given.value.replace(/[\r\n]/g, ''))
    ? problem(
        codeFor(given, 'unsendable'),
        'The API key holds a character that a header cannot carry.',
        'Use printable ASCII characters.',
      )
    : null;

export const CHARACTER_CHECKS: readonly CredentialCheck[] = [
  byteOrderMark,
  lineBreak,
  whiteSpace,
  unseen,
  quotes,
  unsendable,
  notAscii,
];
