/** Writes a shell script that repeats a probe with curl. Credentials appear only as variables, never as values. */
import { createHash, X509Certificate } from 'node:crypto';
import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import { maskTargetOf } from '../../contract/masked-url.ts';
import { quote } from '../../contract/shell-word.ts';
import type { ConnectChange } from '../../scenarios/index.ts';
import { everySecret, type Partner } from '../partner.ts';
import type { Assembled } from './assemble.ts';
import { clientCertificateOf, headerNamesOf } from './kit.ts';

/** Maximum size of a body in the script. To send a larger one, run the scenario alone. */
const MAX_BODY_BYTES = 4096;

/** A value that shares this many consecutive characters with a credential may be derived from it, and is omitted. */
const MIN_SHARED_LENGTH = 4;

const VARIABLES = [
  'HOOKPROOF_URL',
  'HOOKPROOF_SECRET',
  'HOOKPROOF_NEXT_SECRET',
  'HOOKPROOF_API_KEY',
  'HOOKPROOF_CA',
  'HOOKPROOF_CLIENT_CERT',
  'HOOKPROOF_CLIENT_KEY',
];

export const VALID_SIGNATURE = 'openssl dgst -sha256 -hmac "$HOOKPROOF_SECRET" -binary | openssl base64 -A';

/** Parts of a path that curl expands or removes by default. */
const NEEDS_VERBATIM_PATH = /[[\]{}]|\/\./;

export function bodyLine(body: Uint8Array): string {
  const text = Buffer.from(body).toString('latin1');
  if (/^[ -~]*$/.test(text)) return `printf '%s' ${quote(text)} > "$BODY"`;
  return `printf '%s' '${Buffer.from(body).toString('base64')}' | openssl base64 -d -A > "$BODY"`;
}

function mayDeriveFrom(value: string, credential: string): boolean {
  const haystack = value.toLowerCase();
  const needle = credential.toLowerCase();
  for (let at = 0; at + MIN_SHARED_LENGTH <= needle.length; at++) {
    if (haystack.includes(needle.slice(at, at + MIN_SHARED_LENGTH))) return true;
  }
  return needle.length < MIN_SHARED_LENGTH && needle.length > 0 && haystack.includes(needle);
}

/** Returns what the script must not contain: the credentials, and the valid signature in its usual encodings. */
function credentialsOf(assembled: Assembled, partner: Partner): string[] {
  const digest = assembled.rightSignature === null ? null : Buffer.from(assembled.rightSignature, 'base64');
  return [
    ...everySecret(partner),
    partner.apiKey?.value,
    assembled.rightSignature ?? undefined,
    digest?.toString('hex'),
    digest?.toString('base64url'),
  ].filter((text): text is string => text !== undefined && text !== '');
}

/**
 * Returns a header as words for the shell, with every occurrence of `right` replaced by a variable. Null if it does not
 * occur.
 */
function credentialWord(name: string, value: string, right: string | null | undefined, variable: string) {
  if (right === null || right === undefined || right === '' || !value.includes(right)) return null;
  const parts = value.split(right);
  const literals = parts.map((part, at) => (at === 0 ? `${name}: ${part}` : part));
  return { word: literals.map((part) => (part === '' ? '' : quote(part))).join(`"$${variable}"`), literals: parts };
}

/**
 * Returns the shell pipeline that makes the signature. It reads the body from standard input, or contains the bytes
 * that were signed instead of the body.
 */
function recipeOf({ change, signedBytes }: Assembled): string | undefined {
  if (change.sign?.shell !== undefined) return change.sign.shell;
  if (signedBytes === null || signedBytes.length > MAX_BODY_BYTES) return undefined;
  return `printf '%s' '${Buffer.from(signedBytes).toString('base64')}' | openssl base64 -d -A | ${VALID_SIGNATURE}`;
}

/**
 * Returns the forms in which a header may contain a certificate (PEM): its encodings as a whole, its digests and serial
 * number in hex, and its single lines.
 */
function certificateTexts(pem: string): string[] {
  const der = pem.replaceAll(/-----[^-]+-----|\s/g, '');
  const bytes = Buffer.from(der, 'base64');
  const digests = ['sha1', 'sha256'].map((name) => createHash(name).update(bytes).digest('hex'));
  const hex = [...digests, serialNumberOf(pem)].flatMap((text) => [text.toLowerCase(), text.toUpperCase()]);
  const whole = [encodeURIComponent(pem), Buffer.from(pem).toString('base64'), der];
  return [...whole, ...hex, ...pem.split('\n')].filter((text) => text !== '');
}

/** Returns an empty string for text that is not a certificate. The connection then fails anyway. */
function serialNumberOf(pem: string): string {
  try {
    return new X509Certificate(pem).serialNumber;
  } catch {
    return '';
  }
}

/** Returns the curl argument for a header line, or null if it would reveal a credential. */
function headerArgument(
  line: HeaderLine,
  assembled: Assembled,
  partner: Partner,
  { signatureName, certificate }: { readonly signatureName: string; readonly certificate: readonly string[] },
): string | null {
  const [name, value] = line;
  // curl sends a header with an empty value only in this form.
  if (value.trim() === '') return `-H ${quote(`${name};`)}`;
  const isSignature = partner.signing !== undefined && sameHeaderName(name, signatureName);
  const changed = isSignature && assembled.change.sign !== undefined && assembled.change.address === undefined;
  if (changed && assembled.change.sign?.shell !== undefined) return `-H ${quote(`${name}: `)}"$SIGNATURE"`;
  // Without a recipe, the value may be the valid signature of another body, which must stay secret.
  if (changed && value !== assembled.rightSignature) {
    return recipeOf(assembled) === undefined ? null : `-H ${quote(`${name}: `)}"$SIGNATURE"`;
  }
  if (!/^[ -~]*$/.test(value)) return null;
  const { word, literals } = credentialWord(name, value, assembled.rightSignature, 'SIGNATURE') ??
    credentialWord(name, value, partner.apiKey?.value, 'HOOKPROOF_API_KEY') ?? {
      word: quote(`${name}: ${value}`),
      literals: [value],
    };
  // A certificate is public, and is long enough to contain parts of many secrets by chance.
  const own = literals.map((text) => certificate.reduce((rest, part) => rest.replaceAll(part, ''), text));
  const tells = credentialsOf(assembled, partner).some((secret) => own.some((text) => mayDeriveFrom(text, secret)));
  return tells ? null : `-H ${word}`;
}

/**
 * Returns the script. Null if curl cannot send this probe, or if the script would reveal a credential. Like the
 * harness, the script reads credentials from environment variables such as HOOKPROOF_SECRET. The paths of TLS files
 * come from variables, too.
 */
export function curlScript(assembled: Assembled, partner: Partner): string | null {
  const { prepared, transmission, change } = assembled;
  // openssl cannot write the headers of every scheme. The command that repeats the check is in every report.
  if (partner.signing?.scheme !== undefined) return null;
  if (transmission !== null && transmission.kind !== 'chunked') return null;
  if (prepared.body.length > MAX_BODY_BYTES) return null;
  const { signature: signatureName } = headerNamesOf(partner);
  const credentials = credentialsOf(assembled, partner);
  const text = Buffer.from(prepared.body).toString('latin1');
  if (credentials.some((secret) => text.includes(Buffer.from(secret).toString('latin1')))) return null;
  const connection = tlsArguments(partner, change.connect);
  if (connection === null) return null;
  if (
    credentials.some((secret) => mayDeriveFrom(prepared.target, secret)) &&
    !new URL(prepared.url).href.endsWith(prepared.target)
  )
    return null;

  const args: string[] = [];
  const certificate = certificateTexts(clientCertificateOf(partner));
  for (const line of prepared.headers) {
    if (/^(host|content-length)$/i.test(line[0])) continue;
    const argument = headerArgument(line, assembled, partner, { signatureName, certificate });
    if (argument === null) return null;
    args.push(argument);
  }
  if (!prepared.headers.some(([name]) => sameHeaderName(name, 'Content-Type'))) args.push("-H 'Content-Type:'");
  if (transmission !== null) args.push("-H 'Transfer-Encoding: chunked'");
  // If the headers are changed, the variable contains the valid signature.
  const signing = (change.address === undefined ? recipeOf(assembled) : undefined) ?? VALID_SIGNATURE;
  const signed = args.some((argument) => /"\$SIGNATURE"/.test(argument));
  const address = addressOf(prepared);
  if (address === null) return null;
  const used = `${address} ${signed ? signing : ''} ${args.join(' ')} ${connection.join(' ')}`;
  const variables = VARIABLES.filter((name) => used.includes(`$${name}`) || used.includes(`\${${name}`));
  const verbatim = NEEDS_VERBATIM_PATH.test(prepared.target) ? '-g --path-as-is ' : '';
  return [
    // An unset variable would silently sign with an empty key.
    ...variables.map((name) => `: "\${${name}:?export it first}"`),
    'BODY=$(mktemp)',
    bodyLine(prepared.body),
    ...(signed ? [`SIGNATURE=$({ ${signing}; } < "$BODY")`] : []),
    [`curl -i ${verbatim}-X ${prepared.method} ${address} --data-binary @"$BODY"`, ...connection, ...args].join(
      ' \\\n  ',
    ),
  ].join('\n');
}

/**
 * Returns the URL as a word for the shell. The query of the configured URL may contain a credential, so it is read from
 * HOOKPROOF_URL. Null if only a part of the query is sent.
 */
function addressOf({ url, target }: Assembled['prepared']): string | null {
  const { origin, search } = new URL(url);
  if (maskTargetOf(url, target) === target) return quote(origin + target);
  const [before = '', ...rest] = target.split(search.slice(1));
  if (rest.length !== 1 || !url.endsWith(search)) return null;
  const after = rest.join('');
  return `${quote(origin + before)}"\${HOOKPROOF_URL#*\\?}"${after === '' ? '' : quote(after)}`;
}

/**
 * Returns whether curl can make this connection. It cannot present a certificate that was created for a probe, resume a
 * session, send another server name, or use plain HTTP on the TLS port.
 */
function canCurlConnect({ clientCertificate = 'none', resumeFrom, serverName, plain }: ConnectChange): boolean {
  return clientCertificate === 'none' && resumeFrom === undefined && serverName === undefined && plain !== true;
}

/**
 * Returns the TLS options for curl, or null if curl cannot make such a connection. HOOKPROOF_CA, HOOKPROOF_CLIENT_CERT
 * and HOOKPROOF_CLIENT_KEY are paths.
 */
function tlsArguments({ url, tls = {} }: Partner, change: ConnectChange | undefined): string[] | null {
  if (!url.startsWith('https:')) return change === undefined ? [] : null;
  if (change !== undefined && !canCurlConnect(change)) return null;
  const presents = tls.clientCert !== undefined && change?.clientCertificate !== 'none';
  const version = change?.version?.replace('TLSv', '');
  return [
    ...(tls.ca === undefined ? [] : ['--cacert "$HOOKPROOF_CA"']),
    ...(presents ? ['--cert "$HOOKPROOF_CLIENT_CERT"', '--key "$HOOKPROOF_CLIENT_KEY"'] : []),
    ...(version === undefined ? [] : [`--tlsv${version} --tls-max ${version}`]),
    ...(change?.alpn === undefined ? [] : [change.alpn.length === 0 ? '--no-alpn' : '--http1.1']),
  ];
}
