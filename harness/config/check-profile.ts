/** What the profiles ask for. Specification: Authentication (recommended combinations; HTTPS is required for production). */
import { PROFILE_RULES } from '../../scenarios/profiles.ts';
import type { Partner } from '../partner.ts';
import { isLoopback } from '../sender/index.ts';
import type { Profile } from './config.ts';
import { type Given, problemWith } from './given.ts';
import type { Resolution } from './resolution.ts';

/** Names each feature that the profile needs and that is not configured. On loopback plain HTTP is advice, not a problem. */
export function checkProfile(
  profile: Profile,
  given: Given<string>,
  partner: Partner | undefined,
  resolution: Resolution,
): void {
  const { problems, advice, attempted } = resolution;
  const code = 'CONFIG_PROFILE';
  const { needs } = PROFILE_RULES[profile];
  if (needs.includes('hmac') && !attempted.has('hmac.secret')) {
    const hint = 'Give the secret with --secret-file, HOOKPROOF_SECRET, or hmac.secret in the configuration file.';
    problems.push(
      problemWith(given, `the profile ${profile} needs an HMAC secret, and none is configured`, hint, code),
    );
  }
  if (needs.includes('api-key') && !attempted.has('api-key.value')) {
    const hint = 'Give the key with --api-key-file, HOOKPROOF_API_KEY, or api-key.value in the configuration file.';
    problems.push(problemWith(given, `the profile ${profile} needs an API key, and none is configured`, hint, code));
  }
  if (partner === undefined) return;
  const url = new URL(partner.url);
  if (url.protocol === 'https:') return;
  if (isLoopback(url.hostname)) {
    advice.push(
      `The profile ${profile} needs HTTPS; plain HTTP is let through because the endpoint is on this machine.`,
    );
    return;
  }
  const hint = 'Give an https:// URL. Only an endpoint on this machine may be plain HTTP.';
  problems.push(problemWith(given, `the profile ${profile} needs HTTPS, and the URL is plain HTTP`, hint, code));
}
