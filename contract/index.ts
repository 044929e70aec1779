export {
  CONTENT_TYPE,
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type HeaderLine,
  headerValues,
  RESERVED_HEADERS,
  sameHeaderName,
} from './headers.ts';
export { type ErrorKind, HookproofError } from './hookproof-error.ts';
export type { JsonObject, JsonValue } from './json.ts';
