/** A wrong way to sign, put together from variants: at most one of each kind. */
import {
  ALGORITHMS,
  type AlgorithmVariant,
  BASE64,
  BODIES,
  type BodyReading,
  type BodyVariant,
  ENCODINGS,
  type EncodingVariant,
  hmacSha256,
  KEYS,
  type KeyVariant,
  keyOf,
  type Variant,
} from './variants/index.ts';

/** What is absent is done right. */
export interface Recipe {
  readonly body?: BodyVariant;
  readonly key?: KeyVariant;
  readonly algorithm?: AlgorithmVariant;
  readonly encoding?: EncodingVariant;
}

/** What a fault is called and what is said about it. Never holds a value that was used to find it. */
export interface FaultText {
  /** Names of variants joined by "+", such as `hex` or `reserialised-json+hex`. */
  readonly fault: string;
  readonly title: string;
  readonly why: string;
  readonly fix: string;
}

/** The variants of a recipe in the order of signing. */
export function variantsOf({ body, key, algorithm, encoding }: Recipe): Variant[] {
  return [body, key, algorithm, encoding].filter((variant) => variant !== undefined);
}

/**
 * The recipe that a fault names: one variant, or several of different kinds joined by "+". Undefined when a name is
 * unknown or a kind occurs twice. The empty text is the right way.
 */
export function recipeFor(fault: string): Recipe | undefined {
  let recipe: Recipe = {};
  for (const name of fault.split('+').filter((part) => part !== '')) {
    const found = recipeOfOne(name);
    if (found === undefined || Object.keys(found).some((kind) => kind in recipe)) return undefined;
    recipe = { ...recipe, ...found };
  }
  return recipe;
}

function recipeOfOne(name: string): Recipe | undefined {
  const body = BODIES.find((variant) => variant.name === name);
  if (body) return { body };
  const key = KEYS.find((variant) => variant.name === name);
  if (key) return { key };
  const algorithm = ALGORITHMS.find((variant) => variant.name === name);
  if (algorithm) return { algorithm };
  const encoding = ENCODINGS.find((variant) => variant.name === name);
  return encoding && { encoding };
}

/** Signs by a recipe. Undefined where one of its variants does not apply to this body or secret. */
export function signBy(recipe: Recipe, reading: BodyReading): string | undefined {
  const body = recipe.body ? recipe.body.bytes(reading) : reading.body;
  const key = recipe.key ? recipe.key.key(reading) : keyOf(reading.secret);
  if (body === undefined || key === undefined) return undefined;
  const digest = (recipe.algorithm?.digest ?? hmacSha256)(body, key);
  return (recipe.encoding?.encode ?? BASE64)(digest);
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}${clause.endsWith('.') ? '' : '.'}`;
}

/** What is said about several faults at once; repeated advice is said once. */
export function describeFault(parts: readonly Omit<Variant, 'common'>[]): FaultText {
  const said = (texts: string[]): string => [...new Set(texts.map(sentence))].join(' ');
  return {
    fault: parts.map(({ name }) => name).join('+'),
    title: said(parts.map(({ title }) => title)),
    why: said(parts.map(({ why }) => why)),
    fix: said(parts.map(({ fix }) => fix)),
  };
}
