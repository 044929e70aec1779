/** Sends one notice: signed like every delivery, to an address that is allowed, without following redirects. */
import { CONTENT_TYPE, DEFAULT_SIGNATURE_HEADER, HookproofError, type JsonObject } from '../../contract/index.ts';
import type { NoticeDestination } from '../config/index.ts';
import { createRedactor, type NamedSecret } from '../report/index.ts';
import { serialise, sign } from '../sender/index.ts';
import {
  type AddressPolicy,
  fetchPinned,
  pinEndpoint,
  type Resolve,
  retryAfterMs,
  scopeOf,
} from '../transport/index.ts';

/**
 * - `sent`: the recipient accepted it.
 * - `failed`: another attempt may succeed, but not before `retryAfterMs` if the recipient asked for a delay.
 * - `refused`: the recipient does not want it (410 and most other statuses), or it must not be sent there.
 */
export type NoticeOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly error: string; readonly retryAfterMs: number | null }
  | { readonly kind: 'refused'; readonly error: string };

export interface SendNoticeOptions {
  /** Which addresses are allowed. */
  readonly policy: AddressPolicy;
  /** The partner's secrets, which the notice must not contain. */
  readonly secrets: readonly NamedSecret[];
  /** Replaces the system's resolver. */
  readonly resolve?: Resolve | undefined;
  readonly timeoutMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 10_000;

/** Makes one attempt. Never rejects. The error contains neither a secret nor the URL's path, which may contain one. */
export async function sendNotice(
  body: JsonObject,
  { secret, url }: NoticeDestination,
  options: SendNoticeOptions,
): Promise<NoticeOutcome> {
  const { now = Date.now, policy, resolve, secrets, signal, timeoutMs = TIMEOUT_MS } = options;
  const values = [...secrets, { name: 'secret', value: secret }, { name: 'URL', value: url }];
  const redactor = createRedactor({ values });
  const failed = (error: string, waitMs: number | null = null): NoticeOutcome => ({
    kind: 'failed',
    error: redactor.text(error),
    retryAfterMs: waitMs,
  });
  const refused = (error: string): NoticeOutcome => ({ kind: 'refused', error: redactor.text(error) });
  try {
    const limit = AbortSignal.timeout(timeoutMs);
    const pin = await pinEndpoint(url, { policy, resolve, timeoutMs, signal });
    if (pin.address === null) return failed(pin.error?.message ?? 'the name does not resolve');
    if (new URL(url).protocol === 'http:' && scopeOf(pin.address) === 'public') {
      return refused('plain HTTP to a public address');
    }
    const bytes = serialise(JSON.parse(JSON.stringify(body, (_, value) => redacted(value, redactor.text))));
    const headers = { 'Content-Type': CONTENT_TYPE, [DEFAULT_SIGNATURE_HEADER]: sign(bytes, secret) };
    const given = { method: 'POST', headers, body: Buffer.from(bytes), pin };
    const { ok, status, ...answer } = readable(
      await fetchPinned(url, { ...given, signal: signal ? AbortSignal.any([limit, signal]) : limit }),
    );
    if (ok) return { kind: 'sent' };
    if (status === 408 || status === 429 || status >= 500) {
      return failed(`answered ${status}`, retryAfterMs(answer.headers, now()));
    }
    return refused(`answered ${status}${status >= 300 && status < 400 ? ': redirects are not followed' : ''}`);
  } catch (error) {
    if (error instanceof HookproofError) return refused(error.message);
    return failed(`no answer (${codeOf(error)})`);
  }
}

function readable({ headers, ok, status }: Response) {
  return { ok, status, headers: [...headers] };
}

function redacted(value: unknown, redact: (text: string) => string): unknown {
  return typeof value === 'string' ? redact(value) : value;
}

/** Returns the code of a `fetch` error, which is in its cause. */
function codeOf(error: unknown): string {
  const { cause, code, name } = error as { cause?: { code?: unknown }; code?: unknown; name?: string };
  return String(cause?.code ?? (typeof code === 'string' ? code : name));
}
