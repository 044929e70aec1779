/**
 * Describes the shape of a secret or an API key without revealing any part of it. Pure: the texts do not depend on the
 * value, except for its length. Specification: Authentication.
 */
import { LIMITS } from '../../contract/index.ts';
import { encodingOf, isPlaceholder } from './credential-patterns.ts';
import type { DoctorFinding, FactsOf } from './doctor-document.ts';
import { advice, info, present, problem } from './sections.ts';

interface GivenCredential {
  readonly kind: 'secret' | 'api-key';
  readonly value: string;
  /** The name in sentences: "The secret", "The API key". */
  readonly noun: string;
  /** The length in code points. */
  readonly characters: number;
}

type CredentialCheck = (given: GivenCredential) => DoctorFinding | null | false;

/** Describes the shape of a non-empty value. */
export function credentialShape(
  kind: GivenCredential['kind'],
  value: string,
): { readonly facts: Omit<FactsOf<'secret'>, 'from'>; readonly findings: readonly DoctorFinding[] } {
  const noun = kind === 'secret' ? 'The secret' : 'The API key';
  const given: GivenCredential = { kind, value, noun, characters: [...value].length };
  const encoding = encodingOf(value);
  return {
    facts: {
      characters: given.characters,
      bytes: Buffer.byteLength(value),
      looksLike: encoding === null ? [] : [...encoding.names],
      decodedBytes: encoding?.decodedBytes ?? null,
    },
    findings: present(CHECKS.map((check) => check(given))),
  };
}

const codeFor = ({ kind }: GivenCredential, what: string) => `${kind}-${what}`;
const COPY_AGAIN = 'Copy the value again from its source, without anything around it.';

/** Invisible characters: zero-width ones, no-break spaces, soft hyphens, byte order marks not at the start. */
const INVISIBLE = /[\u00a0\u00ad\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000]|(?<!^)\ufeff/;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Characters that a header cannot carry: control characters except the tab, and characters above one byte. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;
/** A value with this many different characters or fewer is practically never random. */
const FEW_CHARACTERS = 4;

const isOfFew = (value: string) => new Set(value).size <= FEW_CHARACTERS;

const otherThing: CredentialCheck = (given) => {
  const value = given.value.trim();
  const is = (what: string, text: string, fix: string) =>
    problem(codeFor(given, `is-${what}`), `${given.noun} is ${text}.`, fix);
  if (/-----BEGIN /.test(value))
    return is('pem', 'PEM text', 'Use `--client-cert` and `--ca` for certificates and keys.');
  if (/^https?:\/\//i.test(value)) return is('url', 'a URL', COPY_AGAIN);
  if (/^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(value)) {
    return is('token', 'a JSON web token', 'A token identifies a user and expires. Use the value that was agreed.');
  }
  if (/^[{[][\s\S]*[}\]]$/.test(value) && isJson(value)) {
    return is('json', 'a JSON document', 'Extract the value from it: secret managers return whole documents.');
  }
  if (/^(?:export\s+)?[A-Z][A-Z0-9_]{2,}=\S/.test(value)) {
    return is('assignment', 'a whole line NAME=value', 'Remove the name and the equals sign.');
  }
  if (/^(?:Bearer|Basic)\s/i.test(value)) {
    return is('scheme', 'preceded by the name of an authentication scheme', 'Remove the name of the scheme.');
  }
  if (/^(?:\.{1,2}|~)?(?:\/[\w.-]+){2,}$/.test(value) || /^[A-Za-z]:\\/.test(value)) {
    const fix = 'Name files with `--secret-file` and `--api-key-file`; a variable contains the value itself.';
    return advice(codeFor(given, 'looks-like-path'), `${given.noun} looks like the path of a file.`, fix);
  }
  return null;
};

const otherScheme: CredentialCheck = (given) => {
  if (given.kind === 'secret' && given.value.startsWith('whsec_')) {
    const title = 'The secret has the prefix of another webhook scheme, which decodes the rest before use.';
    const fix = 'Use the whole text, prefix included, as the key on both sides: remove nothing and decode nothing.';
    return advice(codeFor(given, 'of-another-scheme'), title, fix);
  }
  if (!/^(?:[sprk]k[_-](?:live|test|proj)?|gh[pousr]_|glpat-|xox[abprs]-|AKIA|AIza|SG\.)/.test(given.value)) {
    return null;
  }
  const title = `${given.noun} has the prefix of another service's access keys.`;
  const fix = 'Check that it is the value that was agreed for these webhooks, not an access key of another service.';
  return advice(codeFor(given, 'of-another-service'), title, fix);
};

const guessable: CredentialCheck = (given) => {
  const { value, characters, kind, noun } = given;
  if (isPlaceholder(value)) return null;
  const fix = 'Generate a new one: openssl rand -base64 32';
  if (characters >= 8 && isOfFew(value)) {
    return problem(codeFor(given, 'guessable'), `${noun} consists of very few different characters.`, fix);
  }
  const min = LIMITS.recommendedSecretLength;
  if (kind !== 'secret' || characters >= min) return null;
  const length = characters === 1 ? '1 character' : `${characters} characters`;
  return advice(codeFor(given, 'short'), `The secret has ${length}; at least ${min} are recommended.`, fix);
};

const encoded: CredentialCheck = (given) => {
  const { kind, value } = given;
  // These values have a more important finding.
  if (kind === 'api-key' || isOfFew(value) || otherScheme(given) !== null) return null;
  const encoding = encodingOf(value);
  if (encoding === null || encoding.decodedBytes === null) return null;
  const names = encoding.names.join(' or ');
  const title = `The secret looks like ${names} of ${encoding.decodedBytes} bytes. The text itself is the key.`;
  const fix = 'Do not decode it in the receiver: use the bytes of the text as the HMAC key.';
  const detail = 'A receiver that decodes it first computes other signatures and rejects every delivery.';
  return info(codeFor(given, 'encoded'), title, fix, detail);
};

const lineBreak: CredentialCheck = (given) => {
  if (!/[\r\n]/.test(given.value)) return null;
  const atEnd = !/[\r\n]/.test(given.value.replace(/[\r\n]+$/, ''));
  const text = atEnd ? 'ends with a line break, which counts' : 'contains line breaks, which count';
  const fix =
    'Remove it here and, if it was set the same way, in the receiver: `printf %s` writes no line break, `echo` does.';
  return problem(codeFor(given, 'line-break'), `${given.noun} ${text} as part of it.`, fix);
};

const whiteSpace: CredentialCheck = (given) => {
  const value = given.value.replace(/^\uFEFF/, '').replace(/^[\r\n]+|[\r\n]+$/g, '');
  if (value === value.trim()) return null;
  const title = `${given.noun} begins or ends with whitespace`;
  return given.kind === 'secret'
    ? advice(codeFor(given, 'white-space'), `${title}, which is part of it.`, `Remove it. ${COPY_AGAIN}`)
    : problem(
        codeFor(given, 'white-space'),
        `${title}, which HTTP drops, so it never arrives unchanged.`,
        'Remove it.',
      );
};

const unseen: CredentialCheck = (given) => {
  if (INVISIBLE.test(given.value)) {
    const title = `${given.noun} contains an invisible character, such as a no-break or zero-width space.`;
    const fix = `Copying from a document adds such characters. ${COPY_AGAIN}`;
    return problem(codeFor(given, 'invisible-character'), title, fix);
  }
  if (!CONTROL.test(given.value)) return null;
  return problem(codeFor(given, 'control-character'), `${given.noun} contains a control character.`, COPY_AGAIN);
};

const notAscii: CredentialCheck = (given) => {
  const { value, kind } = given;
  if (!/[^\0-\x7f]/.test(value.replace(new RegExp(INVISIBLE, 'g'), '').replace(/^\uFEFF/, ''))) return null;
  if (kind === 'api-key' && UNSENDABLE.test(value)) return null;
  const form = unicodeForm(value);
  const detail = kind === 'secret' ? `The key is its bytes in UTF-8. ${form}` : form;
  const fix = 'Use printable ASCII characters: nothing between the two sides changes them.';
  return advice(codeFor(given, 'not-ascii'), `${given.noun} has characters outside ASCII.`, fix, detail);
};

function unicodeForm(value: string): string {
  const [composed, decomposed] = [value.normalize('NFC'), value.normalize('NFD')];
  if (composed === decomposed) return 'Its characters have only one Unicode form.';
  return value === composed
    ? 'Its accents are composed (NFC); a copy with separate accents (NFD, as on macOS) looks the same but is ' +
        'another value.'
    : 'Its accents are separate characters (NFD, as on macOS); a composed copy (NFC) looks the same but is another ' +
        'value.';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const CHECKS: readonly CredentialCheck[] = [
  (given) =>
    isPlaceholder(given.value) &&
    problem(
      codeFor(given, 'placeholder'),
      `${given.noun} looks like a placeholder that was never replaced.`,
      'Set the agreed value. Templates and variables that were not substituted leave such text.',
    ),
  otherThing,
  otherScheme,
  guessable,
  encoded,
  (given) =>
    given.value.startsWith('\uFEFF') &&
    problem(
      codeFor(given, 'byte-order-mark'),
      `${given.noun} begins with a byte order mark, which is part of it.`,
      'Save the file as UTF-8 without a byte order mark.',
    ),
  lineBreak,
  whiteSpace,
  unseen,
  (given) =>
    /^(["'`])[\s\S]*\1$/.test(given.value.trim()) &&
    given.value.trim().length > 1 &&
    advice(
      codeFor(given, 'quoted'),
      `${given.noun} is in quotes, which are part of it.`,
      'Remove them: `docker --env-file` and many readers of .env files keep quotes.',
    ),
  (given) =>
    given.kind === 'api-key' &&
    UNSENDABLE.test(given.value.replace(/[\r\n]/g, '')) &&
    problem(
      codeFor(given, 'unsendable'),
      'The API key contains a character that a header cannot carry.',
      'Use printable ASCII characters.',
    ),
  notAscii,
];
