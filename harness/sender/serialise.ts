import type { JsonValue } from '../../contract/index.ts';

/** The serialise stage: a notification to the exact bytes that are signed and sent. Called once for each delivery. */
export function serialise(value: JsonValue): Uint8Array {
  return Buffer.from(JSON.stringify(value), 'utf8');
}
