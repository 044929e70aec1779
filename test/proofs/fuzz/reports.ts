/** Foreign result documents that are rendered again: `report`, `report --merge`, `certify merge`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { HookproofError } from '../../../contract/index.ts';
import { readFleet } from '../../../harness/cli/certify/fleet-folder.ts';
import { readSavedRun } from '../../../harness/cli/saved-run.ts';
import { mergeFleets } from '../../../harness/fleet.ts';
import { recordOfPartner, standingsOf } from '../../../harness/register/index.ts';
import {
  createRedactor,
  defuse,
  renderFleetCsv,
  renderFleetHtml,
  writeReports,
} from '../../../harness/report/index.ts';
import { REPORTER_NAMES } from '../../../harness/report/reporters.ts';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { isScored, runVerdict, tally } from '../../../harness/report/verdict.ts';
import { joinShards } from '../../../harness/run/index.ts';
import { fleetWith, partnerWith, viewWith } from '../../harness/fleet/documents.ts';
import { HOSTILE, hostileDocuments } from '../../harness/report/html/hostile-documents.ts';
import { readPage } from '../../harness/report/html/strict-html.ts';
import { parseXml } from '../../setup/parse-xml.ts';
import { checkPrinted, RENDERINGS } from '../hostile/renderings.ts';
import { edited, editedJson, type FuzzTarget, fuzzTarget, must, printable, settled } from './target.ts';

/** Texts that break out of CI logs, spreadsheets and XML. */
const MORE_HOSTILE = [
  '\n::error title=forged::x',
  '\n::add-mask::x',
  '\n##[error]x',
  '::stop-commands::x',
  '=HYPERLINK("https://evil.example")',
  ']]><x/>',
  '&evil;',
  '__proto__',
];

/** Repeated texts that may make regular expressions backtrack. */
const LONG = ['\r', '\n\t', ' ', '\u2028', '##', ':', '`', '<'].map((text) => text.repeat(50_000));

/**
 * Makes the fields that {@link readSavedRun} compares with the results consistent, so that the document is not rejected
 * for them alone.
 */
function consistent(document: ResultDocument): ResultDocument {
  const results = document.results.filter(({ id }, at, all) => all.findIndex((one) => one.id === id) === at);
  const whole = { ...document, results, counts: tally(results), judged: results.length };
  return {
    ...whole,
    startedAt: '2026-11-21T10:00:00.000Z',
    planned: Math.max(document.planned, results.length),
    shard: document.shard && { index: 1, of: document.shard.of },
    verdict: runVerdict(tally(results.filter((result) => isScored(whole, result))), document.strict),
    results: document.baseline === null ? results.map((result) => ({ ...result, known: null })) : results,
  };
}

/** Returns the document with a long text in one place. */
function withLong(document: ResultDocument, text: string): ResultDocument {
  const [first, ...others] = document.results;
  return first === undefined ? document : { ...document, results: [{ ...first, reason: text }, ...others] };
}

/** Matches the beginnings of the runner commands that the reporter `github` writes. */
const OWN_COMMAND = /^::(?:(?:error|warning|notice) title=[^:,\n]*::|group::.*\(\d+ checks?\)$|endgroup::$)/;

function checkGithub(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  const commands = lines.filter((line) => /^\s*::[^:]+::|##\[/.test(line));
  const foreign = commands.find((line) => !OWN_COMMAND.test(line) || line.startsWith('::error title=forged'));
  return foreign === undefined ? [] : [`a command that the document wrote: ${foreign.slice(0, 80)}`];
}

function checkTagless(text: string): string[] {
  const tags = text.replace(/(`+)[\s\S]*?\1/g, '').match(/<[^>]*>?/g) ?? [];
  return tags.filter((tag) => !/^<\/?(?:details|summary)>$/.test(tag)).map((tag) => `contains ${tag.slice(0, 80)}`);
}

/** Checks the JUnit report. Scripts in a document may contain tabs. */
function checkJunit(text: string): void {
  parseXml(text);
  const [violation] = checkPrinted(text.replaceAll('\t', ' '));
  must(violation === undefined, violation ?? '');
}

function throwing(check: (text: string) => unknown): (text: string) => string[] {
  return (text) => {
    check(text);
    return [];
  };
}

const CHECKS: Readonly<Record<string, (text: string) => string[] | Promise<string[]>>> = {
  ...Object.fromEntries(RENDERINGS.map(({ reporter, check }) => [reporter, check])),
  // A runner of GitHub Actions reads the text in this form.
  human: (text) => checkPrinted(defuse(text)),
  junit: throwing(checkJunit),
  html: throwing(readPage),
  badge: throwing(parseXml),
  sarif: (text) => [...throwing(JSON.parse)(text), ...checkPrinted(text)],
  ctrf: (text) => [...throwing(JSON.parse)(text), ...checkPrinted(text)],
  github: checkGithub,
};

async function checkReports(document: ResultDocument, folder: string): Promise<void> {
  const reporters = REPORTER_NAMES.map((name) => ({ name, file: join(folder, name) }));
  const summaryFile = join(folder, 'summary');
  rmSync(summaryFile, { force: true });
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done() });
  const options = { stdout, cwd: folder, redactor: createRedactor({ values: [] }), summaryFile };
  const written = await writeReports(document, reporters, options);
  for (const { name, path } of written) await mustKeep(name, readFileSync(path, 'utf8'));
  must(checkTagless(readFileSync(summaryFile, 'utf8')).length === 0, 'the job summary has foreign markup');
}

async function mustKeep(name: string, text: string): Promise<void> {
  const check = CHECKS[name];
  if (check === undefined) throw new Error(`no check for the reporter ${name}`);
  const violations = await check(text);
  must(violations.length === 0, `${name}: ${violations.join('; ')}`);
}

const report = fuzzTarget(
  {
    name: 'report',
    shows: 'run.json of others: a usage error, or reports in every format without foreign markup or commands',
    shortRuns: 25,
  },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookproof-fuzz-'));
    const file = join(folder, 'given.json');
    const documents = (await hostileDocuments(MORE_HOSTILE)).map(consistent);
    const bytesOf = (value: unknown) => printable(Buffer.from(JSON.stringify(value) ?? ''));
    return {
      input: fc.oneof(
        { weight: 8, arbitrary: documents.map(bytesOf) },
        {
          weight: 1,
          arbitrary: fc.tuple(documents, fc.constantFrom(...LONG)).map((both) => bytesOf(withLong(...both))),
        },
        { weight: 4, arbitrary: editedJson(documents).map(bytesOf) },
        {
          weight: 1,
          arbitrary: edited(documents.map(bytesOf), ['"', '{', '[', ',', '\\', '\0', '\ufeff', '"__proto__":1,']),
        },
      ),
      async check(bytes) {
        writeFileSync(file, bytes);
        const saved = await settled(readSavedRun(file));
        if (saved instanceof HookproofError) return;
        await checkReports(saved.document, folder);
        const merged = await settled(joinShards([{ name: 'one', document: saved.document }]));
        if (!(merged instanceof HookproofError)) await checkReports(merged, folder);
      },
      stop: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
);

const ABOUT = { catalogue: '', version: '0.1.0', due: null, grant: null };

const FLEET = fleetWith([partnerWith('acme', 'failed', 1), partnerWith('globex', 'certified', 2)], {
  shard: { index: 1, of: 1 },
});

const fleet = fuzzTarget(
  {
    name: 'fleet',
    shows: 'fleet.json of others: FLEET_FILE, or a page, a table and a merge without foreign markup or formulas',
    shortRuns: 80,
  },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookproof-fuzz-'));
    const file = join(folder, 'fleet.json');
    const hostile = fc.tuple(fc.constantFrom(...HOSTILE, ...MORE_HOSTILE), fc.nat(5)).map(([text, at]) => {
      const [first, second] = FLEET.partners;
      const parts = [
        { url: text },
        { diagnosis: { fault: text, title: text } },
        { refusals: [{ code: text, message: text, fix: text }] },
        { certificate: { issuedAt: text, expiresAt: text } },
        { startedAt: text },
        { suites: { [text]: { pass: 0, fail: 1, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 } } },
      ];
      return { ...FLEET, startedAt: text, partners: [{ ...first, ...parts[at] }, second] };
    });
    const tagsOf = (page: string) => page.match(/<[^>]*>/g)?.map((tag) => tag.replace(/"[^"]*"/g, '""')) ?? [];
    return {
      input: fc
        .oneof(hostile, editedJson(hostile), editedJson(fc.constant(FLEET)))
        .map((value) => printable(Buffer.from(JSON.stringify(value) ?? ''))),
      async check(bytes) {
        writeFileSync(file, bytes);
        const read = await settled(readFleet(file));
        if (read === null || read instanceof HookproofError) return;
        const records = read.partners.flatMap((one) => recordOfPartner(one, ABOUT) ?? []);
        const standings = standingsOf(records, { keys: [], at: new Date() });
        const page = await renderFleetHtml(viewWith(standings));
        const foreign = tagsOf(page).find((tag) => /\bon\w+=|<(?:img|iframe|base|object|embed)\b/.test(tag));
        must(foreign === undefined, `the page contains ${foreign}`);
        must((page.match(/<script/g) ?? []).length === 1, 'the page contains another script');
        for (const cell of (await renderFleetCsv(standings)).split(/[,\n]/)) {
          must(!/^"?[=+@\t]/.test(cell), `a cell that a spreadsheet runs: ${cell.slice(0, 40)}`);
        }
        await settled(Promise.resolve().then(() => mergeFleets([{ name: 'one', fleet: read }])));
      },
      stop: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
);

export const REPORT_TARGETS: readonly FuzzTarget[] = [report, fleet];
