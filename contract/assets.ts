/**
 * The decimals of the assets whose amounts the checks use, unless others are configured. Every `--help` loads this
 * file: it imports nothing.
 */
export const EFFECT_DECIMALS: Readonly<Record<string, number>> = { NEO: 0, GUSD: 2, USDC: 6, BTC: 8, ETH: 18 };
