import type { IncomingMessage } from 'node:http';

/**
 * A header as it stood on the wire: undefined when absent, an array when it was repeated. `req.headers` cannot tell: it
 * joins the lines of some headers with a comma and drops all but the first of others. `name` is in lower case.
 */
export function requestHeader(req: IncomingMessage, name: string): string | string[] | undefined {
  const values: string[] = [];
  for (let index = 0; index + 1 < req.rawHeaders.length; index += 2) {
    const line = req.rawHeaders[index] ?? '';
    // The lengths first: a text in lower case is made for few lines only.
    if (line.length === name.length && line.toLowerCase() === name) values.push(req.rawHeaders[index + 1] ?? '');
  }
  return values.length > 1 ? values : values[0];
}
