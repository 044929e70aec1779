/** The partner of a run. Specification: Authentication. */
import { DEFAULT_API_KEY_HEADER, DEFAULT_SIGNATURE_HEADER } from '../../contract/index.ts';
import type { Partner } from '../partner.ts';
import { checkPlaced } from './check-placed.ts';
import { type Given, givenText, problemWith } from './given.ts';
import { readSecret } from './read-secret.ts';
import { type Resolution, redacted, show } from './resolution.ts';
import { resolveHeaders } from './resolve-headers.ts';
import { resolveTls } from './resolve-tls.ts';
import type { SettingPath } from './settings.ts';

/**
 * Builds the partner and has the sender core check it. A secret turns HMAC on, an API key turns the API key header on.
 * undefined when there is no usable URL; the problem is noted, unless the configuration file could not be read (`fileBroken`).
 */
export async function resolvePartner(resolution: Resolution, fileBroken: boolean): Promise<Partner | undefined> {
  const url = resolveUrl(resolution, fileBroken);
  const signing = await credential(resolution, 'hmac.secret', 'hmac.header', 'secret', DEFAULT_SIGNATURE_HEADER);
  const apiKey = await credential(resolution, 'api-key.value', 'api-key.header', 'API key', DEFAULT_API_KEY_HEADER);
  const headers = await resolveHeaders(resolution);
  const tls = await resolveTls(resolution);
  if (url === undefined) return undefined;
  const partner: Partner = {
    url,
    ...(signing && { signing: { secret: signing.value, header: signing.header } }),
    ...(apiKey && { apiKey }),
    ...(headers.length > 0 && { headers: headers.map(({ line }) => line) }),
    ...(tls && { tls }),
  };
  checkPlaced(partner, headers, resolution);
  return partner;
}

function resolveUrl(resolution: Resolution, fileBroken: boolean): string | undefined {
  const { settings, problems } = resolution;
  const given = givenText(settings, 'url');
  if (given === undefined) {
    if (fileBroken || resolution.attempted.has('url')) return undefined;
    const hint = 'Give it as `hookproof run URL`, as HOOKPROOF_URL, or as url in hookproof.yaml.';
    problems.push({ code: 'CONFIG_URL_MISSING', message: 'there is no URL to run against', hint });
    return undefined;
  }
  const url = URL.canParse(given.value) ? new URL(given.value) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    problems.push(problemWith(given, 'is not an http or https URL', 'For example https://partner.example/webhooks.'));
    return undefined;
  }
  // A URL with credentials in it is not shown in the end: the sender core refuses it.
  show(resolution, 'url', given.value, given);
  return given.value;
}

async function credential(
  resolution: Resolution,
  valuePath: SettingPath,
  headerPath: SettingPath,
  noun: string,
  defaultHeader: string,
): Promise<{ value: string; header: string } | undefined> {
  const given = givenText(resolution.settings, valuePath);
  const givenHeader = givenText(resolution.settings, headerPath);
  const value = given && (await readSecret(given, noun, resolution));
  const header = givenHeader?.value ?? defaultHeader;
  show(resolution, valuePath, value === undefined ? 'not set' : redacted(value), given);
  show(resolution, headerPath, header, givenHeader);
  if (givenHeader !== undefined && !resolution.attempted.has(valuePath)) {
    resolution.advice.push(withoutValue(givenHeader, noun));
  }
  return value === undefined ? undefined : { value, header };
}

function withoutValue(given: Given<string>, noun: string): string {
  return `${given.where}: a header is named, but no ${noun} is configured, so the header is not sent.`;
}
