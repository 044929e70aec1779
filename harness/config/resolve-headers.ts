/** Custom headers: from `--header 'Name: value'` and from the map in the configuration file. */
import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import { type Given, givenTexts, problemWith } from './given.ts';
import { readReference } from './read-secret.ts';
import { HOW_TO_REFER, splitReferences } from './references.ts';
import { type Resolution, redacted, show } from './resolution.ts';

/** A header line with the place that it came from. */
export interface PlacedHeader {
  readonly line: HeaderLine;
  readonly given: Given<string>;
}

interface GivenHeader {
  readonly name: string;
  readonly value: string;
  readonly given: Given<string>;
}

/** Headers that carry credentials by definition: their value comes by reference only. */
const CREDENTIALS = /^(?:authorization|proxy-authorization|cookie)$/i;

/**
 * The header lines, those of the configuration file first. A flag replaces the header of the same name in the file.
 * `${env:NAME}` and `${file:PATH}` stand anywhere in a value; a value that has one is a secret from then on.
 */
export async function resolveHeaders(resolution: Resolution): Promise<PlacedHeader[]> {
  const flags = givenTexts(resolution.settings, 'headers').flatMap((given) => parseFlag(given, resolution));
  const kept = fileHeaders(resolution).filter(({ name }) => !flags.some((flag) => sameHeaderName(flag.name, name)));
  const lines: PlacedHeader[] = [];
  for (const header of [...kept, ...flags]) {
    const value = await resolveValue(header, resolution);
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

function parseFlag(given: Given<string>, { problems }: Resolution): GivenHeader[] {
  const colon = given.value.indexOf(':');
  if (colon > 0) {
    return [{ name: given.value.slice(0, colon).trim(), value: given.value.slice(colon + 1).trim(), given }];
  }
  problems.push(problemWith(given, 'a header has the form "Name: value"', "For example: --header 'X-Tenant: acme'."));
  return [];
}

async function resolveValue({ name, value, given }: GivenHeader, resolution: Resolution): Promise<string | undefined> {
  const path = `headers.${name}`;
  const pieces = splitReferences(value);
  if (pieces === undefined) {
    resolution.problems.push(
      problemWith(given, `the value of ${headerName(name)} has a broken reference`, HOW_TO_REFER),
    );
    return undefined;
  }
  const secret = pieces.some((piece) => typeof piece !== 'string');
  if (!secret && CREDENTIALS.test(name)) {
    const what = `${headerName(name)} carries credentials, which are not written here`;
    resolution.problems.push(problemWith(given, what, HOW_TO_REFER, 'CONFIG_LITERAL_SECRET'));
    return undefined;
  }
  let text = '';
  for (const piece of pieces) {
    const part = typeof piece === 'string' ? piece : await readReference(piece, given, 'value', resolution);
    if (part === undefined) return undefined;
    if (typeof piece !== 'string') resolution.secrets.push(part);
    text += part;
  }
  show(resolution, path, secret ? redacted(text) : text, given);
  return text;
}

/** The name when it can be one; a mistaken value is not shown as a name. */
function headerName(name: string): string {
  return /^[A-Za-z][\w-]{0,39}$/.test(name) ? name : 'the header';
}
