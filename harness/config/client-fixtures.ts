/** The client certificates that only the partner's authority can issue, and what each of them has to be. */
import type { MaterialProblemCode } from '../../certs/index.ts';
import type { ClientFixture } from '../../scenarios/index.ts';

/** The one fault that a fixture has by its name; null for those that are right and revoked, or right and of somebody else. */
export const FIXTURE_FAULTS: Readonly<Record<ClientFixture, MaterialProblemCode | null>> = {
  expired: 'CERT_EXPIRED',
  'not-yet-valid': 'CERT_NOT_YET_VALID',
  'wrong-purpose': 'CERT_PURPOSE',
  revoked: null,
  'other-subject': null,
};

/** Their names. The scenarios have them too, with the whole catalogue behind them, which the configuration has no need to load. */
export const FIXTURE_NAMES = Object.keys(FIXTURE_FAULTS) as readonly ClientFixture[];

/** What is configured for each. */
export const FIXTURE_KEYS = ['cert', 'key', 'passphrase'] as const;
