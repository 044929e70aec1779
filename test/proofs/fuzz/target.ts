/** The input that a parser of foreign input must withstand, and a check that throws if a property does not hold. */
import fc from 'fast-check';
import { HookproofError } from '../../../contract/index.ts';

export interface FuzzTarget {
  /** The name for `--only`. */
  readonly name: string;
  /** The parsers, and the properties that hold for every input. */
  readonly shows: string;
  /** How many inputs `npm run test:slow` tries. */
  readonly shortRuns: number;
  start(): Promise<StartedTarget>;
}

interface StartedTarget {
  readonly property: fc.IAsyncPropertyWithHooks<[unknown]>;
  /** Stops servers and removes files. */
  stop(): Promise<void>;
}

interface Definition<Input> {
  readonly input: fc.Arbitrary<Input>;
  /** Throws if a property does not hold for this input. */
  check(input: Input): void | Promise<void>;
  stop?(): void | Promise<void>;
}

/**
 * Maximum processor time of an input. No input takes this long, even on a slow machine, but a loop that is quadratic in
 * an input of 100 kB takes longer. Other processes do not affect processor time.
 */
const MAX_CPU_MS = 5_000;

export function fuzzTarget<Input>(
  about: Pick<FuzzTarget, 'name' | 'shows' | 'shortRuns'>,
  define: () => Definition<Input> | Promise<Definition<Input>>,
): FuzzTarget {
  return {
    ...about,
    async start() {
      const { input, check, stop } = await define();
      const guarded = async (given: Input): Promise<void> => {
        const before = process.cpuUsage();
        await check(given);
        const { user, system } = process.cpuUsage(before);
        const ms = (user + system) / 1000;
        if (ms > MAX_CPU_MS) throw new Error(`took ${ms.toFixed(0)} ms of processor time`);
        expectCleanPrototypes();
      };
      const property = fc.asyncProperty(input, guarded) as unknown as StartedTarget['property'];
      return { property, stop: async () => stop?.() };
    },
  };
}

function expectCleanPrototypes(): void {
  for (const prototype of [Object.prototype, Array.prototype]) {
    const [added] = Object.keys(prototype);
    if (added === undefined) continue;
    Reflect.deleteProperty(prototype, added);
    throw new Error(`a prototype was changed: it has the key ${added}`);
  }
}

/** Fails unless `make` returns or throws an error of the declared type. Returns undefined after such an error. */
export function orRefused<T>(
  make: () => T,
  isDeclared: (error: unknown) => boolean = (error) => error instanceof HookproofError && error.kind === 'usage',
): T | undefined {
  try {
    return make();
  } catch (error) {
    if (isDeclared(error)) return undefined;
    throw new Error('an error that is not declared', { cause: error });
  }
}

/** Like {@link orRefused}, but for a promise, and resolves with the error instead of undefined. */
export async function settled<T>(made: Promise<T>): Promise<T | HookproofError> {
  try {
    return await made;
  } catch (error) {
    if (error instanceof HookproofError && error.kind === 'usage') return error;
    throw new Error('an error that is not declared', { cause: error });
  }
}

export function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** An edit of text or bytes at an offset: the length of the removed part, and its replacement. */
interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly added: Buffer;
  readonly times: number;
}

const MAX_BYTES = 100_000;

/** Generates valid input with up to `most` edits, which change, remove, insert, double or repeat bytes and words. */
export function edited(
  originals: fc.Arbitrary<Uint8Array>,
  words: readonly (string | Uint8Array)[],
  most = 5,
): fc.Arbitrary<Buffer> {
  const added = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...words.map((word) => Buffer.from(word as string))) },
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
  );
  const edit: fc.Arbitrary<Edit> = fc.record({
    at: fc.nat(0xffffff),
    removed: fc.oneof(fc.nat(3), fc.constant(0), fc.nat(200)),
    added,
    times: fc.oneof(
      { weight: 20, arbitrary: fc.constant(1) },
      { weight: 2, arbitrary: fc.constantFrom(2, 30, 1000) },
      { weight: 1, arbitrary: fc.constant(50_000) },
    ),
  });
  const changed = fc
    .tuple(originals, fc.array(edit, { maxLength: most }))
    .map(([bytes, edits]) => edits.reduce(applied, Buffer.from(bytes)));
  // Long repetitions reveal code whose time is quadratic in the length.
  const repeated = fc
    .constantFrom(...words.filter(({ length }) => length > 0))
    .map((word) => Buffer.alloc(MAX_BYTES, Buffer.from(word as string)));
  return fc.oneof({ weight: 60, arbitrary: changed }, { weight: 1, arbitrary: repeated }).map(printable);
}

/** Makes a counterexample show these bytes as text that can be pasted. */
export function printable(bytes: Buffer): Buffer {
  const show = () => `Buffer.from(${JSON.stringify(bytes.toString('latin1'))}, 'latin1')`;
  return Object.defineProperty(bytes, fc.toStringMethod, { value: show, enumerable: false });
}

function applied(bytes: Buffer, { at, removed, added, times }: Edit): Buffer {
  const any = at % (bytes.length + 1);
  // Half of the edits are at punctuation, because most bytes of a document are in long words.
  const next = at % 2 === 0 ? -1 : bytes.subarray(any).findIndex(isPunctuation);
  const place = next === -1 ? any : any + next + ((at >> 1) % 2);
  const repeated = Math.min(times, Math.floor(MAX_BYTES / Math.max(1, added.length)));
  const middle = Array.from<Buffer>({ length: repeated }).fill(added);
  return Buffer.concat([bytes.subarray(0, place), ...middle, bytes.subarray(place + removed)]).subarray(0, MAX_BYTES);
}

function isPunctuation(byte: number): boolean {
  return byte < 0x80 && !/[\w+]/.test(String.fromCharCode(byte));
}

/** Keys and values that many programs mishandle. */
const ODD_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  '',
  '0',
  '\0',
  'a.b',
];
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 53,
  '',
  'x'.repeat(70_000),
  '\u202e\x1b[31m',
  '\ud800',
  '__proto__',
  [],
  {},
];

/** Generates JSON values with up to three parts replaced, removed or extended. */
export function editedJson(originals: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const value = fc.oneof(fc.constantFrom(...ODD_VALUES), fc.jsonValue({ maxDepth: 2 }));
  const change = fc.record({ at: fc.nat(0xffff), how: fc.nat(2), key: fc.constantFrom(...ODD_KEYS), value });
  return fc.tuple(originals, fc.array(change, { maxLength: 3 })).map(([original, changes]) => {
    const root = { root: JSON.parse(JSON.stringify(original)) as unknown };
    for (const { at, how, key, value: given } of changes) {
      const places = placesIn(root);
      const [parent, name] = places[at % places.length] as Place;
      if (how === 0 || name === 'root') define(parent, name, given);
      else if (how === 1) Reflect.deleteProperty(parent, name);
      else if (Array.isArray(parent)) parent.push(given);
      else define(parent, key, given);
    }
    return root.root;
  });
}

/** Sets a member as JSON.parse does, even if its key would be a setter. */
function define(parent: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(parent, key, { value, enumerable: true, writable: true, configurable: true });
}

type Place = readonly [parent: Record<string, unknown>, name: string];

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const parent = value as Record<string, unknown>;
  return Object.keys(parent).flatMap((name): Place[] => [[parent, name], ...placesIn(parent[name])]);
}
