/** Why a fault was not named first, by hand, for the page. A pair is `one+other`. */
export const MISSES: Readonly<Record<string, string>> = {};
