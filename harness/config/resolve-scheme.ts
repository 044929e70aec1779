/** Resolves the scheme in which the sender signs, and the deliveries that it sends. */
import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { CONTENT_TYPE, type HeaderLine, HookproofError, RESERVED_HEADERS, TOKEN } from '../../contract/index.ts';
import { FOREIGN_SCHEMES, type Scheme, type SchemeSample, signWithScheme } from '../../contract/signing/index.ts';
import { schemeLiteral } from '../../contract/signing/schemes/parse-scheme.ts';
import { nearestName } from '../nearest-name.ts';
import { type Given, givenText, givenTexts, problemWith, type Resolution, show } from './given.ts';
import { quoted } from './problems.ts';
import { MAX_CONFIG_BYTES, utf8Text, whyUnreadable } from './read-file.ts';
import { refusedFile } from './secrets.ts';

const CODE = 'CONFIG_SCHEME';
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
    const value = ['accepts', 'rejects'].includes(key) ? given.map((one) => one.value) : given[0]?.value;
    if (rest.length === 0) literal[key] = value;
    else literal[key] = { ...(literal[key] as Record<string, unknown> | undefined), [rest.join('.')]: value };
  }
  return literal;
}

/** Notes that the secret is not a key of the scheme, before anything is sent. */
export function checkSecret(scheme: Scheme, secret: string, given: Given | undefined, { problems }: Resolution): void {
  try {
    signWithScheme(scheme, { body: new Uint8Array(), url: '', id: 'msg', timestamp: 0 }, [secret]);
    if (scheme.secret.encoding === 'utf8' || given === undefined) return;
    const { prefix = '' } = scheme.secret;
    const rest = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
    if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(rest)) return;
    const hint = `Copy it again: ${scheme.title} has secrets of the form ${prefix}<Base64>.`;
    problems.push(problemWith(given, `the secret is not one of ${scheme.title}`, hint, CODE));
  } catch (error) {
    if (!(error instanceof HookproofError) || given === undefined) throw error;
    problems.push(problemWith(given, error.message, error.hint, CODE));
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
      const sample = await readSample(file, one, resolution);
      if (sample !== undefined) samples.push(sample);
    }
  }
  show(resolution, 'samples.deliveries', samples.map(({ name }) => name).join(', '), first);
  return samples.length === 0 ? undefined : samples;
}

/** Returns the file, or the files in the folder, without those of headers. */
async function filesOf(given: Given<string>, { problems }: Resolution): Promise<string[]> {
  const path = resolve(given.base, given.value);
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => extname(name) !== HEADERS && !name.startsWith('.'));
    if (names.length > 0) return names.toSorted().map((name) => join(path, name));
    problems.push(problemWith(given, 'the folder has no file', 'Save a body of the sender there.', CODE));
  } catch (error) {
    problems.push(problemWith(given, `the file ${given.value} ${whyUnreadable(error).reason}`, PATH_HINT, CODE));
  }
  return [];
}

const HEADERS = '.headers';
const PATH_HINT = 'Give a file that is a body of the sender, or a folder of such files.';

async function readSample(
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
  const lines = 'bytes' in beside ? (utf8Text(beside.bytes) ?? '').split(/\r?\n/) : [`Content-Type: ${CONTENT_TYPE}`];
  const headers: HeaderLine[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim();
    const place = `${basename(stem)}${HEADERS}:${at + 1}`;
    if (!TOKEN.test(name)) return refuse(`${place} is not a header line`, 'Write `Name: value`, one per line.');
    if (RESERVED_HEADERS.has(name.toLowerCase()) && name.toLowerCase() !== 'content-type') {
      return refuse(`${place} has ${name}, which every request has for itself`, 'Remove the line.');
    }
    headers.push([name, line.slice(colon + 1).trim()]);
  }
  return { name: basename(stem), headers, body: content.bytes };
}
