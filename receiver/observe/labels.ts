/** Label values from closed sets: what a request brings must not become a time series of its own. */
import { NOTIFICATION_KINDS } from '../../contract/index.ts';

const CREDENTIAL_REASONS = ['missing', 'malformed', 'mismatch'];

/** Every reason of a stage, without what it adds in brackets or after a colon. */
const REASONS: ReadonlySet<string> = new Set([
  ...CREDENTIAL_REASONS.map((reason) => `api-key-${reason}`),
  ...CREDENTIAL_REASONS.map((reason) => `signature-${reason}`),
  ...[...CREDENTIAL_REASONS, 'untrusted', 'not-allowed', 'not-from-proxy'].map(
    (reason) => `client-certificate-${reason}`,
  ),
  'not-found',
  'method-not-allowed',
  'body-too-large',
  'content-type-not-json',
  'content-encoding-not-supported',
  'body-not-utf8',
  'body-too-deep',
  'body-not-json',
  'not-a-notification',
  'busy',
  'not-stored',
  'inbox-failed',
  'connection-closed',
  'internal-error',
]);

const KINDS: ReadonlySet<string> = new Set([...NOTIFICATION_KINDS, 'UNKNOWN']);

/** Of a delivery's reason: `none` when it was accepted, `other` for one that is not listed here. */
export function reasonLabel(reason: string | undefined): string {
  if (reason === undefined) return 'none';
  const word = /^[^(:]*/.exec(reason)?.[0].trim().replaceAll(' ', '-') ?? '';
  return REASONS.has(word) ? word : 'other';
}

export function kindLabel(kind: string): string {
  return KINDS.has(kind) ? kind : 'other';
}

/** Of a state of the queue, which is a word of ours. */
export function stateLabel(state: string): string {
  return /^[a-z][a-z-]{0,29}$/.test(state) ? state : 'other';
}
