import { compact, keysReversed, spelt, utf8, withMember } from '../changes/bytes.ts';
import { accepted } from '../expectations.ts';
import { acceptedUnlessStrict, takenOrRejected } from '../payload-expectations.ts';
import type { ProbeScenario } from '../scenario.ts';

const base = { level: 'must', requirements: ['hmac-raw-body'], needs: ['hmac'], expect: accepted } as const;

/** The order of keys, repeated keys, and empty containers. */
export const rawBodyStructure: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/keys-reversed',
    title: 'Accepts a signed body with all keys in reverse order',
    change: { serialise: (value) => utf8(compact(keysReversed(value))) },
    why: 'JSON objects have no order. Go maps and sort_keys write an order of their own, and typed classes the one of their fields.',
    fix: 'Do not rebuild the body from an object: its order of keys is not the one that was signed.',
  },
  {
    ...base,
    id: 'raw-body/keys-like-integers',
    title: 'Accepts a signed body with keys that look like integers',
    change: { serialise: spelt('data.metadata.testKeys', '{"10":"a","9":"b","x":"c"}') },
    expect: acceptedUnlessStrict,
    why: 'JavaScript moves such keys to the front in rising order, so this body fails where all others pass.',
    fix: 'Keep the raw body; even JSON.parse and JSON.stringify of the same engine change the order.',
  },
  {
    ...base,
    id: 'raw-body/keys-repeated',
    title: 'Takes or rejects a signed body with a repeated key, and does not call its signature wrong',
    change: { serialise: withMember('', '"type":"CAAS"') },
    expect: takenOrRejected,
    why: 'Parsers keep the first or the last of two members. Written again there is one of them, and the signature no longer fits.',
    fix: 'Verify the bytes, and decide afterwards whether a repeated key is a bad payload.',
  },
  {
    ...base,
    id: 'raw-body/empty-object',
    title: 'Accepts a signed body with an empty object in it',
    change: { serialise: spelt('data.metadata.testObject', '{}') },
    expect: acceptedUnlessStrict,
    why: 'PHP parses an empty object into an empty array and writes [] back.',
    fix: 'Hash php://input; json_decode without objects cannot tell {} from [].',
  },
  {
    ...base,
    id: 'raw-body/empty-array',
    title: 'Accepts a signed body with an empty array in it',
    change: { serialise: spelt('data.metadata.testArray', '[ ]') },
    expect: acceptedUnlessStrict,
    why: 'Mappers that drop empty collections write a shorter body than the one that was signed.',
    fix: 'Do not sign what an object mapper writes, whatever its options for empty values are.',
  },
];
