/** URLs as they may be shown: some senders and receivers put credentials into the query or before the host. */

/** The text with the values of its query, its fragment and its user masked: a URL, or the target of a request. */
export function maskUrl(url: string, mask = '[redacted]'): string {
  const [, start = '', query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  const masked = start.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/\\]*@/i, `$1${mask}@`);
  return masked + (query === undefined ? '' : maskQuery(query, mask)) + (fragment === undefined ? '' : `#${mask}`);
}

function maskQuery(query: string, mask: string): string {
  return query.replace(/([?&])([^&=]*)(=?)([^&]*)/g, (part, before: string, name: string, equals: string) => {
    if (part === before) return part;
    // A word without a name is a value.
    return equals === '' ? before + mask : `${before}${name}=${mask}`;
  });
}

/** Whether {@link maskUrl} hides something, or has hidden it. */
export function hasHiddenPart(url: string): boolean {
  return /[?#].|^[a-z][a-z\d+.-]*:\/\/[^/\\?#]*@/is.test(url);
}

/**
 * A request target with the values masked that are in the query of this URL, and no others: what a probe adds to the
 * URL is shown.
 */
export function maskTargetOf(url: string, target: string): string {
  const queries = [url.split(/[?#]/)[1] ?? '', URL.canParse(url) ? new URL(url).search.slice(1) : ''];
  const parts = new Set(queries.flatMap((query) => query.split('&')).filter((part) => part !== ''));
  return target.replace(/(?<=[?&])[^?&#]+/g, (part) =>
    parts.has(part) ? maskQuery(`?${part}`, '[redacted]').slice(1) : part,
  );
}

/** Names that are given to credentials. */
const CREDENTIAL_NAME =
  /(?:^|[-_])(?:token|secret|password|passwd|api[-_]?key|access[-_]?key|auth|key|sig|signature|code)$/i;

/** Shorter values, and words, occur in any text: they are masked in the URL alone. */
const MIN_SECRET = 8;

/** The parts of a URL that are secrets wherever they are found: the user, the password, and what looks like a token. */
export function secretsInUrl(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { username, password, searchParams, search } = new URL(url);
  const named = [...searchParams].flatMap(([name, value]) => {
    // A word without a name is a value.
    const text = value === '' ? name : value;
    return CREDENTIAL_NAME.test(name) || (/\d/.test(text) && /[a-z]/i.test(text)) ? [text] : [];
  });
  const raw = search
    .slice(1)
    .split('&')
    .map((part) => part.slice(part.indexOf('=') + 1));
  const written = raw.filter((text) => named.includes(decoded(text)));
  const all = [decoded(username), decoded(password), ...named, ...written];
  return [...new Set(all)].filter((text) => text.length >= MIN_SECRET);
}

/** The URL as an argument for a shell; the variable HOOKPROOF_URL instead of one with a part that is never printed. */
export function quotedUrl(url: string): string {
  return hasHiddenPart(url) ? '"$HOOKPROOF_URL"' : `'${url.replaceAll("'", '%27')}'`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
