/** The stages that convert verified bytes to a notification. */
import { readNotification } from '../../contract/index.ts';
import { isNestedDeeper, parseSafely } from '../../contract/parse-json.ts';
import { refuse, required, type Stage } from './stage.ts';

const JSON_TYPE = /^application\/(?:json|[^\s;/]+\+json)$/;

/**
 * Stage 6: accepts only JSON that is not compressed. Specification: Delivery endpoint (request headers).
 *
 * This stage runs after the checks of credentials, so its answers reveal nothing to attackers. Parameters of the
 * content type are ignored, because JSON is always UTF-8.
 */
export const checkContentType: Stage = (req, res, next) => {
  const fault = contentTypeFault(req.headers['content-type'], req.headers['content-encoding']);
  if (fault !== undefined) return refuse(res, 415, fault);
  next();
};

/** Returns the reason to reject these headers, or undefined. A pure function. */
export function contentTypeFault(type = '', encoding = 'identity'): string | undefined {
  if (!isJsonType(type)) return 'content-type-not-json';
  return ['', 'identity'].includes(encoding.trim().toLowerCase()) ? undefined : 'content-encoding-not-supported';
}

/** Returns whether a Content-Type is JSON. Its parameters are ignored. */
export function isJsonType(type: string): boolean {
  const mediaType = type.split(';', 1)[0] ?? '';
  return JSON_TYPE.test(mediaType.trim().toLowerCase());
}

/**
 * Decodes strictly: invalid UTF-8 is an error, and a byte order mark stays in the text, where JSON does not allow it.
 * (`ignoreBOM: true` means "do not strip the byte order mark".)
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Stage 7: parses the bytes as JSON. Everything else is answered 400, without the parser's message, which quotes the
 * input.
 *
 * A body nested deeper than `maxDepth` levels is rejected before parsing, because later code may traverse the value
 * recursively. The keys `__proto__` and `constructor.prototype` are removed from the value, because code that copies it
 * key by key would change the prototype of the copy. The raw bytes are unchanged.
 */
export function parse(maxDepth: number): Stage {
  return (_req, res, next) => {
    const parsed = parseBody(required(res, 'rawBody'), maxDepth);
    if ('fault' in parsed) return refuse(res, 400, parsed.fault);
    res.locals.payload = parsed.payload;
    next();
  };
}

/** Returns the JSON value, or the reason to reject the body. A pure function. */
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
  // `parseSafely` would skip the byte order mark.
  if (text.startsWith(BYTE_ORDER_MARK)) return { fault: 'body-not-json' };
  if (isNestedDeeper(text, maxDepth)) return { fault: 'body-too-deep' };
  try {
    return { payload: parseSafely(text) };
  } catch {
    return { fault: 'body-not-json' };
  }
}

/** Maximum number of issues in an answer. Each issue is short, because issues name known fields and quote no values. */
const MAX_ISSUES = 10;

/**
 * Stage 8: reads the JSON value as a notification. Specification: Resources and their fields. Unknown types, statuses,
 * fields and error codes are accepted. Only a value that is not a notification is rejected, with 400.
 */
export const validate: Stage = (_req, res, next) => {
  const reading = readNotification(required(res, 'payload'));
  if (!reading.ok) {
    return refuse(res, 400, 'not-a-notification', { detail: { issues: reading.issues.slice(0, MAX_ISSUES) } });
  }
  res.locals.notification = reading.notification;
  next();
};
