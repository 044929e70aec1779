/** The stages that turn verified bytes into a notification. */
import { readNotification } from '../../contract/index.ts';
import { isNestedDeeper, parseSafely } from '../../contract/parse-json.ts';
import { refuse, required, type Stage } from './stage.ts';

const JSON_TYPE = /^application\/(?:json|[^\s;/]+\+json)$/;

/**
 * Stage 6: accepts only JSON that is not compressed. Specification: Delivery endpoint (request headers).
 *
 * It runs after the credentials were checked, so that an attacker learns nothing from it. Parameters are allowed and
 * ignored, because JSON is UTF-8 whatever the charset says.
 */
export const checkContentType: Stage = (req, res, next) => {
  const fault = contentTypeFault(req.headers['content-type'], req.headers['content-encoding']);
  if (fault !== undefined) return refuse(res, 415, fault);
  next();
};

/** Returns the reason to reject these headers, as a pure function. */
export function contentTypeFault(type = '', encoding = 'identity'): string | undefined {
  const mediaType = type.split(';', 1)[0] ?? '';
  if (!JSON_TYPE.test(mediaType.trim().toLowerCase())) return 'content-type-not-json';
  return ['', 'identity'].includes(encoding.trim().toLowerCase()) ? undefined : 'content-encoding-not-supported';
}

/**
 * Decodes strictly: invalid UTF-8 is an error instead of a replacement character, and a byte order mark stays in the
 * text, where JSON does not allow it. (For this decoder, `ignoreBOM: true` means "do not strip it".)
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Stage 7: parses the bytes as JSON. It answers everything else with 400, without the parser's message, which quotes
 * the input.
 *
 * A body nested deeper than `maxDepth` levels is rejected before it is parsed, because later code may traverse the
 * value recursively. The keys `__proto__` and `constructor.prototype` are removed from the value, because later code
 * may copy it key by key and would then change the prototype of its own objects. The raw bytes keep both.
 */
export function parse(maxDepth: number): Stage {
  return (_req, res, next) => {
    const parsed = parseBody(required(res, 'rawBody'), maxDepth);
    if ('fault' in parsed) return refuse(res, 400, parsed.fault);
    res.locals.payload = parsed.payload;
    next();
  };
}

/** Returns the JSON value, or the reason to reject the body, as a pure function. */
export function parseBody(
  rawBody: Uint8Array,
  maxDepth: number,
): { readonly payload: unknown } | { readonly fault: string } {
  let text: string;
  try {
    text = utf8.decode(rawBody);
  } catch {
    return { fault: 'body-not-utf8' };
  }
  // The parser below would skip it.
  if (text.startsWith(BYTE_ORDER_MARK)) return { fault: 'body-not-json' };
  if (isNestedDeeper(text, maxDepth)) return { fault: 'body-too-deep' };
  try {
    return { payload: parseSafely(text) };
  } catch {
    return { fault: 'body-not-json' };
  }
}

/** Maximum number of issues in an answer. They name known fields and quote no value, so each of them is short. */
const MAX_ISSUES = 10;

/**
 * Stage 8: reads the JSON value as a notification. Specification: Resources and their fields. Unknown types, statuses,
 * fields and error codes are accepted. Only what cannot be understood is rejected with 400.
 */
export const validate: Stage = (_req, res, next) => {
  const reading = readNotification(required(res, 'payload'));
  if (!reading.ok) {
    return refuse(res, 400, 'not-a-notification', { detail: { issues: reading.issues.slice(0, MAX_ISSUES) } });
  }
  res.locals.notification = reading.notification;
  next();
};
