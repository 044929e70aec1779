/** Resolves the scheme in which the sender signs, and the deliveries that it sends. */
import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import {
  CONTENT_TYPE,
  type HeaderLine,
  HookproofError,
  RESERVED_HEADERS,
  sameHeaderName,
  TOKEN,
} from '../../contract/index.ts';
import { FOREIGN_SCHEMES, type Scheme, type SchemeSample, signWithScheme } from '../../contract/signing/index.ts';
import { schemeLiteral } from '../../contract/signing/schemes/parse-scheme.ts';
import { nearestName } from '../nearest-name.ts';
import { type Given, givenText, givenTexts, problemWith, type Resolution, show } from './given.ts';
import { quoted } from './problems.ts';
import { MAX_CONFIG_BYTES, utf8Text, whyUnreadable } from './read-file.ts';
import { CREDENTIAL_HEADERS, refusedFile } from './secrets.ts';

const CODE = 'CONFIG_SCHEME';
const NOT_A_KEY = 'no-key-of-scheme';
const NAMES = FOREIGN_SCHEMES.map(({ name }) => name);

/** Returns the scheme; undefined for that of the specification. Problems in a literal were noted with the file. */
export function resolveScheme(resolution: Resolution): Scheme | undefined {
  const { settings, problems } = resolution;
  const given = givenText(settings, 'scheme');
  if (given !== undefined) {
    const found = FOREIGN_SCHEMES.find(({ name }) => name === given.value);
    if (found === undefined && given.value !== 'service') {
      const near = nearestName(given.value, NAMES);
      const hint = `${near === null ? '' : `Did you mean ${near}? `}Choose from service, ${NAMES.join(', ')}.`;
      problems.push(problemWith(given, `${quoted(given.value, 'the value')} is not a scheme`, hint, CODE));
    }
    show(resolution, 'scheme', given.value, given);
    return found;
  }
  const parts = [...settings].filter(([path]) => path.startsWith('scheme.'));
  if (parts.length === 0) {
    show(resolution, 'scheme', 'service', undefined);
    return undefined;
  }
  const parsed = schemeLiteral.safeParse(literalOf(parts));
  if (!parsed.success) return undefined;
  show(resolution, 'scheme', parsed.data.name, parts[0]?.[1][0]);
  return parsed.data;
}

/** Puts the flat settings of the literal together again. */
function literalOf(parts: readonly (readonly [path: string, given: readonly Given[]])[]): Record<string, unknown> {
  const literal: Record<string, unknown> = {};
  for (const [path, given] of parts) {
    const [, key = '', ...rest] = path.split('.');
    const value = ['accepts', 'rejects', 'handshakes'].includes(key) ? given.map((one) => one.value) : given[0]?.value;
    const group = literal[key] as Record<string, unknown> | undefined;
    if (rest.length === 0) literal[key] = value;
    else if (key === 'older-signatures') {
      const header = rest.slice(0, -1).join('.');
      const older = { ...(group?.[header] as object | undefined), [rest.at(-1) ?? '']: value };
      literal[key] = { ...group, [header]: older };
    } else literal[key] = { ...group, [rest.join('.')]: value };
  }
  return literal;
}

/** Notes a problem before anything is sent if the secret is not a key of the scheme. */
export function checkSecret(scheme: Scheme, secret: string, given: Given | undefined, { problems }: Resolution): void {
  try {
    signWithScheme(scheme, { body: new Uint8Array(), url: '', id: 'msg', timestamp: 0 }, [secret]);
    if (scheme.secret.encoding === 'utf8' || given === undefined) return;
    const { prefix = '' } = scheme.secret;
    const rest = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
    if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(rest)) return;
    const hint = `Copy it again: ${scheme.title} has secrets of the form ${prefix}<Base64>.`;
    problems.push(problemWith(given, `the secret is not a valid secret for ${scheme.title}`, hint, CODE, NOT_A_KEY));
  } catch (error) {
    if (!(error instanceof HookproofError) || given === undefined) throw error;
    problems.push(problemWith(given, error.message, error.hint, CODE, NOT_A_KEY));
  }
}

/** Returns the deliveries that were configured; undefined if there are none. */
export async function resolveDeliveries(
  scheme: Scheme | undefined,
  resolution: Resolution,
): Promise<readonly SchemeSample[] | undefined> {
  const given = givenTexts(resolution.settings, 'samples.deliveries');
  const [first] = given;
  if (first === undefined) return undefined;
  if (scheme === undefined) {
    const hint = 'Set `scheme`, or remove the setting: the deliveries of the specification are known.';
    resolution.problems.push(problemWith(first, 'bodies are only used with a scheme', hint, CODE));
    return undefined;
  }
  const samples: SchemeSample[] = [];
  for (const one of given) {
    for (const file of await filesOf(one, resolution)) {
      const sample = await readSample(scheme, file, one, resolution);
      if (sample !== undefined) samples.push(sample);
    }
  }
  show(resolution, 'samples.deliveries', samples.map(({ name }) => name).join(', '), first);
  return samples.length === 0 ? undefined : samples;
}

/** Returns the file, or the files in the folder except those that contain headers. */
async function filesOf(given: Given<string>, { problems }: Resolution): Promise<string[]> {
  const path = resolve(given.base, given.value);
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => extname(name) !== HEADERS && !name.startsWith('.'));
    if (names.length > 0) return names.toSorted().map((name) => join(path, name));
    problems.push(problemWith(given, 'the folder has no file', 'Save a body from the sender there.', CODE));
  } catch (error) {
    problems.push(problemWith(given, `the file ${given.value} ${whyUnreadable(error).reason}`, PATH_HINT, CODE));
  }
  return [];
}

const HEADERS = '.headers';
const PATH_HINT = 'Give a file that contains a body from the sender, or a folder of such files.';

async function readSample(
  scheme: Scheme,
  file: string,
  given: Given<string>,
  resolution: Resolution,
): Promise<SchemeSample | undefined> {
  const refuse = (what: string, hint: string) => {
    resolution.problems.push(problemWith(given, what, hint, CODE));
    return undefined;
  };
  const refused = await refusedFile(file, given.scope);
  if (refused !== null) return refuse(`must not refer to the file ${given.value}`, refused);
  const content = await resolution.readFile(file, MAX_CONFIG_BYTES);
  if (!('bytes' in content)) return refuse(`the file ${basename(file)} ${content.reason}`, PATH_HINT);
  const stem = file.slice(0, file.length - extname(file).length);
  const beside = await resolution.readFile(`${stem}${HEADERS}`, MAX_CONFIG_BYTES);
  const text = 'bytes' in beside ? utf8Text(beside.bytes) : `Content-Type: ${CONTENT_TYPE}`;
  if (text === undefined || ('missing' in beside && !beside.missing)) {
    const why = 'missing' in beside ? beside.reason : 'is not UTF-8 text';
    return refuse(`the file ${basename(stem)}${HEADERS} ${why}`, 'Write one header on each line.');
  }
  const lines = text.split(/\r?\n/);
  const headers: HeaderLine[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim();
    const place = `${basename(stem)}${HEADERS}:${at + 1}`;
    if (!TOKEN.test(name)) return refuse(`${place} is not a header line`, 'Write `Name: value`, one per line.');
    if (RESERVED_HEADERS.has(name.toLowerCase()) && name.toLowerCase() !== 'content-type') {
      return refuse(`${place} has ${name}, which is set for each request`, 'Remove the line.');
    }
    if (Object.keys({ ...scheme.headers, ...scheme.olderSignatures }).some((own) => sameHeaderName(own, name))) {
      return refuse(`${place} has ${name}, which every delivery gets from the scheme`, 'Remove the line.');
    }
    if (CREDENTIAL_HEADERS.test(name)) {
      return refuse(`${place} has ${name}, which carries credentials`, 'Set it in `headers`, as a reference.');
    }
    const value = line.slice(colon + 1).trim();
    if (/[^\t\x20-\x7e]/.test(value)) {
      return refuse(`${place} has a character that cannot be sent`, 'Use printable ASCII characters.');
    }
    headers.push([name, value]);
  }
  return { name: basename(stem), headers, body: content.bytes };
}
