/** The outputs of the action, for later steps. */
// @ts-check
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The result files, keyed by the output that contains their path. */
export const FILES = {
  report: 'report.html',
  result: 'run.json',
  junit: 'junit.xml',
  sarif: 'hookproof.sarif',
  badge: 'badge.svg',
  certificate: 'certificate.dsse.json',
};

/**
 * Returns the identity of each result file that exists. A file is never changed in place, so a new one has another
 * inode.
 *
 * @param {string} folder
 */
export function filesIn(folder) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const [output, name] of Object.entries(FILES)) {
    const facts = statSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
    if (facts?.isFile()) found[output] = `${facts.ino} ${facts.mtimeNs} ${facts.size}`;
  }
  return found;
}

/**
 * Returns the outputs of a run that ended with this exit code. Files that existed before the run are not results.
 *
 * @param {string} folder absolute; empty when nothing ran
 * @param {Record<string, string>} before what {@link filesIn} returned before the run
 * @param {number} exitCode
 * @returns {Record<string, string>}
 */
export function outputsOf(folder, before, exitCode) {
  const after = folder === '' ? {} : filesIn(folder);
  /** @type {Record<string, string>} */
  const paths = Object.fromEntries(
    Object.entries(FILES).map(([output, name]) => {
      const fresh = after[output] !== undefined && after[output] !== before[output];
      return [output, fresh ? join(folder, name) : ''];
    }),
  );
  const { result = '' } = paths;
  const { counts, partial, planned, verdict } = result === '' ? NOTHING : JSON.parse(readFileSync(result, 'utf8'));
  return {
    // A run of part of the catalogue does not prove conformance.
    verdict:
      partial && verdict === 'conformant'
        ? 'none'
        : verdict === 'nonconformant' && exitCode === 0
          ? 'known-failures'
          : verdict,
    'exit-code': String(exitCode),
    passed: String(counts.pass),
    failed: String(counts.fail),
    warned: String(counts.warn),
    inconclusive: String(counts.inconclusive),
    'not-applicable': String(counts.notApplicable),
    'harness-errors': String(counts.harnessError),
    // `judged` is the number of checks that the report calls evaluated.
    counts: JSON.stringify({ ...counts, planned, judged: counts.pass + counts.fail + counts.warn }),
    'output-dir': folder,
    ...paths,
  };
}

const NOTHING = {
  verdict: 'none',
  counts: { pass: 0, fail: 0, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 },
  planned: 0,
};

/**
 * Appends the outputs to the file from which GitHub reads them. The delimiter is random, so that no value can contain
 * it and begin another output.
 *
 * @param {string} file
 * @param {Record<string, string>} outputs
 */
export function writeOutputs(file, outputs) {
  const delimiter = `end_${randomUUID()}`;
  const blocks = Object.entries(outputs).map(([name, value]) => {
    if (value.includes(delimiter)) throw new Error(`the output ${name} contains the delimiter`);
    return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
  });
  appendFileSync(file, blocks.join(''));
}
