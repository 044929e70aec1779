/** Headings of docs/durability.md: the section that `npm run proofs -- brokers` writes, and the one after it. */
export const BROKERS_HEADING = '## In a broker';
export const LIMITS_HEADING = '## What this does not show';
