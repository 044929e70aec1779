/** Cursors: the sort values of the last row on a page, after which the next page begins. */
import { Problem } from './problem.ts';

export function cursorOf(values: readonly string[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/**
 * Reads a cursor with `count` values. They are untrusted: pass them to SQL only as parameters.
 *
 * @throws Problem 400
 */
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
    // The text is not a cursor.
  }
  throw new Problem(400, 'invalid-query', '`after` is not a valid cursor', 'Begin with the first page.');
}

/** Returns whether PostgreSQL could not convert a value of a cursor to the type of its column. */
export function isCastError(error: unknown): boolean {
  // invalid_text_representation, invalid_datetime_format, datetime_field_overflow, numeric_value_out_of_range
  return ['22P02', '22007', '22008', '22003'].includes((error as { code?: string }).code ?? '');
}
