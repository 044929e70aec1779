/** Masks URLs before they are shown, because some senders and receivers put credentials in the query or userinfo. */

/** Masks the query values, the fragment and the userinfo of a URL or of a request target. */
export function maskUrl(url: string, mask = '[redacted]'): string {
  const [, start = '', query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  const masked = start.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/\\]*@/i, `$1${mask}@`);
  return masked + (query === undefined ? '' : maskQuery(query, mask)) + (fragment === undefined ? '' : `#${mask}`);
}

function maskQuery(query: string, mask: string): string {
  return query.replace(/([?&])([^&=]*)(=?)([^&]*)/g, (part, before: string, name: string, equals: string) => {
    if (part === before) return part;
    // Without an equals sign, the whole parameter is treated as a value.
    return equals === '' ? before + mask : `${before}${name}=${mask}`;
  });
}

/** Returns true when a URL has a part that {@link maskUrl} masks or has masked. */
export function hasHiddenPart(url: string): boolean {
  return /[?#].|^[a-z][a-z\d+.-]*:\/\/[^/\\?#]*@/is.test(url);
}

/**
 * Masks, in a request target, only the query parameters that `url` contains. Those that a probe added remain visible.
 */
export function maskTargetOf(url: string, target: string): string {
  const queries = [url.split(/[?#]/)[1] ?? '', URL.canParse(url) ? new URL(url).search.slice(1) : ''];
  const parts = new Set(queries.flatMap((query) => query.split('&')).filter((part) => part !== ''));
  return target.replace(/(?<=[?&])[^?&#]+/g, (part) =>
    parts.has(part) ? maskQuery(`?${part}`, '[redacted]').slice(1) : part,
  );
}

/** Parameter names that usually hold credentials. */
const CREDENTIAL_NAME =
  /(?:^|[-_])(?:token|secret|password|passwd|api[-_]?key|access[-_]?key|auth|key|sig|signature|code)$/i;

/**
 * Minimum length of a secret that is masked wherever it occurs. Shorter values and words occur in many texts, and are
 * masked only in the URL itself.
 */
const MIN_SECRET = 8;

/**
 * Lists the parts of a URL that must be masked wherever they occur: user, password, values of parameters with names
 * such as `token`, and values that contain both letters and digits.
 */
export function secretsInUrl(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { username, password, searchParams, search } = new URL(url);
  const named = [...searchParams].flatMap(([name, value]) => {
    // A parameter without a value is treated as a value without a name.
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

/** Quotes the URL as a shell argument. Returns `"$HOOKPROOF_URL"` instead when part of the URL must not be printed. */
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
