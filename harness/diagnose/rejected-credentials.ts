/**
 * Sends a rejected plain delivery with each signing mistake, with other header names, and in the schemes of other
 * services, and reports which of them the endpoint accepts. Every trial is a delivery with one change, like any probe.
 * One accepted trial proves nothing, so the trial and the plain delivery are repeated. If no trial is accepted, the
 * text of the answer is the evidence.
 */
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type HeaderLine,
  sameHeaderName,
} from '../../contract/index.ts';
import {
  describeScheme,
  FOREIGN_SCHEMES,
  type Scheme,
  SERVICE_SCHEME,
  signWithScheme,
  waysToSign,
} from '../../contract/signing/index.ts';
import type { AddressChange, Change, SignChange } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import type { Answer, Attempt } from '../transport/index.ts';
import { type Finding, findingOf } from './finding.ts';
import { rejectsCredentials } from './preflight-findings.ts';
import type { Credentials } from './refused-delivery.ts';
import { signingTrials } from './signing-trials.ts';

/** Sends the plain valid delivery with a change. `authentic` says whether its credentials are still valid. */
type SendChanged = (change: Change, authentic: boolean, lane?: number) => Promise<Attempt>;

interface ChangedDelivery extends Finding {
  readonly change: Change;
  readonly authentic: boolean;
}

/** Whether the endpoint accepts a delivery with this change. */
type Accepts = (change: Change, authentic: boolean) => Promise<boolean>;

/** Whether a signature contains the character in which some encodings of a digest differ. */
const showsEncoding = (signature: string) => signature.includes('+');

/** Returns a sign stage that makes a valid signature. The body is chosen so that the signature satisfies `suits`. */
function validSignature(label: string, suits: (signature: string) => boolean): SignChange {
  return { label, make: (body, kit) => kit.sign(body), suits };
}

/** Returns the plain delivery to compare trials with, whose signature also shows the encoding. */
function plainOf({ signing }: Partner): Change {
  return signing === undefined ? {} : { sign: validSignature('the valid signature', showsEncoding) };
}

/** Time limit for trying the rare mistakes, after the likely ones. */
const RARE_MISTAKES_MS = 15_000;

const SIGNATURE_HEADERS = [
  'X-Signature',
  'X-Webhook-Signature',
  'X-Hub-Signature-256',
  'X-Hub-Signature',
  'Signature',
  'X-Hmac-Sha256',
];
const KEY_HEADERS = ['Api-Key', 'ApiKey', 'X-Api-Token', 'X-Auth-Token', 'X-Access-Token', 'Authorization'];

function also(header: string, copies: readonly { readonly name: string; readonly prefix?: string }[]): AddressChange {
  return {
    label: `also sent as ${copies.map(({ name }) => name).join(', ')}`,
    make: (head) => {
      const value = head.headers.find(([name]) => sameHeaderName(name, header))?.[1] ?? '';
      const lines = copies.filter(({ name }) => !head.headers.some(([taken]) => sameHeaderName(taken, name)));
      return {
        ...head,
        headers: [...head.headers, ...lines.map(({ name, prefix = '' }): HeaderLine => [name, prefix + value])],
      };
    },
  };
}

function schemeFinding(scheme: Scheme): Finding {
  return findingOf(
    `expects-${scheme.name}-signature`,
    `The endpoint verifies signatures in the ${scheme.title} scheme, not those of this service`,
    'foreign-signature-format',
    `It accepts ${Object.keys(scheme.headers).join(', ')}: ${describeScheme(scheme)}. Add ` +
      `\`--scheme ${scheme.name}\` to test it as a receiver of ${scheme.title}.`,
  );
}

/** Maximum number of incorrect ways to sign that are tried. They differ from the scheme in one or two points. */
const MAX_WAYS = 60;

/** Returns the ways in which an endpoint may verify a delivery of its scheme incorrectly, the likeliest first. */
function waysInScheme(scheme: Scheme, secret: string): ChangedDelivery[] {
  const example = { body: Buffer.from('{"id":1}'), url: '', id: 'msg_0', timestamp: 0 };
  const ways = [...waysToSign(scheme, example, secret)]
    .map(({ problems, mistake }, at) => ({ problems, mistake, at }))
    .filter(({ problems }) => problems.length > 0)
    .toSorted((a, b) => a.problems.length - b.problems.length)
    .slice(0, MAX_WAYS);
  return ways.map(({ problems, mistake, at }) => ({
    ...findingOf(
      'signs-differently',
      `The endpoint does not verify the signature as ${scheme.title} computes it`,
      mistake ?? 'foreign-signature-format',
      `It accepted a delivery that differs: ${problems.join(' ')} The correct form is the ${describeScheme(scheme)}.`,
    ),
    authentic: false,
    change: {
      sign: {
        label: problems.join(' '),
        make: (body, kit) => kit.scheme && [...waysToSign(scheme, { ...kit.scheme, body }, secret)][at]?.value,
      },
    },
  }));
}

/** The schemes in which the secret of a partner can sign. */
const TRIED_SCHEMES = FOREIGN_SCHEMES.filter(({ algorithm }) => algorithm !== 'ed25519');

/** Signs with the key that the scheme makes from the secret, and with the secret as text. */
function schemeTrials(scheme: Scheme, url: string): ChangedDelivery[] {
  const asText: Scheme = { ...scheme, secret: { encoding: 'utf8' } };
  return (scheme.secret.encoding === 'utf8' ? [scheme] : [scheme, asText]).map((way) => ({
    ...schemeFinding(scheme),
    authentic: true,
    change: {
      address: {
        label: `also signed in the ${scheme.title} scheme`,
        make: (head, kit, body) => {
          const timestamp = Math.floor(Date.now() / 1000);
          const lines = signWithScheme(way, { body, url, id: `msg_${kit.nonce(24)}`, timestamp }, [kit.secret]);
          return { ...head, headers: [...head.headers, ...lines] };
        },
      },
    },
  }));
}

function otherHeader(
  partner: Partner,
  kind: 'signature' | 'API key',
  configured: string,
  name: string,
  prefix?: string,
): ChangedDelivery {
  return {
    ...headerFinding(kind, configured, name),
    authentic: true,
    change: { ...plainOf(partner), address: also(configured, [{ name, ...(prefix === undefined ? {} : { prefix }) }]) },
  };
}

function headerFinding(kind: 'signature' | 'API key', configured: string, name: string): Finding {
  return findingOf(
    kind === 'signature' ? 'reads-another-signature-header' : 'reads-another-key-header',
    `The endpoint reads the ${kind} from ${name}, not from ${configured}`,
    kind === 'signature' ? 'other-signature-place' : 'credentials-differ',
    `Read ${configured} in the receiver, or ask the operator to configure ${name}.`,
  );
}

/** Returns the usual mistakes and other header names, and the mistakes that are tried last. */
function trialsFor(partner: Partner): { trials: ChangedDelivery[]; rare: ChangedDelivery[] } {
  const { signing, apiKey } = partner;
  const trials: ChangedDelivery[] = [];
  const rare: ChangedDelivery[] = [];
  if (signing?.scheme !== undefined) {
    const { scheme, secret } = signing;
    if (scheme.algorithm !== 'ed25519') trials.push(...waysInScheme(scheme, secret));
    const others = [SERVICE_SCHEME, ...TRIED_SCHEMES].filter(({ name }) => name !== scheme.name);
    trials.push(...others.flatMap((other) => schemeTrials(other, partner.url)));
  } else if (signing !== undefined) {
    const header = signing.header ?? DEFAULT_SIGNATURE_HEADER;
    const more = { url: partner.url, ...(apiKey === undefined ? {} : { apiKey: apiKey.value }) };
    for (const trial of signingTrials({ secret: signing.secret, ...more })) {
      const { fault, title, mistake, why, fix, serialise, sign } = trial;
      const change = { serialise, sign: { label: title, make: sign, suits: showsEncoding } };
      (trial.likely ? trials : rare).push({
        fault,
        title: title.replace(/\.$/, ''),
        mistake,
        why,
        fix,
        change,
        authentic: false,
      });
    }
    const names = [DEFAULT_SIGNATURE_HEADER, ...SIGNATURE_HEADERS].filter((name) => !sameHeaderName(name, header));
    trials.push(...names.map((name) => otherHeader(partner, 'signature', header, name)));
    trials.push(...TRIED_SCHEMES.flatMap((scheme) => schemeTrials(scheme, partner.url)));
  }
  if (apiKey !== undefined) {
    const header = apiKey.header ?? DEFAULT_API_KEY_HEADER;
    const names = [DEFAULT_API_KEY_HEADER, ...KEY_HEADERS].filter((name) => !sameHeaderName(name, header));
    trials.push(
      ...names.map((name) =>
        otherHeader(partner, 'API key', header, name, name === 'Authorization' ? 'Bearer ' : undefined),
      ),
    );
  }
  return { trials, rare };
}

/** Number of times that an accepted trial and the plain delivery are repeated. */
const REPEATS = 2;
/** After this many trials without an answer, no more trials are sent. */
const MAX_SILENT_TRIALS = 2;

/**
 * Tries the known mistakes until the endpoint accepts one every time while it rejects the plain delivery every time.
 * Returns null if there is none: the secret or the key differs, or the rejection has another reason. `stop` ends the
 * trials early; `width` is the number of concurrent trials.
 */
export async function explainRejection(
  partner: Partner,
  send: SendChanged,
  stop: () => boolean,
  width = 1,
): Promise<Finding | null> {
  const { trials, rare } = trialsFor(partner);
  const all = [...trials, ...rare];
  const accepts: Accepts = async (change, authentic) => is2xx((await send(change, authentic)).answer);
  if (partner.signing !== undefined && partner.signing.scheme === undefined) {
    const character = await findRefusedCharacter(accepts, stop);
    if (character !== null) return refusesCharacter(character);
  }
  let silent = 0;
  let rareUntil: number | null = null;
  for (let at = 0; at < all.length; at += width) {
    if (at >= trials.length) rareUntil ??= performance.now() + RARE_MISTAKES_MS;
    if (stop() || (rareUntil !== null && performance.now() > rareUntil)) return null;
    const tried = await Promise.all(
      all
        .slice(at, at + width)
        .map(async (trial, lane) => ({ trial, attempt: await send(trial.change, trial.authentic, lane) })),
    );
    for (const { trial, attempt } of tried) {
      const { change, authentic, ...finding } = trial;
      if (attempt.error?.kind === 'timeout' && ++silent === MAX_SILENT_TRIALS) return null;
      if (!is2xx(attempt.answer)) continue;
      const isConfirmed = await isRepeatable(
        () => accepts(change, authentic),
        () => accepts(plainOf(partner), true),
      );
      if (isConfirmed) return finding;
    }
  }
  return null;
}

const is2xx = (answer: Answer | null) => answer !== null && answer.status >= 200 && answer.status < 300;

async function isRepeatable(trial: () => Promise<boolean>, plain: () => Promise<boolean>): Promise<boolean> {
  for (let turn = 0; turn < REPEATS; turn++) if ((await plain()) || !(await trial())) return false;
  return true;
}

/** Returns the Base64 character whose presence in a signature leads to rejection; null if there is none. */
async function findRefusedCharacter(accepts: Accepts, stop: () => boolean): Promise<string | null> {
  const without: Change = { sign: validSignature('a valid signature without + and /', (text) => !/[+/]/.test(text)) };
  for (let turn = 0; turn < REPEATS; turn++) if (stop() || !(await accepts(without, true))) return null;
  for (const character of ['+', '/']) {
    const others = character === '+' ? '/' : '+';
    const suits = (text: string) => text.includes(character) && !text.includes(others);
    const change: Change = { sign: validSignature(`a valid signature with ${character}`, suits) };
    const accepted: boolean[] = [];
    for (let turn = 0; turn < REPEATS && !stop(); turn++) accepted.push(await accepts(change, true));
    if (accepted.length === REPEATS && !accepted.includes(true)) return character;
  }
  return null;
}

function refusesCharacter(character: string): Finding {
  return findingOf(
    'refuses-signatures-with-some-characters',
    `The endpoint rejects valid signatures that contain "${character}"`,
    'signature-treated-as-url-text',
    `Deliveries whose signature has no "${character}" are accepted.`,
  );
}

/** Words of an answer about the signature or the key, including messages of common verification libraries. */
const ABOUT_CREDENTIALS =
  /signature|hmac|\b(?:unauthori[sz]ed|api[ _-]?key|credentials?|invalid token)\b|same byte length|timing.?safe/i;

/** Words that only state that the signature is missing. */
const SIGNATURE_IS_MISSING = new RegExp(
  [
    '\\b(?:missing|without|lacks|(?:does|did) not (?:contain|have|include))\\b[^.\\n]{0,40}\\b(?:signature|hmac)',
    '\\b(?:signature|hmac)\\b[^.\\n]{0,40}\\b(?:missing|absent)\\b',
  ].join('|'),
  'i',
);
const IS_COMPARED = /valid|match|wrong|incorrect|bad|malformed|verif/i;

function findsNoSignature(status: number, words: string, header: string): Finding {
  return findingOf(
    'finds-no-signature',
    `The endpoint answers that the signature is missing (${status}), although ${header} was sent`,
    'header-lookup-by-exact-name',
    `Its answer contains "${words}": it reads another header name or letter case, or a proxy drops the header.`,
  );
}

const MAX_WORDS = 4096;

/**
 * Explains a rejection by what its text names, whatever the status: the headers of another service, the signature or
 * the key. Returns null if it names none of them.
 */
export function explainWords({ answer }: Attempt, partner: Partner): Finding | null {
  if (answer === null || is2xx(answer)) return null;
  const words = Buffer.from(answer.body.subarray(0, MAX_WORDS)).toString('latin1');
  const { header = DEFAULT_SIGNATURE_HEADER, scheme: own } = partner.signing ?? {};
  for (const scheme of TRIED_SCHEMES.filter(({ name }) => name !== own?.name)) {
    const { name, title } = scheme;
    const named = Object.keys(scheme.headers).find((one) => new RegExp(`(?<![\\w-])${one}(?![\\w-])`, 'i').test(words));
    if (named === undefined || sameHeaderName(named, header)) continue;
    return findingOf(
      `expects-${name}-signature`,
      `The endpoint asks for the header ${named}, which belongs to the ${title} scheme`,
      'foreign-signature-format',
      `Its answer (${answer.status}) names the header. ${title} sends ${describeScheme(scheme)}. A delivery signed ` +
        'in this way with the configured secret was not accepted either, so the secret may differ as well.',
    );
  }
  const about = ABOUT_CREDENTIALS.exec(words)?.[0];
  if (about === undefined || (partner.signing === undefined && partner.apiKey === undefined)) return null;
  const saysMissing = partner.signing !== undefined && !IS_COMPARED.test(words);
  const missing = saysMissing ? SIGNATURE_IS_MISSING.exec(words)?.[0] : undefined;
  if (missing !== undefined) return findsNoSignature(answer.status, missing, header);
  return rejectsCredentials(answer.status, configuredCredentials(partner), about);
}

/** Returns which credentials a delivery of this partner contains. */
export function configuredCredentials({ signing, apiKey }: Partner): Credentials {
  return { secret: signing !== undefined, apiKey: apiKey !== undefined };
}

/** Returns every finding of this module in general words, for look-ups by name. */
export function rejectionFindings(): Finding[] {
  return [
    headerFinding('signature', 'the configured header', 'another header'),
    headerFinding('API key', 'the configured header', 'another header'),
    refusesCharacter('+'),
    findsNoSignature(401, 'missing signature', 'the header'),
    ...TRIED_SCHEMES.map(schemeFinding),
  ];
}
