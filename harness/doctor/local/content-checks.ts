/** What a credential seems to be: a placeholder, something else than a secret, guessable, encoded. Pure. Specification: Authentication. */
import { LIMITS } from '../../../contract/index.ts';
import { advice, info, problem } from '../findings/finding.ts';
import { COPY_AGAIN, type CredentialCheck, codeFor } from './credential-check.ts';
import { encodingOf } from './encoding.ts';
import { isPlaceholder } from './placeholder.ts';

/** Too few different characters to be chance: so few come up once in many million random texts. */
const FEW_CHARACTERS = 4;

const isOfFew = (value: string) => new Set(value).size <= FEW_CHARACTERS;

const placeholder: CredentialCheck = (given) =>
  isPlaceholder(given.value)
    ? problem(
        codeFor(given, 'placeholder'),
        `${given.noun} looks like a placeholder that was never filled in.`,
        'Put the agreed value in. A template or a variable that was not substituted leaves such a text behind.',
      )
    : null;

const otherThing: CredentialCheck = (given) => {
  const value = given.value.trim();
  const is = (what: string, text: string, fix: string) =>
    problem(codeFor(given, `is-${what}`), `${given.noun} is ${text}.`, fix);
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
    return advice(codeFor(given, 'looks-like-path'), `${given.noun} looks like the path of a file.`, fix);
  }
  return null;
};

const otherScheme: CredentialCheck = (given) => {
  if (given.kind === 'secret' && given.value.startsWith('whsec_')) {
    const title = 'The secret has the prefix of another webhook scheme, in which the rest is decoded before use.';
    const fix =
      'Use the whole text, prefix included, as the key on both sides: nothing is cut off and nothing decoded.';
    return advice(codeFor(given, 'of-another-scheme'), title, fix);
  }
  if (!/^(?:[sprk]k[_-](?:live|test|proj)?|gh[pousr]_|glpat-|xox[abprs]-|AKIA|AIza|SG\.)/.test(given.value))
    return null;
  const title = `${given.noun} has the prefix of another service's access keys.`;
  const fix = 'Check that it is the value that was agreed for these webhooks, and no key that opens something else.';
  return advice(codeFor(given, 'of-another-service'), title, fix);
};

const guessable: CredentialCheck = (given) => {
  const { value, characters, kind, noun } = given;
  if (isPlaceholder(value)) return null;
  const fix = 'Make a new one: openssl rand -base64 32';
  if (characters >= 8 && isOfFew(value)) {
    return problem(codeFor(given, 'guessable'), `${noun} is made of very few different characters.`, fix);
  }
  const least = LIMITS.recommendedSecretLength;
  if (kind !== 'secret' || characters >= least) return null;
  const title = `The secret has ${characters === 1 ? '1 character' : `${characters} characters`}; at least ${least} are recommended.`;
  return advice(codeFor(given, 'short'), title, fix);
};

const encoded: CredentialCheck = (given) => {
  const { kind, value } = given;
  // Something more important is said of these.
  if (kind === 'api-key' || isOfFew(value) || otherScheme(given) !== null) return null;
  const encoding = encodingOf(value);
  if (encoding === null || encoding.decodedBytes === null) return null;
  const title = `The secret looks like ${encoding.names.join(' or ')} of ${encoding.decodedBytes} bytes. The text itself is the key.`;
  const fix = 'Do not decode it at the receiver: key the HMAC with the bytes of the text as it stands.';
  const detail = 'A receiver that decodes it first computes other signatures and refuses every delivery.';
  return info(codeFor(given, 'encoded'), title, fix, detail);
};

export const CONTENT_CHECKS: readonly CredentialCheck[] = [placeholder, otherThing, otherScheme, guessable, encoded];

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
