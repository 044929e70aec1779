/**
 * The revisions of the catalogue. A revision is the list of checks that are scored for a profile, and never changes.
 * Other checks are run and reported, but not scored, so a newer hookproof with more checks does not fail a partner who
 * has passed.
 */

import { HookproofError } from '../../contract/hookproof-error.ts';
import { readPackageFile } from '../../contract/package-file.ts';
import { currentId } from '../../scenarios/index.ts';
import { sha256 } from './canonical-json.ts';

/** The newest revision, which is the default. `npm run revision` creates the next one. */
export const CURRENT_REVISION = 2;

export interface Revision {
  readonly number: number;
  /** SHA-256 of the revision's file, in lower-case hexadecimal. */
  readonly digest: string;
  /** The date on which the revision was created, YYYY-MM-DD. */
  readonly made: string;
  /** The current ids of the scored scenarios. */
  readonly scored: ReadonlySet<string>;
}

/**
 * Revisions that can no longer be used for scoring, because their checks have changed. Their files are kept to verify
 * certificates that name them.
 */
export const RETIRED_REVISIONS: readonly number[] = [1];

/**
 * Loads a revision for scoring.
 *
 * @throws HookproofError REVISION_UNKNOWN if this version of hookproof does not have the revision, REVISION_RETIRED if
 * hookproof can no longer score by it
 */
export function loadRevision(number: number): Revision {
  if (!Number.isSafeInteger(number) || number < 1 || number > CURRENT_REVISION) {
    throw new HookproofError('REVISION_UNKNOWN', `there is no revision ${number} of the catalogue`, {
      hint: `This version of hookproof has revisions 1 to ${CURRENT_REVISION}. Update hookproof for newer revisions.`,
    });
  }
  if (RETIRED_REVISIONS.includes(number)) {
    throw new HookproofError(
      'REVISION_RETIRED',
      `revision ${number} is retired: the levels of its checks have changed`,
      {
        hint: `Use revision ${CURRENT_REVISION}, or the version of hookproof with which you used revision ${number}.`,
      },
    );
  }
  const bytes = readRevision(number);
  const { made, scenarios } = JSON.parse(bytes.toString()) as { made: string; scenarios: Record<string, string> };
  return { number, digest: sha256(bytes), made, scored: new Set(Object.keys(scenarios).map(currentId)) };
}

function readRevision(number: number): Buffer {
  const file = readPackageFile(`scenarios/revisions/${number}.json`);
  if (file !== null) return file;
  throw new HookproofError('REVISION_MISSING', `the file of revision ${number} is missing`, {
    hint: 'The installation of hookproof is incomplete: reinstall it.',
    kind: 'internal',
  });
}

/** The revisions that this version of hookproof contains, for {@link verifyCertificate}. */
export const KNOWN_REVISIONS = {
  current: CURRENT_REVISION,
  digestOf: (revision: number) => (revision > CURRENT_REVISION ? null : sha256(readRevision(revision))),
};
