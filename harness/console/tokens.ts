/** The tokens that authorise changes. Each has a name, which the audit records. */

import { isSameText } from '../../contract/browser-requests.ts';
import { HookproofError } from '../../contract/hookproof-error.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
/** Low enough for 128 bits in base64, which have 22 characters. */
const MIN_LENGTH = 20;
const MAX_LENGTH = 200;
const HINT = 'Each line has a name and a token: alice 0d1c…; `openssl rand -hex 24` generates a token.';

export class Tokens {
  readonly #tokens: readonly (readonly [name: string, token: string])[];

  private constructor(tokens: readonly (readonly [string, string])[]) {
    this.#tokens = tokens;
  }

  static readonly none = new Tokens([]);

  /**
   * Reads the text of a token file: a name and a token on each line. Messages contain no token.
   *
   * @throws HookproofError CONSOLE_TOKENS
   */
  static read(text: string): Tokens {
    const tokens = new Map<string, string>();
    for (const [at, line] of text.split(/\r?\n/).entries()) {
      if (line.trim() === '' || line.startsWith('#')) continue;
      const [name = '', token = '', ...rest] = line.trim().split(/[ \t]+/);
      const fail = (what: string) =>
        new HookproofError('CONSOLE_TOKENS', `line ${at + 1} of the token file ${what}`, { hint: HINT });
      if (!NAME.test(name) || rest.length > 0 || token === '') throw fail('is not a name and a token');
      if (token.length < MIN_LENGTH || token.length > MAX_LENGTH) {
        throw fail(`has a token with ${token.length} characters, expected ${MIN_LENGTH} to ${MAX_LENGTH}`);
      }
      if (tokens.has(name)) throw fail(`repeats the name ${name}`);
      if ([...tokens.values()].includes(token)) throw fail('repeats the token of another name');
      tokens.set(name, token);
    }
    if (tokens.size === 0) throw new HookproofError('CONSOLE_TOKENS', 'the token file is empty', { hint: HINT });
    return new Tokens([...tokens]);
  }

  get isEmpty(): boolean {
    return this.#tokens.length === 0;
  }

  /** Returns the name of a token; null if it is unknown. Compares with every token, in constant time. */
  nameOf(given: string): string | null {
    let found: string | null = null;
    for (const [name, token] of this.#tokens) if (isSameText(token, given)) found = name;
    return found;
  }
}
