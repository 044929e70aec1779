import { refuse, required, type Stage } from './stage.ts';

/**
 * Strict: bytes that are not UTF-8 are an error and not a replacement character, and a byte order mark stays in the text, where
 * JSON does not allow it. (For this option, `ignoreBOM: true` means "do not strip it".)
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Stage 7: reads the bytes as JSON. Answers 400 to what is not, without the parser's message: it quotes the input. */
export const parse: Stage = (_req, res, next) => {
  const rawBody = required(res, 'rawBody');
  let text: string;
  try {
    text = utf8.decode(rawBody);
  } catch {
    return refuse(res, 400, 'body-not-utf8');
  }
  try {
    res.locals.payload = JSON.parse(text);
  } catch {
    return refuse(res, 400, 'body-not-json');
  }
  next();
};
