import { verifySignature as verify } from '../verify-signature.ts';
import { requestHeader } from './request-header.ts';
import { refuseUnauthorized, required, type Stage } from './stage.ts';

/**
 * Stage 5: requires the signature, over the raw bytes and before anything looks into them. Specification: HMAC signature.
 * `header` is in lower case.
 */
export function verifySignature(config: { readonly secrets: readonly string[]; readonly header: string }): Stage {
  return (req, res, next) => {
    const rawBody = required(res, 'rawBody');
    const result = verify({ rawBody, header: requestHeader(req, config.header), secrets: config.secrets });
    if (!result.ok) return refuseUnauthorized(res, `signature-${result.reason}`);
    res.locals.secretIndex = result.secretIndex;
    next();
  };
}
