/** The place after which the next page of a list begins: the values that the list is sorted by. */
import { Problem } from './problem.ts';

export function cursorOf(values: readonly string[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** Reads a cursor with this number of values. Each is only ever the parameter of a statement. */
export function readCursor(text: string, count: number): string[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (
      Array.isArray(values) &&
      values.length === count &&
      values.every((one) => typeof one === 'string' && !one.includes('\0'))
    ) {
      return values;
    }
  } catch {
    // Not a cursor.
  }
  throw new Problem(400, 'invalid-query', '`after` is not the end of a page', 'Begin with the first page.');
}

/** The cast of PostgreSQL for a value of a cursor, by the message of the error when it is none. */
export function isCastError(error: unknown): boolean {
  // invalid_text_representation, invalid_datetime_format, datetime_field_overflow, numeric_value_out_of_range
  return ['22P02', '22007', '22008', '22003'].includes((error as { code?: string }).code ?? '');
}
