import { checkApiKey as check } from '../check-api-key.ts';
import { requestHeader } from './request-header.ts';
import { refuseUnauthorized, type Stage } from './stage.ts';

/**
 * Stage 4: requires the API key. Specification: API key header. The key is read from its header and from nowhere else: a query
 * parameter would end up in access logs. `header` is in lower case.
 */
export function checkApiKey(config: { readonly keys: readonly string[]; readonly header: string }): Stage {
  return (req, res, next) => {
    const result = check({ header: requestHeader(req, config.header), keys: config.keys });
    if (!result.ok) return refuseUnauthorized(res, `api-key-${result.reason}`);
    res.locals.keyIndex = result.keyIndex;
    next();
  };
}
