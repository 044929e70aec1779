/**
 * The revisions of the catalogue: which scenarios are scored for a profile. A revision never changes once it is made, so that a newer hookproof,
 * which has more scenarios, does not turn a partner red who was green: what the revision does not name is judged, told, and not scored.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { HookproofError } from '../../contract/hookproof-error.ts';

/** The newest revision; what is scored unless an older one is asked for. `npm run revision` makes the next. */
export const CURRENT_REVISION = 1;

export interface Revision {
  readonly number: number;
  /** SHA-256 of its file, lower-case hexadecimal. */
  readonly digest: string;
  /** The day on which it was made, YYYY-MM-DD. */
  readonly made: string;
  /** The ids of the scored scenarios. */
  readonly scored: ReadonlySet<string>;
}

/** Where the files are, seen from the sources and the bundled program, and from the compiled library. They are read when they are needed. */
const PLACES = ['../../scenarios/revisions/', '../../../scenarios/revisions/'];

/** Throws {@link HookproofError} `REVISION_UNKNOWN` for one that this hookproof does not have. */
export function loadRevision(number: number): Revision {
  if (!Number.isSafeInteger(number) || number < 1 || number > CURRENT_REVISION) {
    throw new HookproofError('REVISION_UNKNOWN', `there is no revision ${number} of the catalogue`, {
      hint: `This hookproof knows revision ${CURRENT_REVISION === 1 ? '1' : `1 to ${CURRENT_REVISION}`}. A newer one may know more.`,
    });
  }
  const bytes = readRevision(number);
  const { made, scenarios } = JSON.parse(bytes.toString()) as { made: string; scenarios: Record<string, string> };
  return {
    number,
    digest: createHash('sha256').update(bytes).digest('hex'),
    made,
    scored: new Set(Object.keys(scenarios)),
  };
}

function readRevision(number: number): Buffer {
  for (const place of PLACES) {
    try {
      return readFileSync(new URL(`${place}${number}.json`, import.meta.url));
    } catch {
      // The next place.
    }
  }
  throw new HookproofError('REVISION_MISSING', `the file of revision ${number} is not there`, {
    hint: 'The installation of hookproof is not whole: install it again.',
    kind: 'internal',
  });
}

/** The revisions that this hookproof has, for {@link verifyCertificate}. */
export const KNOWN_REVISIONS = {
  current: CURRENT_REVISION,
  digestOf: (revision: number) => (revision > CURRENT_REVISION ? null : loadRevision(revision).digest),
};
