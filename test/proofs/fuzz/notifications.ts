/** Input that the receiver reads after the credentials (JSON and notifications), and the signature header itself. */
import fc from 'fast-check';
import { readNotification } from '../../../contract/index.ts';
import { isNestedDeeper, parseSafely } from '../../../contract/parse-json.ts';
import { explainSignature, headerShape } from '../../../contract/signing/index.ts';
import { checkApiKey, verifySignature } from '../../../receiver/index.ts';
import { SAMPLES } from '../../contract/samples.ts';
import { sign } from '../../receiver/deliveries.ts';
import { edited, editedJson, type FuzzTarget, fuzzTarget, must, orRefused } from './target.ts';

const sample = fc.constantFrom(...Object.values(SAMPLES));
const MAX_DEPTH = 64;
const WORDS = [
  '[',
  '{',
  ']',
  '}',
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  '{"a":',
  '"__proto__":',
  '1e999',
  '-',
  ',',
  '\ufeff',
];

/** Returns the depth of a parsed value, without recursion. */
function depthOf(value: unknown): number {
  let deepest = 0;
  const open: [unknown, number][] = [[value, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [one, depth] = next;
    if (typeof one !== 'object' || one === null) continue;
    deepest = Math.max(deepest, depth);
    for (const inner of Object.values(one)) open.push([inner, depth + 1]);
  }
  return deepest;
}

function parsed(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** Returns whether any object in the value has its own key `__proto__`, or an unexpected prototype. */
function isPolluted(value: unknown): boolean {
  const open = [value];
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const prototype = Object.getPrototypeOf(next);
    if (prototype !== Object.prototype && prototype !== Array.prototype) return true;
    if (Object.hasOwn(next, '__proto__')) return true;
    open.push(...Object.values(next));
  }
  return false;
}

const json = fuzzTarget(
  {
    name: 'json',
    shows: 'the JSON reader of the receiver: accepts what JSON.parse accepts, without prototypes, to a limited depth',
    shortRuns: 300,
  },
  () => ({
    input: edited(
      fc.oneof(sample, editedJson(sample)).map((value) => Buffer.from(JSON.stringify(value))),
      WORDS,
    ),
    check(bytes) {
      const text = bytes.toString('utf8');
      const tooDeep = isNestedDeeper(text, MAX_DEPTH);
      const expected = parsed(text.replace(/^\uFEFF/, ''));
      if (expected !== null) must(tooDeep === depthOf(expected.value) > MAX_DEPTH, `too deep: ${tooDeep}`);
      if (tooDeep) return;
      const value = orRefused(
        () => ({ read: parseSafely(text) }),
        (error) => error instanceof SyntaxError,
      );
      must((value === undefined) === (expected === null), 'differs from JSON.parse');
      if (value === undefined) return;
      must(!isPolluted(value.read), 'a prototype is left in the value');
      checkReading(value.read);
    },
  }),
);

/** A value that no message may repeat. */
const MARK = 'markmarkmark';

function checkReading(value: unknown): void {
  const reading = readNotification(value);
  if (reading.ok) return;
  must(reading.issues.length > 0, 'refused without a reason');
  must(!reading.issues.some((issue) => issue.includes(MARK)), 'an issue repeats a value');
}

const notification = fuzzTarget(
  { name: 'notification', shows: 'the notification reader: never throws, names fields and no values', shortRuns: 300 },
  () => ({
    input: editedJson(
      fc.oneof(
        sample,
        sample.map((value) => JSON.parse(JSON.stringify(value), (key, one) => (key === 'id' ? `${MARK}\0` : one))),
        fc.object({ maxDepth: 4, values: [fc.constant(MARK), fc.integer(), fc.constant(null)] }),
      ),
    ),
    check: checkReading,
  }),
);

const BODY = Buffer.from('{ "id": "a", "n": 1.0 }');
const SECRET = 'a secret for the fuzzer';
const SIGNATURE = sign(BODY, SECRET);

const header = fuzzTarget(
  {
    name: 'signature-header',
    shows: 'the checks of the two headers and the explanation: only the one correct value matches, nothing throws',
    shortRuns: 60,
  },
  () => ({
    input: edited(
      fc
        .constantFrom(SIGNATURE, `v1,${SIGNATURE}`, `t=1,v1=${SIGNATURE}`, `"${SIGNATURE}"`, '', SECRET)
        .map(Buffer.from),
      [' ', '\t', ',', ';', '=', '"', "'", 'v1=', 't=1,', 'sha256=', ': ', '\0', 'é', '\u2028', SIGNATURE, 'X-A: '],
      3,
    ),
    check(bytes) {
      const value = bytes.toString('utf8');
      const { ok } = verifySignature({ rawBody: BODY, header: value, secrets: ['', SECRET] });
      must(ok === (value === SIGNATURE), `verified: ${ok}`);
      const key = checkApiKey({ header: value, keys: ['', SIGNATURE] });
      must(key.ok === (value === SIGNATURE), `the API key was accepted: ${key.ok}`);
      headerShape(value);
      const report = explainSignature({ body: BODY, secret: SECRET, header: value });
      must(report.matches === (value.trim() === SIGNATURE), `explained as matching: ${report.matches}`);
      const said = JSON.stringify(report);
      must(!said.includes(SECRET) && !said.includes(SIGNATURE), 'the explanation contains a secret');
    },
  }),
);

export const NOTIFICATION_TARGETS: readonly FuzzTarget[] = [json, notification, header];
