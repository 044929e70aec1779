/**
 * Finds the simplest condition that all failed deliveries meet and that no successful delivery of the same kind meets:
 * "whose Content-Type is not application/json". All functions are pure.
 */
import { groupBy } from '../report/index.ts';
import type { Trait } from './traits.ts';

export interface Condition {
  readonly traits: readonly Trait[];
  readonly text: string;
  /** The number of deliveries that meet the condition. */
  readonly members: number;
}

type Traits = readonly Trait[];
/** A predicate on the traits of a delivery, and the traits on which it is based. */
interface Literal {
  readonly traits: Traits;
  readonly holds: (traits: Traits) => boolean;
}

/** Returns the condition that holds for every `red` (failed) delivery and for no `green` one; null if there is none. */
export function conditionOf(red: readonly Traits[], green: readonly Traits[]): Condition | null {
  const covers = ({ holds }: Literal) => red.every(holds);
  const separates = ({ holds }: Literal) => !green.some(holds);
  const covering = [...literalsOf(red), ...absencesOf(red, green)].filter(covers);
  const single = covering.find((one) => one.traits.length > 0 && separates(one));
  if (single !== undefined) return described(single.traits, red.length);
  for (const [at, one] of covering.entries()) {
    for (const other of covering.slice(at + 1)) {
      const both = { traits: [...one.traits, ...other.traits], holds: (t: Traits) => one.holds(t) && other.holds(t) };
      if (separates(both)) return described(both.traits, red.length);
    }
  }
  return null;
}

/** Whether a trait is the kind of a notification. */
export const isKind = (trait: Trait): boolean => dimensionOf(trait) === 'notification';

const dimensionOf = (trait: Trait) => trait.slice(0, trait.indexOf(':'));
const textOf = (trait: Trait) => trait.slice(trait.indexOf(':') + 2);

/**
 * Returns a literal for each trait, one for each dimension in which a delivery differs from the plain one, and one for
 * the kinds of the failed notifications, because a receiver may handle some of the other kinds.
 */
function literalsOf(red: readonly Traits[]): Literal[] {
  const all = new Set(red.flat());
  const values = [...all].map((trait): Literal => ({ traits: [trait], holds: (traits) => traits.includes(trait) }));
  const dimensions = [...new Set([...all].map(dimensionOf))].map((dimension): Literal => {
    const of = [...all].filter((trait) => dimensionOf(trait) === dimension);
    return { traits: of, holds: (traits) => traits.some((trait) => dimensionOf(trait) === dimension) };
  });
  const kinds = [...all].filter(isKind);
  return [...values, ...dimensions, { traits: kinds, holds: (traits) => traits.some((one) => kinds.includes(one)) }];
}

/**
 * Returns the literal that holds if nothing else is unusual: there is no difference in any dimension in which only
 * green deliveries differ.
 */
function absencesOf(red: readonly Traits[], green: readonly Traits[]): Literal[] {
  const present = new Set(red.flat().map(dimensionOf));
  const others = [...new Set(green.flat().map(dimensionOf))].filter((dimension) => !present.has(dimension));
  const has = (traits: Traits) => traits.some((trait) => others.includes(dimensionOf(trait)));
  return others.length === 0 ? [] : [{ traits: [], holds: (traits) => !has(traits) }];
}

/** Phrases for the values of a dimension. `many` is used for several values, instead of listing them. */
const PHRASES: Readonly<Record<string, { readonly one: (value: string) => string; readonly many: string }>> = {
  'Content-Type': {
    one: (value) => (value === 'none' ? 'without a Content-Type' : `whose Content-Type is ${value}`),
    many: 'whose Content-Type is not application/json',
  },
  method: { one: (value) => `sent with ${value}`, many: 'sent with a method other than POST' },
  URL: { one: (value) => `at another URL (${value})`, many: 'at other URLs' },
  query: { one: (value) => `with ?${value} in the query`, many: 'with a query' },
  field: { one: (value) => `with another ${value}`, many: 'with other values' },
  text: { one: (value) => `with a text ${value}`, many: 'with a long text' },
  header: { one: (value) => `with the header ${value}`, many: 'with certain other headers' },
  framing: { one: (value) => `with another framing (${value})`, many: 'not framed by a single Content-Length' },
  status: { one: (value) => `with the status ${value}`, many: 'with certain statuses' },
  notification: { one: (value) => `of the kind ${value}`, many: 'of other kinds' },
  body: {
    one: (value) => (value === 'no JSON' ? 'whose body is not JSON' : `whose body has ${value}`),
    many: 'whose body is encoded differently',
  },
  'client certificate': {
    one: (value) => (value === 'none' ? 'without a client certificate' : `with another certificate (${value})`),
    many: 'without the valid client certificate',
  },
};

const CREDENTIALS = ['signature', 'API key'];

function described(traits: Traits, members: number): Condition {
  const phrases = groupBy(traits, dimensionOf).map(([dimension, some]) => {
    const values = some.map(textOf);
    const [first = '', ...others] = values;
    if (CREDENTIALS.includes(dimension)) return credential(dimension, values);
    const phrase = PHRASES[dimension];
    return others.length === 0 ? (phrase?.one(first) ?? `${dimension}: ${first}`) : (phrase?.many ?? dimension);
  });
  return { traits, text: phrases.join(' '), members };
}

function credential(name: string, values: readonly string[]): string {
  const [first = ''] = values;
  if (values.length > 1) return `without a valid ${name}`;
  if (first === 'missing') return `without ${name === 'signature' ? 'a signature' : 'an API key'}`;
  return first === 'empty' || first === 'invented' ? `with an ${first} ${name}` : `with ${first}`;
}
