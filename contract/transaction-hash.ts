/**
 * The hash of a blockchain transaction, whose key has a second, misspelt form in the field: `blockchainTransctionId`.
 * A sender that is right uses the right spelling; a receiver reads both. Specification: CAAS_BLOCKCHAIN.
 */
import type { z } from 'zod';
import { type Fields, group, type ReceivedOfFields, sometimesText } from './fields.ts';

const RIGHT = 'blockchainTransactionId';
const MISSPELT = 'blockchainTransctionId';

/**
 * A group of fields that has the hash among them. Read by a receiver, the hash stands under the right spelling: the
 * value of the right key when it is filled, else that of the misspelt one, else null. The misspelt key is gone from
 * the reading; the notification as it came still has it.
 */
export function groupWithHash<F extends Fields>(fields: F, description: string, hashDescription: string) {
  const hash = sometimesText(hashDescription);
  const { emitted } = group({ ...fields, [RIGHT]: hash } as F & { [RIGHT]: typeof hash }, description);
  const { received } = group(
    { ...fields, [RIGHT]: hash, [MISSPELT]: sometimesText(`A misspelling of ${RIGHT}, read when that is not filled.`) },
    description,
  );
  type Reading = ReceivedOfFields<F> & { [RIGHT]: string | null };
  // Which other keys there are depends on F, and none of them matters here.
  const read = (received as unknown as z.ZodType<Record<string, unknown>>).transform((reading) => {
    const { [MISSPELT]: misspelt, ...rest } = reading;
    return { ...rest, [RIGHT]: rest[RIGHT] ?? misspelt };
  });
  return { emitted, received: read as unknown as z.ZodType<Reading> };
}
