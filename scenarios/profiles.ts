/**
 * The profiles: what an endpoint has to have on before it can be certified for a purpose. Specification: Authentication
 * (recommended combinations).
 */
import type { Feature } from './scenario.ts';

export const PROFILES = ['basic', 'staging', 'production'] as const;
export type Profile = (typeof PROFILES)[number];

export interface ProfileRules {
  readonly title: string;
  /**
   * The features that must be on. Others are scored too where partner and operator have agreed on them, that is,
   * configured them.
   */
  readonly needs: readonly Feature[];
  /**
   * The certificates of the endpoint end at an authority that everybody trusts, and nothing else is trusted for the
   * run.
   */
  readonly publicTrust: boolean;
}

/**
 * Which scenarios are scored is the business of the catalogue's revision (`scenarios/revisions/`): all of it that
 * applies, in every profile.
 */
export const PROFILE_RULES: Readonly<Record<Profile, ProfileRules>> = {
  basic: { title: 'HTTPS and an API key', needs: ['https', 'api-key'], publicTrust: false },
  staging: { title: 'HTTPS and HMAC', needs: ['https', 'hmac'], publicTrust: false },
  production: {
    title: 'HTTPS of a public authority and HMAC; mutual TLS and an API key where they are agreed on',
    needs: ['https', 'hmac'],
    publicTrust: true,
  },
};
