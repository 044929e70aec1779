/**
 * Measures the diagnosis on receivers that it has never seen: bare node:http in four styles, each with an independently
 * written fault of the dictionary, and pairs of such faults. `npm run proofs -- held-out` writes docs/diagnosis.md.
 * `--seed N` selects the styles and the pairs.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { loadDictionary } from '../../../harness/diagnose/index.ts';
import { playAll } from '../matrix/play-all.ts';
import { renderFigures } from './figures.ts';
import type { HeldOutRun } from './play.ts';
import { HELD_OUT, nameOf, pairsOf, randomOf, STYLES } from './subjects.ts';

const PAGE = new URL('../../../docs/diagnosis.md', import.meta.url);
const { values } = parseArgs({
  options: { seed: { type: 'string', default: '20261121' }, pairs: { type: 'string', default: '40' } },
});

const dictionary = await loadDictionary();
const unknown = Object.keys(HELD_OUT).filter((name) => !dictionary.faults.some((fault) => fault.name === name));
if (unknown.length > 0) throw new Error(`the dictionary has no ${unknown.join(', ')}: run npm run matrix`);

const random = randomOf(Number(values.seed));
const singles = Object.keys(HELD_OUT).map((fault) => nameOf({ faults: [fault], style: random(STYLES.length) }));
const pairs = pairsOf(dictionary, Object.keys(HELD_OUT), Number(values.pairs), random).map((faults) =>
  nameOf({ faults, style: random(STYLES.length) }),
);
const runs = await playAll<HeldOutRun>(
  [...singles, ...pairs].map((name) => ({ name })),
  {
    worker: new URL('./worker.ts', import.meta.url),
    progress: (done) => {
      if (done % 20 === 0) process.stderr.write(`${done} of ${singles.length + pairs.length}\n`);
    },
  },
);
const page = renderFigures({
  seed: Number(values.seed),
  dictionary,
  singles: runs.filter(({ name }) => singles.includes(name)),
  pairs: runs.filter(({ name }) => pairs.includes(name)),
});
writeFileSync(PAGE, page);
process.stdout.write(page);
