/** Generates a shell script that resends a captured request with curl. Credentials are variables, never values. */
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type HeaderLine,
  sameHeaderName,
  TOKEN,
} from '../../contract/index.ts';
import { quote } from '../../contract/shell-word.ts';
import { signatureHeadersOf, signatureOf } from '../../contract/signing/index.ts';
import type { Partner } from '../partner.ts';
import { bodyLine, VALID_SIGNATURE } from '../run/index.ts';
import type { CapturedRequest } from './captured-request.ts';

/** Maximum body size: with a larger one, the script would be too long to paste into a terminal. */
const MAX_BODY_BYTES = 64 * 1024;
/** Matches the names of headers that usually contain credentials. */
const CREDENTIAL_NAME = /^(?:(?:proxy-)?authorization|cookie)$|(?:^|[-_])(?:token|secret|password|passwd|key|auth)$/i;
/** Headers that curl adds itself unless they are given or removed. */
const OWN_HEADERS = ['User-Agent', 'Accept', 'Content-Type', 'Expect'];

/**
 * Returns a script that sends the same method, target, header lines and body to the host of `partner.url`; null if curl
 * cannot send the request unchanged. The lines that curl writes itself (Host, Content-Length) may be moved.
 */
export function curlForCaptured(request: CapturedRequest, partner: Partner): string | null {
  const { method, target, headers, body, httpVersion, isChunked } = request;
  if (httpVersion !== '1.1' || !TOKEN.test(method) || !/^\/[!-~]*$/.test(target)) return null;
  if (body.length > MAX_BODY_BYTES) return null;
  const variables = new Map<string, string>();
  const words: string[] = [];
  for (const line of headers) {
    const word = headerWord(line, request, partner, variables);
    if (word === null) return null;
    if (word !== '') words.push(`-H ${word}`);
  }
  const missing = OWN_HEADERS.filter((name) => !headers.some(([other]) => sameHeaderName(other, name)));
  words.push(...missing.map((name) => `-H '${name}:'`));
  if (!isChunked && !headers.some(([name]) => sameHeaderName(name, 'Content-Length'))) return null;
  const { origin } = new URL(partner.url);
  return [
    ...[...variables].filter(([, value]) => value === '').map(([name]) => `: "\${${name}:?export it first}"`),
    'BODY=$(mktemp)',
    bodyLine(body),
    ...[...variables].filter(([, value]) => value !== '').map(([name, value]) => `${name}=${value}`),
    [`curl -i -g --path-as-is -X ${method} ${quote(origin + target)} --data-binary @"$BODY"`, ...words].join(' \\\n  '),
    '',
  ].join('\n');
}

/** Returns a header line as a shell word; empty if curl writes the line itself, null if it cannot send it. */
function headerWord(
  [name, value]: HeaderLine,
  { headers, body }: CapturedRequest,
  { signing, apiKey }: Partner,
  variables: Map<string, string>,
): string | null {
  if (!TOKEN.test(name) || !/^[ -~]*$/.test(value)) return null;
  if (sameHeaderName(name, 'Content-Length')) return '';
  const isRepeated = headers.filter(([other]) => sameHeaderName(other, name)).length > 1;
  if (sameHeaderName(name, 'Host') && isRepeated) return null;
  if (value === '') return quote(`${name};`);
  const { scheme } = signing ?? {};
  if (scheme !== undefined && signatureHeadersOf(scheme).some((one) => sameHeaderName(name, one))) {
    return withVariable(name, receivedVariable(name), variables);
  }
  if (sameHeaderName(name, signing?.header ?? DEFAULT_SIGNATURE_HEADER)) {
    const isCorrect = signing !== undefined && value === signatureOf(body, signing.secret);
    if (isCorrect) {
      variables.set('HOOKPROOF_SECRET', '');
      variables.set('SIGNATURE', `$({ ${VALID_SIGNATURE}; } < "$BODY")`);
      return `${quote(`${name}: `)}"$SIGNATURE"`;
    }
    return withVariable(name, 'RECEIVED_SIGNATURE', variables);
  }
  if (sameHeaderName(name, apiKey?.header ?? DEFAULT_API_KEY_HEADER)) {
    return withVariable(name, value === apiKey?.value ? 'HOOKPROOF_API_KEY' : 'RECEIVED_API_KEY', variables);
  }
  if (CREDENTIAL_NAME.test(name)) {
    return withVariable(name, receivedVariable(name), variables);
  }
  const holds = [signing?.secret, apiKey?.value].some((secret) => secret !== undefined && value.includes(secret));
  return holds ? null : quote(`${name}: ${value}`);
}

const receivedVariable = (name: string) => `RECEIVED_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;

function withVariable(name: string, variable: string, variables: Map<string, string>): string {
  variables.set(variable, '');
  return `${quote(`${name}: `)}"$${variable}"`;
}
