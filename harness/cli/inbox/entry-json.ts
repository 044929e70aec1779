/** Entries for programs. Control and invisible characters are escaped, so that a line can be looked at as well. */
import { visibleJson } from '../../report/index.ts';
import type { EntrySummary, InboxEntry } from '../inbox-door.ts';

/** One line with everything but the body. */
export function summaryLine(entry: EntrySummary): string {
  return `${visibleJson(entry)}\n`;
}

/** One line with everything: `body` is the bytes in base64, and `json` what they say, where they are JSON. */
export function entryLine({ rawBody, ...summary }: InboxEntry): string {
  return `${visibleJson({ ...summary, body: rawBody.toString('base64'), ...parsed(rawBody) })}\n`;
}

function parsed(rawBody: Buffer): { json?: unknown } {
  try {
    return { json: JSON.parse(rawBody.toString('utf8')) };
  } catch {
    return {};
  }
}
