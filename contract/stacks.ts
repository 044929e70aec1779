/** The stacks for which fixes are written. */
export const STACKS = ['express', 'fastify', 'django', 'flask', 'spring', 'rails', 'laravel', 'go', 'dotnet'] as const;
export type Stack = (typeof STACKS)[number];
