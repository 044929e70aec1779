/** The kit of a scenario: seeded values, fresh ids, and the partner's credentials. */
import { createHash, randomUUID } from 'node:crypto';
import { DEFAULT_API_KEY_HEADER, DEFAULT_SIGNATURE_HEADER } from '../../contract/index.ts';
import { type Kit, samples } from '../../scenarios/index.ts';
import { type Partner, sign } from '../sender/index.ts';

/** Every id of a test notification starts with this, so that a partner can find and purge them. */
export const TEST_ID_PREFIX = '7e57ca5e';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A stream of bytes that depends on nothing but the words: SHA-256 in counter mode. */
function seededBytes(...words: string[]): (length: number) => Buffer {
  const seed = createHash('sha256').update(JSON.stringify(words)).digest();
  let counter = 0;
  let pool = Buffer.alloc(0);
  return (length) => {
    while (pool.length < length) {
      const block = createHash('sha256').update(seed).update(String(counter++)).digest();
      pool = Buffer.concat([pool, block]);
    }
    const taken = pool.subarray(0, length);
    pool = pool.subarray(length);
    return taken;
  };
}

/**
 * Makes the kit of one scenario. Its values depend on the seed and the scenario alone and not on what ran before, so a scenario
 * that is repeated by itself sends the same again. Ids are always new: a receiver that de-duplicates would answer old ones from memory.
 * `onSignature` is told every signature that the kit makes: each is right for some body, so none may be shown.
 */
export function createKit(
  partner: Partner,
  seed: string,
  scenario: string,
  now: Date,
  onSignature: (signature: string) => void = () => {},
): Kit {
  const bytes = seededBytes(seed, scenario);
  const secret = partner.signing?.secret ?? '';
  const integer = (below: number) => bytes(6).readUIntBE(0, 6) % below;
  const kit: Kit = {
    newId: () => `${TEST_ID_PREFIX}${randomUUID().slice(8)}`,
    nonce: (length = 12) => Array.from(bytes(length), (byte) => ALPHABET[byte % ALPHABET.length]).join(''),
    integer,
    bytes: (length) => Buffer.from(bytes(length)),
    now,
    notification: () => samples.plainNotification(kit),
    secret,
    apiKey: partner.apiKey?.value ?? '',
    signatureHeader: partner.signing?.header ?? DEFAULT_SIGNATURE_HEADER,
    apiKeyHeader: partner.apiKey?.header ?? DEFAULT_API_KEY_HEADER,
    sign: (body) => {
      const signature = sign(body, secret);
      onSignature(signature);
      return signature;
    },
  };
  return kit;
}
