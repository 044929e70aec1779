import { refuse, type Stage } from './stage.ts';

const JSON_TYPE = /^application\/(?:json|[^\s;/]+\+json)$/;

/**
 * Stage 6: takes JSON only, not compressed. Specification: Delivery endpoint (request headers).
 *
 * It comes after the credentials, so that a forger learns nothing from it. Parameters are allowed and ignored: JSON is
 * UTF-8 whatever a charset says.
 */
export const checkContentType: Stage = (req, res, next) => {
  const mediaType = (req.headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  if (!JSON_TYPE.test(mediaType.trim().toLowerCase())) return refuse(res, 415, 'content-type-not-json');
  const encoding = (req.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding !== 'identity' && encoding !== '') return refuse(res, 415, 'content-encoding-not-supported');
  next();
};
