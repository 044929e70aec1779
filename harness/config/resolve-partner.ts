/** Resolves the partner of a run: URL, credentials, custom headers, TLS. Specification: Authentication. */

import { type HeaderLine, HookproofError, sameHeaderName } from '../../contract/index.ts';
import { maskUrl, secretsInUrl } from '../../contract/masked-url.ts';
import type { Scheme } from '../../contract/signing/index.ts';
import type { KnownSamples, SampleKind } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { checkPartner, PartnerHeaderError } from '../sender/index.ts';
import { type Given, givenText, givenTexts, problemWith, type Resolution, redacted, show } from './given.ts';
import { type Advice, type Problem, quoted } from './problems.ts';
import { checkSecret, resolveDeliveries, resolveScheme } from './resolve-scheme.ts';
import { CREDENTIAL_HEADERS, REFERENCE_HINT, readReference, readSecret, splitReferences } from './secrets.ts';
import { defaultText, SETTINGS, type SettingPath, settingAt } from './settings.ts';
import { resolveTls, type TlsMaterial } from './tls-material.ts';
import { jsonOr } from './values.ts';

/** The settings of the partner that could be read, even if they are not sufficient for a run. */
export interface PartnerReading {
  /** The partner; undefined if there is no usable URL. */
  readonly partner: Partner | undefined;
  readonly url: string | undefined;
  readonly secret: string | undefined;
  readonly apiKey: string | undefined;
  readonly material: TlsMaterial;
}

/**
 * Builds the partner, and has the sender core check it. A secret enables HMAC signatures, an API key enables the API
 * key header. A missing URL is noted unless part of the configuration file was not read (`complete` is false).
 */
export async function resolvePartner(resolution: Resolution, complete: boolean): Promise<PartnerReading> {
  const url = resolveUrl(resolution, complete);
  const scheme = resolveScheme(resolution);
  const signing = await credential(resolution, 'hmac.secret', 'hmac.header');
  const apiKey = await credential(resolution, 'api-key.value', 'api-key.header');
  const headers = await resolveHeaders(resolution);
  if (scheme !== undefined && apiKey !== undefined && !resolution.attempted.has('hmac.secret')) {
    const message = `the scheme ${scheme.name} signs each delivery, but no secret is configured`;
    const hint = 'Set HOOKPROOF_SECRET or `hmac.secret`, or remove the scheme.';
    resolution.problems.push({ code: 'CONFIG_SCHEME', path: 'hmac.secret', reason: 'missing', message, hint });
  }
  const known = resolveSamples(resolution);
  const deliveries = await resolveDeliveries(scheme, resolution);
  const { tls, material } = await resolveTls(resolution);
  const read = { url, secret: signing?.value, apiKey: apiKey?.value, material };
  if (url === undefined) return { ...read, partner: undefined };
  const partner: Partner = {
    url,
    ...(signing && { signing: signingOf(signing, scheme, resolution) }),
    ...(apiKey && { apiKey }),
    ...(headers.length > 0 && { headers: headers.map(({ line }) => line) }),
    ...(known && { samples: known }),
    ...(deliveries && { deliveries }),
    ...(tls && { tls }),
  };
  checkParts(partner, headers, resolution);
  return { ...read, partner };
}

/** Returns how deliveries are signed. A scheme names its own headers. */
function signingOf(
  { value, header }: { readonly value: string; readonly header: string },
  scheme: Scheme | undefined,
  resolution: Resolution,
): NonNullable<Partner['signing']> {
  if (scheme === undefined) return { secret: value, header };
  const given = givenText(resolution.settings, 'hmac.header');
  if (given !== undefined) {
    const what = `cannot be set, because the scheme ${scheme.name} names its headers`;
    resolution.problems.push(problemWith(given, what, 'Remove it, or define a scheme of your own.', 'CONFIG_SCHEME'));
  }
  checkSecret(scheme, value, givenText(resolution.settings, 'hmac.secret'), resolution);
  return { secret: value, scheme };
}

function resolveUrl(resolution: Resolution, complete: boolean): string | undefined {
  const { settings, problems } = resolution;
  const given = givenText(settings, 'url');
  if (given === undefined) {
    if (!complete || resolution.attempted.has('url')) return undefined;
    const hint = 'Give it as an argument of the command, as HOOKPROOF_URL, or as `url` in hookproof.yaml.';
    const message = 'no endpoint URL was given';
    problems.push({ code: 'CONFIG_URL_MISSING', path: 'url', reason: 'missing', message, hint });
    return undefined;
  }
  const url = URL.canParse(given.value) ? new URL(given.value) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    const hint = 'Begin with http:// or https://, for example https://partner.example/webhooks.';
    problems.push(problemWith(given, `${quoted(given.value, 'the value')} is not an http or https URL`, hint));
    return undefined;
  }
  // A URL with credentials is never shown: the sender core rejects it.
  resolution.secrets.push(...secretsInUrl(given.value));
  show(resolution, 'url', maskUrl(given.value), given);
  return given.value;
}

async function credential(
  resolution: Resolution,
  valuePath: 'hmac.secret' | 'api-key.value',
  headerPath: SettingPath,
): Promise<{ value: string; header: string } | undefined> {
  const setting = settingAt(valuePath);
  const noun = 'noun' in setting ? setting.noun : 'secret';
  const given = givenText(resolution.settings, valuePath);
  const givenHeader = givenText(resolution.settings, headerPath);
  const value = given && (await readSecret(given, noun, resolution));
  const header = givenHeader?.value ?? defaultText(settingAt(headerPath)) ?? '';
  show(resolution, valuePath, value === undefined ? 'not set' : redacted(value), given);
  show(resolution, headerPath, header, givenHeader);
  if (givenHeader !== undefined && !resolution.attempted.has(valuePath)) {
    const message = `${givenHeader.where}: the header is not sent, because no ${noun} is configured.`;
    resolution.advice.push({ path: headerPath, reason: 'header-unused', message, hint: '' });
  }
  return value === undefined ? undefined : { value, header };
}

/** Returns the ids that the partner knows and the fields that its receiver needs; undefined if none are configured. */
function resolveSamples(resolution: Resolution): KnownSamples | undefined {
  const { settings } = resolution;
  const ids: Partial<Record<SampleKind, readonly string[]>> = {};
  for (const setting of SETTINGS) {
    if (setting.type !== 'ids') continue;
    const given = givenTexts(settings, setting.path);
    if (given.length === 0) continue;
    ids[setting.kind] = given.map(({ value }) => value);
    show(resolution, setting.path, given.map(({ value }) => value).join(', '), given[0]);
  }
  const fields = givenTexts(settings, 'samples.fields').flatMap((given) => parseField(given, resolution));
  return fields.length === 0 && Object.keys(ids).length === 0 ? undefined : { ids, fields };
}

/** Matches `path=value`: the path starts at the envelope, and the value is JSON or text. */
const FIELD = /^(\w[\w-]*(?:\.[\w-]+)*)=(.*)$/s;

/** The top-level fields of a notification in the specification. */
const ENVELOPE = ['id', 'type', 'at', 'data'];

function parseField(given: Given<string>, resolution: Resolution): KnownSamples['fields'] {
  const [, path, value] = FIELD.exec(given.value) ?? [];
  if (path === undefined || value === undefined || ENVELOPE.includes(path)) {
    const hint = 'Write the path of a field that the specification does not define, and a value: `data.tenant=acme`.';
    resolution.problems.push(problemWith(given, 'is not an additional field', hint));
    return [];
  }
  show(resolution, `samples.fields.${path}`, value, given);
  return [[path, jsonOr(value)]];
}

/** A header line with its source. */
interface PlacedHeader {
  readonly line: HeaderLine;
  readonly given: Given<string>;
}

interface GivenHeader {
  readonly name: string;
  readonly value: string;
  readonly given: Given<string>;
}

/**
 * Returns the header lines, those of the configuration file first. A flag replaces the file's header with the same
 * name. `${env:NAME}` and `${file:PATH}` may appear anywhere in a value, and make the whole value a secret.
 */
async function resolveHeaders(resolution: Resolution): Promise<PlacedHeader[]> {
  const flags = givenTexts(resolution.settings, 'headers').flatMap((given) => parseHeaderFlag(given, resolution));
  const kept = fileHeaders(resolution).filter(({ name }) => !flags.some((flag) => sameHeaderName(flag.name, name)));
  const lines: PlacedHeader[] = [];
  for (const header of [...kept, ...flags]) {
    const value = await resolveHeaderValue(header, resolution);
    if (value !== undefined) lines.push({ line: [header.name, value], given: header.given });
  }
  return lines;
}

function fileHeaders({ settings }: Resolution): GivenHeader[] {
  return [...settings].flatMap(([path, [given]]) => {
    if (!path.startsWith('headers.') || given === undefined || typeof given.value !== 'string') return [];
    return [{ name: path.slice('headers.'.length), value: given.value, given: { ...given, value: given.value } }];
  });
}

function parseHeaderFlag(given: Given<string>, { problems }: Resolution): GivenHeader[] {
  const colon = given.value.indexOf(':');
  if (colon > 0) {
    return [{ name: given.value.slice(0, colon).trim(), value: given.value.slice(colon + 1).trim(), given }];
  }
  const hint = "Write name, colon and value: `--header 'X-Tenant: acme'`.";
  problems.push(problemWith(given, 'is not a header line', hint));
  return [];
}

async function resolveHeaderValue(
  { name, value, given }: GivenHeader,
  resolution: Resolution,
): Promise<string | undefined> {
  // A text that is not a valid name may be a misplaced value, so it is not shown.
  const shownName = /^[A-Za-z][\w-]{0,39}$/.test(name) ? name : 'the header';
  const pieces = splitReferences(value);
  if (pieces === undefined) {
    const what = `the value of ${shownName} contains an invalid reference`;
    resolution.problems.push(problemWith(given, what, REFERENCE_HINT));
    return undefined;
  }
  const secret = pieces.some((piece) => typeof piece !== 'string');
  if (!secret && CREDENTIAL_HEADERS.test(name)) {
    const what = `${shownName} carries credentials, which must be given by reference`;
    resolution.problems.push(problemWith(given, what, REFERENCE_HINT, 'CONFIG_LITERAL_SECRET'));
    return undefined;
  }
  let text = '';
  for (const piece of pieces) {
    const part = typeof piece === 'string' ? piece : await readReference(piece, given, 'value', resolution);
    if (part === undefined) return undefined;
    if (typeof piece !== 'string') resolution.secrets.push(part);
    text += part;
  }
  show(resolution, `headers.${name}`, secret ? redacted(text) : text, given);
  return text;
}

/** Placeholders for required parts, so that each part can be checked separately. */
const NEUTRAL_URL = 'https://partner.example/';
const NEUTRAL_VALUE = 'x';

/**
 * Notes everything that the sender core would reject, at the setting that causes it, and passes on the sender core's
 * advice.
 */
function checkParts(partner: Partner, headers: readonly PlacedHeader[], resolution: Resolution): void {
  const problems = partsOf(partner, headers, resolution).flatMap(([given, part]) => {
    const refused = rejectionOf({ url: NEUTRAL_URL, ...part });
    return refused === null || given === undefined ? [] : problemOf(refused, given);
  });
  // Valid parts can still conflict. Invalid parts have already been noted.
  const clash = problems.length === 0 ? rejectionOf(partner, resolution.advice) : null;
  resolution.problems.push(...problems, ...(clash === null ? [] : [problemOf(clash, undefined)]));
}

/** Returns one partner per setting, each with only that setting. TLS material has already been checked. */
function partsOf(
  { url, signing, apiKey }: Partner,
  headers: readonly PlacedHeader[],
  { settings }: Resolution,
): (readonly [given: Given | undefined, part: Partial<Partner>])[] {
  const signatureHeader = signing?.header;
  const apiKeyHeader = apiKey?.header;
  return [
    [givenText(settings, 'url'), { url }],
    [
      givenText(settings, 'hmac.header'),
      signatureHeader === undefined ? {} : { signing: { secret: NEUTRAL_VALUE, header: signatureHeader } },
    ],
    [
      givenText(settings, 'api-key.header'),
      apiKeyHeader === undefined ? {} : { apiKey: { value: NEUTRAL_VALUE, header: apiKeyHeader } },
    ],
    [givenText(settings, 'api-key.value'), apiKey === undefined ? {} : { apiKey: { value: apiKey.value } }],
    ...headers.map(({ given, line }) => [given, { headers: [line] }] as const),
  ];
}

/**
 * Returns why the sender core rejects a partner. If it accepts the partner, adds its advice to `advice` and returns
 * null.
 */
function rejectionOf(partner: Partner, advice: Advice[] = []): HookproofError | null {
  try {
    const checked = checkPartner(partner);
    advice.push(...checked.advice.map((message) => ({ path: null, reason: 'sender', message, hint: '' })));
    return null;
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    return error;
  }
}

/**
 * Creates a problem at the setting that causes it. If no setting is known, the sender core's message names the
 * settings.
 */
function problemOf(error: HookproofError, given: Given | undefined): Problem {
  const { code, hint } = error;
  if (given === undefined) return { code, path: null, reason: null, message: error.message, hint };
  const isHeader = error instanceof PartnerHeaderError;
  const text = isHeader ? error.messageFor(error.header.role === 'custom' ? 'the header' : undefined) : error.message;
  return { ...problemWith(given, text, hint, code), reason: null };
}
