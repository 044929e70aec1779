/**
 * If a receiver rejects the plain valid delivery, the harness signs it again with every signing mistake: the one that
 * the receiver accepts is what it verifies. Specification: Authentication, HMAC signature (Common faults).
 */
import type { JsonValue } from '../../contract/index.ts';
import {
  explainMistakes,
  listMistakes,
  type MistakeExplanation,
  type Mistakes,
  mistakesNamed,
  readBody,
  SIGNING_MISTAKES,
  type SigningInput,
  signMistakenly,
} from '../../contract/signing/index.ts';
import type { DictionaryFault } from './fault-dictionary.ts';

export interface SigningTrial extends MistakeExplanation {
  /** Whether the trial comes before those with other header names. */
  readonly likely: boolean;
  /**
   * Serialises the notification to a body that reveals this mistake: no other mistake makes the same signature from it.
   */
  readonly serialise: (value: JsonValue) => Uint8Array;
  /** Returns the signature that this mistake makes. Returns undefined if the mistake does not apply to this body. */
  readonly sign: (body: Uint8Array) => string | undefined;
}

const names = (text: string): string[] => text.split(' ');

/**
 * Pairs of mistakes that are made together: the framework parses the body, and the signature is not in standard base64.
 */
const PAIRS = ['hex', 'base64-of-hex', 'base64url'].flatMap((encoding) =>
  names(
    'reserialised-json python-json go-json sorted-json php-json python-compact-json python-compact-ascii-json ' +
      'php-unescaped-json',
  ).map((json) => `${json}+${encoding}`),
);

/**
 * The likely mistakes, starting with the most likely. Some of them are pairs. Mistakes about secrets with certain
 * characters do not apply to other secrets.
 */
const LIKELY = [
  ...names(
    'hex prefixed-hex reserialised-json secret-newline base64-decoded-secret python-json python-compact-json ' +
      'php-json trimmed-secret first-32-of-secret lower-case-body trimmed-body latin1-body base64url ' +
      'padded-base64url unpadded-base64 base64-of-hex data-only sorted-json python-sorted-json ' +
      'python-sorted-compact-json go-json pretty-json-2 hmac-sha1 hmac-sha512 hex-decoded-secret ' +
      'prefix-stripped-decoded-secret latin1-secret timestamp-dot-body id-timestamp-body id-dot-body url-body ' +
      'empty-object-body api-key-as-secret empty-secret json-buffer-body python-bytes-body python-dict-body ' +
      'method-path-body trimmed-fields-php-json html-escaped-secret expanded-secret backslash-dropped-secret ' +
      'secret-cut-at-hash secret-cut-at-equals secret-cut-at-space url-encoded-secret percent-decoded-secret',
  ),
  ...PAIRS,
];

/**
 * Mutants that accept the plain valid delivery, because their mistake affects only some bodies. For all others, the
 * fault dictionary records the signing mistake.
 */
const FAULTS_OF_SOME_BODIES: Readonly<Record<string, string>> = {
  'reserialised-json': 'verifies-reserialised-json',
  'python-compact-json': 'verifies-python-compact-json',
  'php-json': 'verifies-php-json',
  'sorted-json': 'verifies-go-map-json',
  'trimmed-body': 'trims-body',
};

/** Returns the fault of a receiver with this signing mistake; undefined if there is none. */
export function faultOfMistake(mistake: string, faults: readonly DictionaryFault[]): DictionaryFault | undefined {
  const name = FAULTS_OF_SOME_BODIES[mistake];
  if (name !== undefined) return faults.find((fault) => fault.name === name);
  return mistakesNamed(mistake) === undefined ? undefined : faults.find(({ refusal }) => refusal === mistake);
}

/** The text of the sample that is replaced. The notification stays valid. */
const MEMO = 'test memo';

/**
 * Values that languages and frameworks change: a float, an empty object, null, empty text, and text with spaces and
 * "#{".
 */
const TRIAL = '{"number": 1.0, "empty": {}, "none": null, "blank": "", "padded": " #{a} "}';

/**
 * Ways to serialise a notification that no serialiser reproduces, so that they show which bytes are signed. The first
 * one that distinguishes the mistake is used, because fewer receivers accept the later ones.
 */
const SERIALISERS: readonly ((value: JsonValue) => Uint8Array)[] = [
  // The base64 of five question marks contains a slash.
  (value) => Buffer.from(`${spaced(value, 'test/m\u00e9mo?????')}\n`),
  // This one also has unknown fields of every kind, an escaped slash, a decomposed letter, and both kinds of line ends.
  (value) => {
    const json = spaced(value, 'test/m\u00e9mo<\\/e\u0301');
    return Buffer.from(`\r\n ${json.replace(/ ?\}$/, `, "trial": ${TRIAL} }`)} \n`);
  },
  (value) => Buffer.from(`\ufeff${spaced(value, MEMO)}`),
  (value) => Buffer.from(spaced(value, 'test m\u00ffmo'), 'latin1'),
];

/** Formats JSON with a space after every comma and colon. `memo` is the JSON text that replaces the sample's. */
function spaced(value: JsonValue, memo: string): string {
  return JSON.stringify(value, null, 1).replace(/\n */g, ' ').replace(MEMO, memo);
}

/**
 * There are several samples, because some digests look the same in several encodings. For all other mistakes, two are
 * enough.
 */
const SAMPLES: readonly JsonValue[] = Array.from({ length: 8 }, (_, at) => ({
  id: 'a-1',
  type: 'CAAS',
  at,
  data: { type: 'BUY', metadata: { memo: MEMO } },
}));

/**
 * Returns the trials of all mistakes that apply to this secret and change the signature. The likely ones come first.
 */
export function signingTrials(input: Omit<SigningInput, 'body'>): readonly SigningTrial[] {
  const rest = [...SIGNING_MISTAKES.filter(({ common }) => common), ...SIGNING_MISTAKES.filter(({ common }) => !common)]
    .map(({ name }) => name)
    .filter((name) => !LIKELY.includes(name));
  const trials = [...LIKELY, ...rest].map((fault) => ({ likely: LIKELY.includes(fault), ...signerOf(fault, input) }));
  const bySerialiser = SERIALISERS.map((serialise) => {
    const bodies = SAMPLES.map((value) => readBody({ ...input, body: serialise(value) }));
    const signatures = trials.map(({ mistakes }) => {
      const told = mistakes.encoding === undefined ? bodies.slice(0, 2) : bodies;
      return told.map((body) => signMistakenly(mistakes, body)).join(' ');
    });
    return { serialise, signatures, correct: bodies.map((body) => signMistakenly({}, body)).join(' ') };
  });
  return trials.flatMap((trial, index) => {
    const telling = bySerialiser.filter(({ signatures, correct }) => {
      const signature = signatures[index]?.trim() ?? '';
      return signature !== '' && !correct.startsWith(signature);
    });
    const own = telling.find(
      ({ signatures }) => signatures.filter((other) => other === signatures[index]).length === 1,
    );
    const chosen = own ?? telling[0];
    return chosen === undefined ? [] : [{ ...trial, serialise: chosen.serialise }];
  });
}

/** Returns a signer with one mistake, or with several joined by "+". */
function signerOf(
  names: string,
  input: Omit<SigningInput, 'body'>,
): MistakeExplanation & Pick<SigningTrial, 'sign'> & { readonly mistakes: Mistakes } {
  const mistakes = mistakesNamed(names) ?? {};
  const [first, ...others] = listMistakes(mistakes);
  if (first === undefined) throw new RangeError(`no signing mistake is named ${names}`);
  return {
    ...explainMistakes([first, ...others]),
    mistakes,
    sign: (body) => signMistakenly(mistakes, { ...input, body }),
  };
}
