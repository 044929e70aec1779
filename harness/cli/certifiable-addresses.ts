import type { ResolvedConfig } from '../config/index.ts';
import type { AddressPolicy } from '../transport/index.ts';

/**
 * Which addresses `certify` delivers to: URLs come from partners, who must not be able to point the operator's machine at its own network. A
 * private address has to be allowed by name.
 */
export function certifiable({ run }: Pick<ResolvedConfig, 'run'>): AddressPolicy {
  return { reach: 'public-only', allowPrivate: run.allowPrivate };
}
