/** A shell script around curl that sends a probe again, with credentials as variables and never as values. */
import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import type { ConnectChange } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import type { Assembled } from './assemble.ts';
import { clientCertificateOf, headerNamesOf } from './kit.ts';

/** Longer bodies are not written out: the command that runs the scenario alone sends them. */
const LONGEST_BODY = 4096;

/** A value that shares this many characters with a credential may be made from it, and is not written out. */
const TELLING_LENGTH = 4;

const VARIABLES = [
  'HOOKPROOF_SECRET',
  'HOOKPROOF_API_KEY',
  'HOOKPROOF_CA',
  'HOOKPROOF_CLIENT_CERT',
  'HOOKPROOF_CLIENT_KEY',
];

const RIGHT_SIGNATURE = 'openssl dgst -sha256 -hmac "$HOOKPROOF_SECRET" -binary | openssl base64 -A';

/** What curl would expand or take out of a path, unless told to leave it as it stands. */
const AS_IT_STANDS = /[[\]{}]|\/\./;

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function bodyLine(body: Uint8Array): string {
  const text = Buffer.from(body).toString('latin1');
  if (/^[ -~]*$/.test(text)) return `printf '%s' ${quote(text)} > "$BODY"`;
  return `printf '%s' '${Buffer.from(body).toString('base64')}' | openssl base64 -d -A > "$BODY"`;
}

function mayDeriveFrom(value: string, credential: string): boolean {
  const haystack = value.toLowerCase();
  const needle = credential.toLowerCase();
  for (let at = 0; at + TELLING_LENGTH <= needle.length; at++) {
    if (haystack.includes(needle.slice(at, at + TELLING_LENGTH))) return true;
  }
  return needle.length < TELLING_LENGTH && needle.length > 0 && haystack.includes(needle);
}

/** What must not be written: the credentials, and the right signature in its usual spellings. */
function credentialsOf(assembled: Assembled, partner: Partner): string[] {
  const digest = assembled.rightSignature === null ? null : Buffer.from(assembled.rightSignature, 'base64');
  return [
    partner.signing?.secret,
    partner.apiKey?.value,
    assembled.rightSignature ?? undefined,
    digest?.toString('hex'),
    digest?.toString('base64url'),
  ].filter((text): text is string => text !== undefined && text !== '');
}

/** The value as words for the shell, with every occurrence of `right` as a variable; null when it does not occur. */
function credentialWord(name: string, value: string, right: string | null | undefined, variable: string) {
  if (right === null || right === undefined || right === '' || !value.includes(right)) return null;
  const parts = value.split(right);
  const literals = parts.map((part, at) => (at === 0 ? `${name}: ${part}` : part));
  return { word: literals.map((part) => (part === '' ? '' : quote(part))).join(`"$${variable}"`), literals: parts };
}

/** The pipeline that makes the signature from the body on standard input, or from the other bytes that were signed in its place. */
function recipeOf({ change, signedBytes }: Assembled): string | undefined {
  if (change.sign?.shell !== undefined) return change.sign.shell;
  if (signedBytes === null || signedBytes.length > LONGEST_BODY) return undefined;
  return `printf '%s' '${Buffer.from(signedBytes).toString('base64')}' | openssl base64 -d -A | ${RIGHT_SIGNATURE}`;
}

/** The argument of one header line, or null when it cannot be written without giving a credential away. */
function headerArgument(
  line: HeaderLine,
  assembled: Assembled,
  partner: Partner,
  signatureName: string,
): string | null {
  const [name, value] = line;
  // curl leaves a header out whose value is empty, but for this spelling.
  if (value.trim() === '') return `-H ${quote(`${name};`)}`;
  const isSignature = partner.signing !== undefined && sameHeaderName(name, signatureName);
  const changed = isSignature && assembled.change.sign !== undefined && assembled.change.address === undefined;
  if (changed && assembled.change.sign?.shell !== undefined) return `-H ${quote(`${name}: `)}"$SIGNATURE"`;
  // Without a recipe the value may be the right signature of some other body, which nobody may see.
  if (changed && value !== assembled.rightSignature) {
    return recipeOf(assembled) === undefined ? null : `-H ${quote(`${name}: `)}"$SIGNATURE"`;
  }
  if (!/^[ -~]*$/.test(value)) return null;
  const { word, literals } = credentialWord(name, value, assembled.rightSignature, 'SIGNATURE') ??
    credentialWord(name, value, partner.apiKey?.value, 'HOOKPROOF_API_KEY') ?? {
      word: quote(`${name}: ${value}`),
      literals: [value],
    };
  // A certificate is public, and so long that by chance it holds a piece of many a secret.
  const certificate = encodeURIComponent(clientCertificateOf(partner));
  const own = literals.map((text) => (certificate === '' ? text : text.replaceAll(certificate, '')));
  const tells = credentialsOf(assembled, partner).some((secret) => own.some((text) => mayDeriveFrom(text, secret)));
  return tells ? null : `-H ${word}`;
}

/**
 * The script, or null when curl cannot send this probe, or when it cannot be written without giving a credential away.
 * It reads HOOKPROOF_SECRET and HOOKPROOF_API_KEY from the environment, as the harness does, and the files of TLS likewise.
 */
export function curlScript(assembled: Assembled, partner: Partner): string | null {
  const { prepared, transmission, change } = assembled;
  if (transmission !== null && transmission.kind !== 'chunked') return null;
  if (prepared.body.length > LONGEST_BODY) return null;
  const { signature: signatureName } = headerNamesOf(partner);
  const credentials = credentialsOf(assembled, partner);
  const text = Buffer.from(prepared.body).toString('latin1');
  if (credentials.some((secret) => text.includes(Buffer.from(secret).toString('latin1')))) return null;
  const connection = tlsArguments(partner, change.connect);
  if (connection === null) return null;
  const { origin } = new URL(prepared.url);
  if (
    credentials.some((secret) => mayDeriveFrom(prepared.target, secret)) &&
    !new URL(prepared.url).href.endsWith(prepared.target)
  )
    return null;

  const args: string[] = [];
  for (const line of prepared.headers) {
    if (/^(host|content-length)$/i.test(line[0])) continue;
    const argument = headerArgument(line, assembled, partner, signatureName);
    if (argument === null) return null;
    args.push(argument);
  }
  if (!prepared.headers.some(([name]) => sameHeaderName(name, 'Content-Type'))) args.push("-H 'Content-Type:'");
  if (transmission !== null) args.push("-H 'Transfer-Encoding: chunked'");
  // With the headers changed as well, the variable stands for the right signature, as it does where only they are changed.
  const signing = (change.address === undefined ? recipeOf(assembled) : undefined) ?? RIGHT_SIGNATURE;
  const signed = args.some((argument) => /"\$SIGNATURE"/.test(argument));
  const used = `${signed ? signing : ''} ${args.join(' ')} ${connection.join(' ')}`;
  const variables = VARIABLES.filter((name) => used.includes(`$${name}`));
  return [
    // An unset variable would sign with an empty key, without a word.
    ...variables.map((name) => `: "\${${name}:?export it first}"`),
    'BODY=$(mktemp)',
    bodyLine(prepared.body),
    ...(signed ? [`SIGNATURE=$({ ${signing}; } < "$BODY")`] : []),
    [
      `curl -i ${AS_IT_STANDS.test(prepared.target) ? '-g --path-as-is ' : ''}-X ${prepared.method} ${quote(`${origin}${prepared.target}`)} --data-binary @"$BODY"`,
      ...connection,
      ...args,
    ].join(' \\\n  '),
  ].join('\n');
}

/** The options of curl for HTTPS and mutual TLS: files by variable, as the harness takes them from the environment. */

/** Whether curl can make such a connection: it has neither the certificates that are made for a probe nor sessions to resume. */
function isWithinReach({ clientCertificate = 'none', resumeFrom, serverName, plain }: ConnectChange): boolean {
  return clientCertificate === 'none' && resumeFrom === undefined && serverName !== false && plain !== true;
}

/** The options, or null when curl cannot connect like this. They read HOOKPROOF_CA, HOOKPROOF_CLIENT_CERT and HOOKPROOF_CLIENT_KEY as paths. */
function tlsArguments({ url, tls = {} }: Partner, change: ConnectChange | undefined): string[] | null {
  if (!url.startsWith('https:')) return change === undefined ? [] : null;
  if (change !== undefined && !isWithinReach(change)) return null;
  const presents = tls.clientCert !== undefined && change?.clientCertificate !== 'none';
  const version = change?.version?.replace('TLSv', '');
  return [
    ...(tls.ca === undefined ? [] : ['--cacert "$HOOKPROOF_CA"']),
    ...(presents ? ['--cert "$HOOKPROOF_CLIENT_CERT"', '--key "$HOOKPROOF_CLIENT_KEY"'] : []),
    ...(version === undefined ? [] : [`--tlsv${version} --tls-max ${version}`]),
    ...(change?.alpn === undefined ? [] : [change.alpn.length === 0 ? '--no-alpn' : '--http1.1']),
  ];
}
