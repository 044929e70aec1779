/** The revisions that this hookproof has, for verifying. */
import { CURRENT_REVISION, loadRevision } from './revision.ts';
import type { VerifyOptions } from './verify.ts';

export const KNOWN_REVISIONS: VerifyOptions['revisions'] = {
  current: CURRENT_REVISION,
  digestOf: (revision) => (revision > CURRENT_REVISION ? null : loadRevision(revision).digest),
};
