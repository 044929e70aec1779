/**
 * Who caused the error: the user's input, hookproof itself, or a run that could not reach a verdict. A faulty receiver
 * is a verdict, never an error.
 */
export type ErrorKind = 'usage' | 'internal' | 'no-verdict';

/**
 * The only error class: every error that is shown to users is thrown as a HookproofError.
 *
 * - `code` is stable and searchable, for example `CONFIG_UNKNOWN_KEY`;
 * - `message` states what is wrong and where;
 * - `hint` states how to fix it;
 * - `kind` decides the exit code: 2 for `usage`, 3 for `no-verdict`, 4 for `internal`.
 *
 * The message never contains a secret. It names the source of a value (a flag, a file, a variable) instead.
 */
export class HookproofError extends Error {
  override readonly name = 'HookproofError';
  readonly code: string;
  readonly hint: string;
  readonly kind: ErrorKind;

  constructor(code: string, message: string, options: { hint: string; kind?: ErrorKind; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.kind = options.kind ?? 'usage';
  }
}
