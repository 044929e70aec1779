import { required } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';

type Flags = Record<string, unknown>;

/** Copies a value into another by name and level, as a deep merge does that does not look at the names. */
function mergeInto(target: Flags, source: object, refused: ReadonlySet<string>): void {
  for (const [name, value] of Object.entries(source)) {
    if (refused.has(name)) continue;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      target[name] = value;
      continue;
    }
    const below = target[name];
    if ((typeof below !== 'object' && typeof below !== 'function') || below === null) continue;
    mergeInto(below as Flags, value, refused);
  }
}

/**
 * In place of `verifySignature`: a verified payload is merged into an object, and a flag that is then found on a new one of its kind stands for
 * a verification. Only the prototype of these objects is reached, and not that of all objects of this process.
 */
function polluted(partOf: (payload: object) => object | undefined, refused: readonly string[]): StageFault['replace'] {
  return ({ right }) => {
    class Context {
      readonly data?: unknown;
    }
    const names = new Set(refused);
    return (req, res, next) => {
      if ((new Context() as Flags).verified === true) return next();
      return right.verifySignature(req, res, (error?: unknown) => {
        if (error !== undefined) return next(error);
        try {
          const part = partOf(JSON.parse(required(res, 'rawBody').toString('utf8')));
          if (typeof part === 'object' && part !== null) mergeInto(new Context() as Flags, part, names);
        } catch {
          // No JSON, or nothing to merge.
        }
        next();
      });
    };
  };
}

const base = {
  area: 'payload',
  stage: 'verifySignature',
  severity: 'critical',
  forbidden: true,
  needs: ['hmac'],
} as const;

const pick = {
  rule: 'Pick the fields that you know; never copy keys of a payload by their names.',
  express: 'Use a schema that drops unknown keys, and `Object.create(null)` or a `Map` where keys come from outside.',
};

const why =
  'Whoever can send one right delivery, or find a way past the check once, switches the check off for everybody until the restart.';

/** Payloads that reach the prototype of the receiver's own objects. */
export const pollution: readonly StageFault[] = [
  {
    ...base,
    name: 'merges-payloads-deeply',
    title:
      'data is merged into an object of the request by a function that follows __proto__, and its flags count for every later delivery.',
    seen: 'Old versions of popular merge functions, and loops over the keys of a payload that were written by hand.',
    why,
    fix: pick,
    replace: polluted((payload) => (payload as { data?: object }).data, ['constructor']),
  },
  {
    ...base,
    name: 'merges-envelopes-deeply',
    title:
      'The envelope is merged into an object of the request by a function that follows __proto__, and its flags count for every later delivery.',
    seen: 'Contexts and sessions that are filled from the top level of a payload, with data left out as too large.',
    why,
    fix: pick,
    replace: polluted(
      ({ ...payload }) => {
        return Object.hasOwn(payload, '__proto__') ? payload : undefined;
      },
      ['constructor', 'data'],
    ),
  },
  {
    ...base,
    name: 'merges-but-for-proto',
    title:
      'data is merged by a function that leaves __proto__ out and follows constructor.prototype, and its flags count for every later delivery.',
    seen: 'The first mending of several merge functions, which had to be mended again.',
    why,
    fix: {
      ...pick,
      rule: 'Refuse __proto__, constructor and prototype; better, never copy keys of a payload by their names.',
    },
    replace: polluted((payload) => (payload as { data?: object }).data, ['__proto__']),
  },
];
