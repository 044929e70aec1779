import { parseSafely } from '../parse-safely.ts';
import { isNestedDeeper } from './nesting.ts';
import { refuse, required, type Stage } from './stage.ts';

/**
 * Strict: bytes that are not UTF-8 are an error and not a replacement character, and a byte order mark stays in the text, where
 * JSON does not allow it. (For this option, `ignoreBOM: true` means "do not strip it".)
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Stage 7: reads the bytes as JSON. Answers 400 to what is not, without the parser's message: it quotes the input.
 *
 * What is nested deeper than `maxDepth` levels is refused before it is parsed: code behind this stage may walk the value by recursion.
 * The keys `__proto__` and `constructor.prototype` are left out of the value: code behind this stage may copy it key by key, and would
 * then change the prototype of its own objects. The raw bytes keep both.
 */
export function parse(maxDepth: number): Stage {
  return (_req, res, next) => {
    const rawBody = required(res, 'rawBody');
    let text: string;
    try {
      text = utf8.decode(rawBody);
    } catch {
      return refuse(res, 400, 'body-not-utf8');
    }
    // The parser below would skip it.
    if (text.startsWith(BYTE_ORDER_MARK)) return refuse(res, 400, 'body-not-json');
    if (isNestedDeeper(text, maxDepth)) return refuse(res, 400, 'body-too-deep');
    try {
      res.locals.payload = parseSafely(text);
    } catch {
      return refuse(res, 400, 'body-not-json');
    }
    next();
  };
}
