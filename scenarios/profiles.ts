/**
 * Defines profiles and evidence levels. A profile states which features an endpoint must have to be certified for a
 * purpose. An evidence level states what a run has judged in addition to the answers. Specification: Authentication
 * (recommended combinations).
 */
import { isLoopback } from '../contract/hosts.ts';
import { EVIDENCE_SOURCES, type EvidenceSource, type Feature } from './scenario.ts';

export const PROFILES = ['basic', 'staging', 'production'] as const;
export type Profile = (typeof PROFILES)[number];

export interface ProfileRules {
  readonly title: string;
  /** The features that an endpoint must have. Other configured features are scored, too. */
  readonly needs: readonly Feature[];
  /** True if the endpoint's certificates must end at a public CA, and the run must trust no other CA. */
  readonly publicTrust: boolean;
}

/**
 * The rules of each profile. In every profile, each applicable scenario of a revision (`scenarios/revisions/`) is
 * scored.
 */
export const PROFILE_RULES: Readonly<Record<Profile, ProfileRules>> = {
  basic: { title: 'HTTPS and an API key', needs: ['https', 'api-key'], publicTrust: false },
  staging: { title: 'HTTPS and HMAC', needs: ['https', 'hmac'], publicTrust: false },
  production: {
    title: 'HTTPS with a public CA and HMAC; mutual TLS and an API key if configured',
    needs: ['https', 'hmac'],
    publicTrust: true,
  },
};

/** What is said about a feature that a profile needs and that is not configured. */
const MISSING = {
  hmac: 'an HMAC secret, but none is configured',
  'api-key': 'an API key, but none is configured',
  https: 'HTTPS, but the URL is plain HTTP',
} as const;

/** A feature that a profile needs and that is not configured. `what` follows "the profile NAME needs". */
export interface MissingFeature {
  readonly feature: keyof typeof MISSING;
  readonly what: string;
}

/**
 * Returns the features that the profile needs and that are not configured, and whether plain HTTP is only allowed
 * because the endpoint is on this machine. Without a URL, HTTPS is not checked. Specification: Authentication
 * (recommended combinations; HTTPS is required for production).
 */
export function missingFeatures(
  profile: Profile,
  configured: { readonly hmac: boolean; readonly 'api-key': boolean; readonly url: string | undefined },
): { readonly missing: readonly MissingFeature[]; readonly plainLoopback: boolean } {
  const { needs } = PROFILE_RULES[profile];
  const url = configured.url === undefined ? null : new URL(configured.url);
  const isPlain = url !== null && url.protocol !== 'https:';
  const plainLoopback = isPlain && isLoopback(url.hostname);
  const features = [
    ...(['hmac', 'api-key'] as const).filter((feature) => needs.includes(feature) && !configured[feature]),
    ...(isPlain && !plainLoopback ? (['https'] as const) : []),
  ];
  return { missing: features.map((feature) => ({ feature, what: MISSING[feature] })), plainLoopback };
}

/** Returns the advice for a profile whose endpoint on this machine has plain HTTP. */
export function plainHttpAdvice(profile: Profile): string {
  return `The profile ${profile} needs HTTPS; plain HTTP is allowed for an endpoint on this machine.`;
}

export const EVIDENCE_LEVELS = [0, 1, 2] as const;
export type EvidenceLevel = (typeof EVIDENCE_LEVELS)[number];

/** For each level, what a run has judged, and the sources of this evidence. */
export const EVIDENCE_RULES: Readonly<Record<EvidenceLevel, { title: string; sources: readonly EvidenceSource[] }>> = {
  0: { title: 'the answers alone', sources: [] },
  1: { title: 'answers and effects', sources: ['effects'] },
  2: { title: 'answers, effects across restarts, and the log', sources: ['effects', 'restart', 'log'] },
};

/** For each source, how to configure it (with a flag, or an option of the library), and its name in reports. */
export const SOURCE_TEXTS: Readonly<
  Record<EvidenceSource, { noun: string; flag: string; option: string; configure: string }>
> = {
  effects: {
    noun: 'effects window',
    flag: '--effects',
    option: 'evidenceSources.effects of run',
    configure: '`--effects URL` (its token in HOOKPROOF_EFFECTS_TOKEN)',
  },
  restart: {
    noun: 'restart command',
    flag: '--restart-command',
    option: 'evidenceSources.restart of run',
    configure: '`--restart-command COMMAND`',
  },
  log: { noun: 'log', flag: '--log', option: 'evidenceSources.logs of run', configure: '`--log FILE`' },
};

/** Returns the highest level whose sources are all among the given features. */
export function evidenceLevel(features: readonly Feature[]): EvidenceLevel {
  return (
    EVIDENCE_LEVELS.findLast((level) => EVIDENCE_RULES[level].sources.every((source) => features.includes(source))) ?? 0
  );
}

/** Returns the lowest level that includes all of these sources. */
export function levelWith(sources: readonly EvidenceSource[]): EvidenceLevel {
  return (
    EVIDENCE_LEVELS.find((level) => sources.every((source) => EVIDENCE_RULES[level].sources.includes(source))) ?? 2
  );
}

/** Describes a level: "answers and effects (effects are the receiver's own statement)". */
export function evidenceStatement(level: EvidenceLevel): string {
  return level === 0
    ? EVIDENCE_RULES[level].title
    : `${EVIDENCE_RULES[level].title} (effects are the receiver's own statement)`;
}

export function isEvidenceSource(feature: Feature): feature is EvidenceSource {
  return (EVIDENCE_SOURCES as readonly Feature[]).includes(feature);
}

/** Describes how to configure sources: "`--restart-command COMMAND` and `--log FILE`". */
export function configureSources(sources: readonly EvidenceSource[]): string {
  return sources.map((source) => SOURCE_TEXTS[source].configure).join(' and ');
}
