/** Why a signature does not match: the known slips of senders are tried until one of them gives the value that came. */
import { setImmediate } from 'node:timers/promises';
import { BODY_SLIPS, type BodySlip, readBody } from './mismatch/body-slips.ts';
import { ALGORITHM_SLIPS, type AlgorithmSlip, hmacSha256, SPELLING_SLIPS } from './mismatch/digest-slips.ts';
import { KEY_SLIPS, type KeySlip } from './mismatch/key-slips.ts';
import type { Slip } from './mismatch/slip.ts';

export interface MismatchInput {
  readonly rawBody: Buffer;
  /** Every value of the signature header. */
  readonly received: readonly string[];
  readonly secrets: readonly string[];
  readonly apiKeys?: readonly string[];
  /** Path and query of the request. */
  readonly target?: string;
}

export interface WhyMismatch {
  /** The slips that explain the value, at least one: of the body, the key, the algorithm, the spelling, the header. */
  readonly slips: readonly Pick<Slip, 'name' | 'title' | 'fix'>[];
  /** What was signed, when it is not the body that came. */
  readonly signed: Buffer | undefined;
  /** The key was the secret itself. Whoever sees the value then sees a right signature, of this body or of `signed`. */
  readonly underTheSecret: boolean;
}

/** Bodies up to this length are also tried with two slips at once. In bytes. */
const PAIRS_UP_TO = 64 * 1024;
/** How much is hashed before others get their turn: this runs in the process that answers deliveries. In bytes. */
const TURN = 256 * 1024;

const AROUND = {
  name: 'around-the-signature',
  title: 'There is more in the header than the signature: a label, quotes, white space or a second value.',
  fix: 'The header holds the base64 text of one signature, and nothing else.',
};

interface Recipe {
  readonly body?: BodySlip;
  readonly key?: KeySlip;
  readonly algorithm?: AlgorithmSlip;
}

/** The right way, each slip alone, then the common ones in pairs. */
function* recipes(pairs: boolean): Generator<Recipe> {
  yield {};
  for (const body of BODY_SLIPS) yield { body };
  for (const key of KEY_SLIPS) yield { key };
  for (const algorithm of ALGORITHM_SLIPS) yield { algorithm };
  if (!pairs) return;
  const bodies = BODY_SLIPS.filter(({ common }) => common);
  const keys = KEY_SLIPS.filter(({ common }) => common);
  for (const body of bodies) for (const key of keys) yield { body, key };
  for (const body of bodies) for (const algorithm of ALGORITHM_SLIPS) yield { body, algorithm };
}

/** The values that may be the signature: as it came first, then without what seems to be around it. */
function candidates(received: readonly string[]): Map<string, 'whole' | 'part'> {
  const found = new Map<string, 'whole' | 'part'>();
  for (const value of received) if (received.length === 1) found.set(value, 'whole');
  for (const value of received) {
    const pieces = [value, ...value.split(/[,;]/)]
      .map((piece) => piece.trim())
      .flatMap((piece) => [
        piece,
        piece.replace(/^(["'])(.*)\1$/s, '$2'),
        piece.replace(/^(?:v\d+|s|sig|signature|(?:hmac-?)?sha-?\d+|hmac|bearer)[=: ]\s*/i, ''),
        piece.replace(/\s+/g, ''),
      ]);
    for (const piece of pieces.slice(0, 100)) if (piece !== '' && !found.has(piece)) found.set(piece, 'part');
  }
  return found;
}

/**
 * Finds the slip, or the two, by which the sender came to its signature; null when none is known, and for a signature that is right.
 * Specification: HMAC signature (Common faults).
 *
 * Pure, but for giving others their turn now and then. The secrets stay here: the result holds none, and no signature either. Only
 * values that hold a whole digest are recognised: to say of a guess that it is nearly right would help a forger to the rest of it.
 */
export async function whyMismatch(input: MismatchInput): Promise<WhyMismatch | null> {
  const { rawBody, secrets, apiKeys = [], target = '' } = input;
  const values = candidates(input.received);
  if (values.size === 0) return null;
  const read = readBody(rawBody, target);
  let hashed = 0;
  for (const recipe of recipes(rawBody.length <= PAIRS_UP_TO)) {
    const signed = recipe.body === undefined ? rawBody : bytesOf(() => recipe.body?.signed(read));
    if (signed === undefined || (recipe.body !== undefined && signed.equals(rawBody))) continue;
    for (const secret of secrets) {
      const key = recipe.key === undefined ? Buffer.from(secret) : bytesOf(() => recipe.key?.key(secret, apiKeys));
      if (key === undefined || (recipe.key !== undefined && key.equals(Buffer.from(secret)))) continue;
      const digest = (recipe.algorithm?.digest ?? hmacSha256)(signed, key);
      const match = recognise(digest, values);
      if (match !== undefined) return describe(recipe, match, signed);
      hashed += signed.length;
      if (hashed > TURN) {
        hashed = 0;
        await setImmediate();
      }
    }
  }
  return null;
}

/** A slip that cannot be made with this body (nested too deep to be written again) explains nothing. */
function bytesOf(make: () => string | Buffer | undefined): Buffer | undefined {
  try {
    const made = make();
    return typeof made === 'string' ? Buffer.from(made, 'utf8') : made;
  } catch {
    return undefined;
  }
}

type Match = readonly Pick<Slip, 'name' | 'title' | 'fix'>[];

function recognise(digest: Buffer, values: ReadonlyMap<string, 'whole' | 'part'>): Match | undefined {
  const around = (text: string): Match => (values.get(text) === 'part' ? [AROUND] : []);
  const right = digest.toString('base64');
  if (values.has(right)) return around(right);
  for (const slip of SPELLING_SLIPS) {
    const text = slip.spell(digest);
    if (values.has(text)) return [slip, ...around(text)];
  }
  return undefined;
}

function describe(recipe: Recipe, match: Match, signed: Buffer): WhyMismatch | null {
  const slips = [recipe.body, recipe.key, recipe.algorithm, ...match]
    .filter((slip) => slip !== undefined)
    .map(({ name, title, fix }) => ({ name, title, fix }));
  if (slips.length === 0) return null;
  return {
    slips,
    signed: recipe.body === undefined ? undefined : signed,
    underTheSecret: recipe.key === undefined && recipe.algorithm === undefined,
  };
}
