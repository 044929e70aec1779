/**
 * This module is imported on demand. `import('zod')` itself would add Zod's messages in every language to the program:
 * 300 kB to load at each start.
 */
export { toJSONSchema } from 'zod';
