/** Resolves the destination of notices about a partner, and the secret that signs them. */
import { maskUrl, secretsInUrl } from '../../contract/masked-url.ts';
import { adviceOnSecret } from '../sender/index.ts';
import { type GivenSettings, givenText, problemWith, type Resolution } from './given.ts';
import { quoted } from './problems.ts';
import { readSecret } from './secrets.ts';

/** An endpoint for notices. Both values are secret: a URL may contain a token. */
export interface NoticeDestination {
  readonly url: string;
  readonly secret: string;
}

/**
 * Reads the destination from one file: the partner's file sets where the partner is notified, and the operator's file
 * of defaults where the operator is notified. Returns null if the file sets no destination.
 */
export async function resolveNotices(
  resolution: Resolution,
  settings: GivenSettings = new Map(),
): Promise<NoticeDestination | null> {
  const givenUrl = givenText(settings, 'operate.notices.url');
  const givenSecret = givenText(settings, 'operate.notices.secret');
  const secret = givenSecret && (await readSecret(givenSecret, 'secret of the notices', resolution));
  if (givenUrl === undefined) {
    if (givenSecret !== undefined) {
      const hint = 'Add `operate.notices.url`, or remove the secret.';
      resolution.problems.push(problemWith(givenSecret, 'there is no URL for notices', hint));
    }
    return null;
  }
  const url = URL.canParse(givenUrl.value) ? new URL(givenUrl.value) : undefined;
  resolution.secrets.push(...secretsInUrl(givenUrl.value));
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    const shown = quoted(maskUrl(givenUrl.value), 'the value');
    const hint = 'Give a full URL without credentials: https://partner.example/notices.';
    resolution.problems.push(problemWith(givenUrl, `${shown} is not an http or https URL without credentials`, hint));
    return null;
  }
  if (givenSecret === undefined) {
    const hint = 'Add `operate.notices.secret`: without a signature, anyone could send notices.';
    resolution.problems.push(problemWith(givenUrl, 'there is no secret to sign notices with', hint));
  }
  if (secret === undefined) return null;
  for (const message of adviceOnSecret(secret, 'secret of the notices')) {
    resolution.advice.push({ path: 'operate.notices.secret', reason: 'sender', message, hint: '' });
  }
  return { url: givenUrl.value, secret };
}
