/**
 * A matcher for Vitest. Package export `hookproof/vitest`: import it in a test or a set-up file, and write
 * `await expect(app).toBeConformant({ secret })`. The message of a failure is the report of the run.
 */
import { expect } from 'vitest';
import { HookproofError, type Stack } from '../../contract/index.ts';
import type { SuiteName } from '../../scenarios/index.ts';
import { type App, checkOptions, group, RULES, run } from '../library.ts';
import { createRedactor, redactDocument, renderHuman } from '../report/index.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { exitCodeOf } from '../report/verdict.ts';

interface Options {
  /** The HMAC secret that the app verifies with. Without it, signatures are not checked. */
  readonly secret?: string;
  /** Name of the signature header. Default: X-Service-Signature. */
  readonly signatureHeader?: string;
  /** The API key that the app expects. Without it, the key is not checked. */
  readonly apiKey?: string;
  /** Name of the API key header. Default: X-API-Key. */
  readonly apiKeyHeader?: string;
  /** Runs without a secret and without an API key: the app accepts deliveries from everyone. Default: false. */
  readonly open?: boolean;
  /** Custom headers, added to every delivery. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Path and query of the endpoint. Default: `/`. */
  readonly path?: string;
  /** Only these suites, by their names in `hookproof list --what suites`. Default: all. */
  readonly suites?: readonly SuiteName[];
  /** Only these checks, by id. Default: all. */
  readonly scenarios?: readonly string[];
  /** The stack that fixes are written for. Default: guessed from the answers. */
  readonly stack?: Stack;
  /** Whether warnings fail the assertion. Default: false. */
  readonly strict?: boolean;
  /** Seed of an earlier run, whose generated values are repeated. Default: random. */
  readonly seed?: string;
  /** Time limit of one delivery, in milliseconds. Default: 10000. */
  readonly timeoutMs?: number;
  /** Whether the message lists every finding in full, with the exchanges. Default: false. */
  readonly verbose?: boolean;
}

/** The configuration of the app, with a credential or `open: true`, and the selection of checks. */
export type ConformantOptions = Options &
  (Required<Pick<Options, 'secret'>> | Required<Pick<Options, 'apiKey'>> | { readonly open: true });

const OPTIONS = group<Options>({
  ...{ secret: RULES.text, signatureHeader: RULES.headerName, apiKey: RULES.apiKey, apiKeyHeader: RULES.headerName },
  ...{
    headers: RULES.headers,
    path: RULES.text,
    suites: RULES.selected,
    scenarios: RULES.selected,
    stack: RULES.stack,
  },
  ...{ open: RULES.toggle, strict: RULES.toggle, seed: RULES.text, timeoutMs: RULES.timeLimit },
  verbose: RULES.toggle,
});

declare module 'vitest' {
  // The type parameter must be the one that Vitest declares.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  interface Matchers<T = any> {
    /**
     * Runs the suites against an app in this process, and fails unless the exit code of the run is 0. With `not`, fails
     * unless a check failed: a run without a conclusion fails both.
     */
    toBeConformant(options: ConformantOptions): Promise<T extends never ? never : void>;
  }
}

/** Runs the suites against an app. Credentials are removed from the document. */
async function judged(app: App, options: Options): Promise<ResultDocument> {
  checkOptions(options, OPTIONS);
  const { apiKey, apiKeyHeader, headers, open, path, scenarios, secret, seed, signatureHeader, suites } = options;
  const { stack, strict, timeoutMs } = options;
  const values = [secret, apiKey].flatMap((value) => (value === undefined ? [] : [{ name: 'secret', value }]));
  const redactor = createRedactor({ values });
  const document = await run({
    app,
    partner: {
      ...(secret !== undefined && { signing: { secret, ...(signatureHeader && { header: signatureHeader }) } }),
      ...(apiKey !== undefined && { apiKey: { value: apiKey, ...(apiKeyHeader && { header: apiKeyHeader }) } }),
      ...(headers && { headers: Object.entries(headers) }),
    },
    ...(open !== undefined && { open }),
    ...(path !== undefined && { path }),
    selection: { ...(suites && { suites }), ...(scenarios && { scenarios }) },
    ...(timeoutMs !== undefined && { limits: { timeoutMs } }),
    ...(stack && { stack }),
    ...(strict !== undefined && { strict }),
    ...(seed !== undefined && { seed }),
    onSignature: (signature) => redactor.addSignature(signature),
  });
  return redactDocument(document, redactor);
}

/** The matcher, for a custom `expect`. Importing this module adds it to Vitest's `expect`. */
export async function toBeConformant(this: { readonly isNot: boolean }, app: App, options: ConformantOptions) {
  const document = await judged(app, options ?? {}).catch((error: unknown) => {
    if (!(error instanceof HookproofError)) throw error;
    // Vitest prints only the message, and would print that of a cause again.
    const { code, hint, kind, message } = error;
    throw new HookproofError(code, `${message}. ${hint}`, { hint, kind });
  });
  const report = renderHuman(document, options.verbose === undefined ? {} : { verbose: options.verbose });
  const code = exitCodeOf(document);
  const but = code === 0 ? 'it is' : 'the run has no conclusion';
  return {
    // Without a conclusion, the assertion fails with `not` as well.
    pass: code === 0 || (code !== 1 && this.isNot),
    message: () => (this.isNot ? `expected the app not to be conformant, but ${but}\n\n${report}` : report),
  };
}

expect.extend({ toBeConformant });
