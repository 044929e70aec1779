/**
 * What a secret or an API key looks like, without any of it in the answer. Pure: the texts are the same whatever the value is, but
 * for its length. Specification: Authentication.
 */
import { LIMITS } from '../../../contract/index.ts';
import type { FactsOf } from '../doctor-document.ts';
import { advice, type DoctorFinding, info, problem } from '../findings/finding.ts';
import { encodingOf } from './encoding.ts';
import { isPlaceholder } from './placeholder.ts';

export type CredentialKind = 'secret' | 'api-key';

export interface CredentialShape {
  readonly facts: Omit<FactsOf<'secret'>, 'from'>;
  readonly findings: readonly DoctorFinding[];
}

interface Value {
  readonly kind: CredentialKind;
  readonly value: string;
  /** "The secret", "The API key". */
  readonly noun: string;
  readonly characters: number;
}

type Check = (given: Value) => DoctorFinding | null;

/** Characters that nobody sees: zero-width ones, no-break spaces, soft hyphens, byte order marks that are not at the start. */
const INVISIBLE = /[\u00a0\u00ad\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000]|(?<!^)\ufeff/;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** What a header cannot carry: control characters other than the tab, and what does not fit into one byte. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;
/** Too few different characters to be chance: so few come up once in many million random texts. */
const FEW_CHARACTERS = 4;

const code = ({ kind }: Value, what: string) => `${kind}-${what}`;
const COPY_AGAIN = 'Copy the value again from where it was agreed, and nothing around it.';

/** A byte order mark is looked at by itself. */
const withoutMark = (value: string) => value.replace(/^\uFEFF/, '');

const lineBreak: Check = (given) => {
  if (!/[\r\n]/.test(given.value)) return null;
  const atEnd = !/[\r\n]/.test(given.value.replace(/[\r\n]+$/, ''));
  const text = atEnd ? 'ends with a line break' : 'holds line breaks';
  const fix =
    'Take it out on this side and, if it was set the same way, at the receiver: `printf %s` writes none, `echo` does.';
  return problem(code(given, 'line-break'), `${given.noun} ${text}, which counts as a part of it.`, fix);
};

const whiteSpace: Check = (given) => {
  const value = withoutMark(given.value).replace(/^[\r\n]+|[\r\n]+$/g, '');
  if (value === value.trim()) return null;
  const title = `${given.noun} begins or ends with white space`;
  return given.kind === 'secret'
    ? advice(code(given, 'white-space'), `${title}, which counts as a part of it.`, `Take it out. ${COPY_AGAIN}`)
    : problem(code(given, 'white-space'), `${title}, which HTTP drops: it never arrives as it is.`, 'Take it out.');
};

const byteOrderMark: Check = (given) =>
  given.value.startsWith('\uFEFF')
    ? problem(
        code(given, 'byte-order-mark'),
        `${given.noun} begins with a byte order mark, which counts as a part of it.`,
        'Save the file as UTF-8 without a byte order mark.',
      )
    : null;

const unseen: Check = (given) => {
  if (INVISIBLE.test(given.value)) {
    const title = `${given.noun} holds a character that cannot be seen, such as a no-break or zero-width space.`;
    return problem(code(given, 'invisible-character'), title, `They come from copying out of documents. ${COPY_AGAIN}`);
  }
  if (!CONTROL.test(given.value)) return null;
  return problem(code(given, 'control-character'), `${given.noun} holds a control character.`, COPY_AGAIN);
};

const quotes: Check = (given) =>
  /^(["'`])[\s\S]*\1$/.test(given.value.trim()) && given.value.trim().length > 1
    ? advice(
        code(given, 'quoted'),
        `${given.noun} stands in quotes, which count as a part of it.`,
        'Leave them out: `docker --env-file` and many readers of .env files keep them.',
      )
    : null;

const notAscii: Check = (given) => {
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
  return advice(code(given, 'not-ascii'), `${given.noun} has characters outside ASCII.`, fix, detail);
};

const unsendable: Check = (given) =>
  given.kind === 'api-key' && UNSENDABLE.test(given.value.replace(/[\r\n]/g, ''))
    ? problem(
        code(given, 'unsendable'),
        'The API key holds a character that a header cannot carry.',
        'Use printable ASCII characters.',
      )
    : null;

const placeholder: Check = (given) =>
  isPlaceholder(given.value)
    ? problem(
        code(given, 'placeholder'),
        `${given.noun} looks like a placeholder that was never filled in.`,
        'Put the agreed value in. A template or a variable that was not substituted leaves such a text behind.',
      )
    : null;

const otherThing: Check = (given) => {
  const value = given.value.trim();
  const is = (what: string, text: string, fix: string) =>
    problem(code(given, `is-${what}`), `${given.noun} is ${text}.`, fix);
  if (/-----BEGIN /.test(value)) return is('pem', 'PEM text', 'Certificates and keys go with --client-cert and --ca.');
  if (/^https?:\/\//i.test(value)) return is('url', 'a URL', COPY_AGAIN);
  if (/^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(value)) {
    return is('token', 'a JSON web token', 'A token says who somebody is, and expires. Use the value that was agreed.');
  }
  if (/^[{[][\s\S]*[}\]]$/.test(value) && isJson(value)) {
    return is('json', 'a JSON document', 'Take the one value out of it: secret managers hand out whole documents.');
  }
  if (/^(?:export\s+)?[A-Z][A-Z0-9_]{2,}=\S/.test(value)) {
    return is('assignment', 'a whole line NAME=value', 'Leave the name and the equals sign out.');
  }
  if (/^(?:Bearer|Basic)\s/i.test(value)) {
    return is('scheme', 'preceded by the name of an authentication scheme', 'Leave the scheme out.');
  }
  if (/^(?:\.{1,2}|~)?(?:\/[\w.-]+){2,}$/.test(value) || /^[A-Za-z]:\\/.test(value)) {
    const fix = 'Name files with --secret-file and --api-key-file; variables hold the value itself.';
    return advice(code(given, 'looks-like-path'), `${given.noun} looks like the path of a file.`, fix);
  }
  return null;
};

const otherScheme: Check = (given) => {
  if (given.kind === 'secret' && given.value.startsWith('whsec_')) {
    const title = 'The secret has the prefix of another webhook scheme, in which the rest is decoded before use.';
    const fix =
      'Use the whole text, prefix included, as the key on both sides: nothing is cut off and nothing decoded.';
    return advice(code(given, 'of-another-scheme'), title, fix);
  }
  if (!/^(?:[sprk]k[_-](?:live|test|proj)?|gh[pousr]_|glpat-|xox[abprs]-|AKIA|AIza|SG\.)/.test(given.value))
    return null;
  const title = `${given.noun} has the prefix of another service's access keys.`;
  const fix = 'Check that it is the value that was agreed for these webhooks, and no key that opens something else.';
  return advice(code(given, 'of-another-service'), title, fix);
};

const guessable: Check = (given) => {
  const { value, characters, kind, noun } = given;
  if (isPlaceholder(value)) return null;
  const fix = 'Make a new one: openssl rand -base64 32';
  if (characters >= 8 && new Set(value).size <= FEW_CHARACTERS) {
    return problem(code(given, 'guessable'), `${noun} is made of very few different characters.`, fix);
  }
  const least = LIMITS.recommendedSecretLength;
  if (kind !== 'secret' || characters >= least) return null;
  const title = `The secret has ${characters === 1 ? '1 character' : `${characters} characters`}; at least ${least} are recommended.`;
  return advice(code(given, 'short'), title, fix);
};

const encoded: Check = (given) => {
  const encoding = given.kind === 'secret' ? encodingOf(given.value) : null;
  if (encoding === null || encoding.decodedBytes === null) return null;
  const title = `The secret looks like ${encoding.names.join(' or ')} of ${encoding.decodedBytes} bytes. The text itself is the key.`;
  const fix = 'Do not decode it at the receiver: key the HMAC with the bytes of the text as it stands.';
  const detail = 'A receiver that decodes it first computes other signatures and refuses every delivery.';
  return info(code(given, 'encoded'), title, fix, detail);
};

const CHECKS = [
  placeholder,
  otherThing,
  byteOrderMark,
  lineBreak,
  whiteSpace,
  unseen,
  quotes,
  unsendable,
  notAscii,
  otherScheme,
  guessable,
  encoded,
];

/** The shape of a value that is not empty. */
export function credentialShape(kind: CredentialKind, value: string): CredentialShape {
  const given: Value = {
    kind,
    value,
    noun: kind === 'secret' ? 'The secret' : 'The API key',
    characters: [...value].length,
  };
  const encoding = encodingOf(value);
  return {
    facts: {
      characters: given.characters,
      bytes: Buffer.byteLength(value),
      looksLike: encoding === null ? [] : [...encoding.names],
      decodedBytes: encoding?.decodedBytes ?? null,
    },
    findings: CHECKS.flatMap((check) => check(given) ?? []),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
