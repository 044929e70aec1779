/**
 * Imported on demand. An `import('zod')` would include every language of its messages in the program, 300 kB at each
 * start.
 */
export { toJSONSchema } from 'zod';
