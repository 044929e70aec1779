import { refuse, type Stage } from './stage.ts';

/**
 * Stage 1: takes POST at the registered path, and nothing else. Specification: Delivery endpoint.
 *
 * `path` is compared exactly, without the query, which is never read. Without it any path will do.
 */
export function accept(path: string | undefined): Stage {
  return (req, res, next) => {
    if (path !== undefined && req.path !== path) return refuse(res, 404, 'not-found');
    if (req.method !== 'POST') return refuse(res, 405, 'method-not-allowed', { headers: { Allow: 'POST' } });
    next();
  };
}
