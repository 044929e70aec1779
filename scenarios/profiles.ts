/**
 * The profiles: what an endpoint must have enabled to be certified for a purpose.
 * Specification: Authentication (recommended combinations).
 */
import type { Feature } from './scenario.ts';

export const PROFILES = ['basic', 'staging', 'production'] as const;
export type Profile = (typeof PROFILES)[number];

export interface ProfileRules {
  readonly title: string;
  /** The features that must be enabled. Other features are scored too when they are configured. */
  readonly needs: readonly Feature[];
  /** The certificates of the endpoint end at a public CA, and nothing else is trusted in the run. */
  readonly publicTrust: boolean;
}

/** Every applicable scenario of a revision (`scenarios/revisions/`) is scored, in every profile. */
export const PROFILE_RULES: Readonly<Record<Profile, ProfileRules>> = {
  basic: { title: 'HTTPS and an API key', needs: ['https', 'api-key'], publicTrust: false },
  staging: { title: 'HTTPS and HMAC', needs: ['https', 'hmac'], publicTrust: false },
  production: {
    title: 'HTTPS with a public CA and HMAC; mutual TLS and an API key if configured',
    needs: ['https', 'hmac'],
    publicTrust: true,
  },
};
