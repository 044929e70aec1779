/**
 * What is imported of zod when it is needed. An `import('zod')` would keep every language of its messages in the
 * program, 300 kB at each start.
 */
export { toJSONSchema } from 'zod';
