/**
 * Finds which credentials the receiver's log contains and, as far as the lines show, what wrote them. All functions are
 * pure.
 */
import { LOG_LEAKS, type LogFinding, type LogLeak } from '../../scenarios/index.ts';
import { type Finding, findingOf } from './finding.ts';

/** Values that every delivery contains, and that logging all request headers reveals. */
const OF_DELIVERIES: ReadonlySet<LogLeak> = new Set(['api-key', 'sent-signature']);
const NO_CREDENTIALS: ReadonlySet<LogLeak> = new Set(['body', 'personal']);
const MAX_PLACES = 3;

/** Returns the finding, and the checks that report the same. Returns null if the log contains no credential. */
export function loggedIn(log: readonly LogFinding[]): { finding: Finding; checks: string[] } | null {
  const found = log.filter(({ leak, isEcho }) => !isEcho && !NO_CREDENTIALS.has(leak));
  if (found.length === 0) return null;
  const leaks = [...new Set(found.map(({ leak }) => leak))];
  const own = leaks.filter((leak) => !OF_DELIVERIES.has(leak));
  const mistake = own.length === 0 ? 'request-headers-in-log' : 'secret-in-log';
  const shown = own.length === 0 ? leaks : own;
  const title = `Logs ${joined(shown.map((leak) => LOG_LEAKS[leak]))}`;
  const finding = findingOf(mistake, title, mistake);
  const places = [...new Set(found.filter(({ leak }) => shown.includes(leak)).map(repairOf))].slice(0, MAX_PLACES);
  const fix = `${places.map((place) => `${place}.`).join(' ')} ${finding.fix}`;
  return { finding: { ...finding, fix }, checks: leaks.map((leak) => `effects/log-${leak}`) };
}

function repairOf({ first: { name, source, text } }: LogFinding): string {
  const where = source === null ? '' : ` (${source})`;
  return name === null ? `Remove what logs the line \`${text}\`${where}` : `Mask \`${name}\`${where}`;
}

function joined(texts: readonly string[]): string {
  const last = texts.at(-1) ?? '';
  return texts.length < 2 ? last : `${texts.slice(0, -1).join(', ')} and ${last}`;
}
