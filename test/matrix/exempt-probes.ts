/**
 * The scenarios that need not turn a mutant red, each with the reason. Those of level `info` need not be here: they are recorded and never red.
 */
export const EXEMPT_PROBES: Readonly<Record<string, string>> = {};
