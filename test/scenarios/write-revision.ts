/**
 * Creates the next revision, which scores every scenario of the catalogue. Run by `npm run revision`. It never
 * overwrites a revision.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { CATALOGUE } from '../../scenarios/index.ts';
import { type RevisionFile, revisionOf, revisionText } from './revision-file.ts';

const FOLDER = new URL('../../scenarios/revisions/', import.meta.url);
const fileOf = (revision: number) => new URL(`${revision}.json`, FOLDER);

let last = 0;
while (existsSync(fileOf(last + 1))) last += 1;
const catalogue = CATALOGUE.flatMap(({ scenarios }) => scenarios);
const next = revisionOf(last + 1, new Date().toISOString().slice(0, 10), catalogue);
const before = last === 0 ? null : (JSON.parse(readFileSync(fileOf(last), 'utf8')) as RevisionFile);
if (before !== null && JSON.stringify(before.scenarios) === JSON.stringify(next.scenarios)) {
  process.stderr.write(`revision ${last} already matches the catalogue: no new revision is needed\n`);
  process.exitCode = 1;
} else {
  const text = revisionText(next);
  writeFileSync(fileOf(next.revision), text, { flag: 'wx' });
  const added = Object.keys(next.scenarios).filter((id) => before?.scenarios[id] === undefined);
  process.stdout.write(
    [
      `wrote scenarios/revisions/${next.revision}.json: ${Object.keys(next.scenarios).length} scenarios are ` +
        `scored, ${added.length} of them for the first time`,
      `Set CURRENT_REVISION in harness/certify/revision.ts to ${next.revision}, and write its sha256 into ` +
        `test/scenarios/revisions.test.ts:`,
      `  ${createHash('sha256').update(text).digest('hex')}`,
      '',
    ].join('\n'),
  );
}
