/** Writes docs/growth.md. Its tables contain the last measurement of each part, which is stored in measured.json. */
import { readFileSync, writeFileSync } from 'node:fs';
import { asMarkdown, type Table, withPart } from '../bench/page.ts';
import type { ChecksMeasured } from './checks.ts';
import type { DistanceMeasured } from './distance.ts';
import { certificationTable, deliveriesTable } from './estimate.ts';
import type { PartnersMeasured } from './partners.ts';
import type { SenderMeasured } from './sender.ts';
import { checksTables, distanceTables, partnersTables, senderTables } from './tables.ts';

export interface Measured {
  readonly checks: ChecksMeasured;
  readonly distance: DistanceMeasured;
  readonly partners: PartnersMeasured;
  readonly sender: SenderMeasured;
}

export type Part = keyof Measured;
/** The figures of each part, with the date and the machine. */
type Stored = { readonly [P in Part]: { readonly conditions: string; readonly figures: Measured[P] } } & {
  /**
   * The figure of docs/performance.md at the time of the last measurement, so that a new benchmark does not change this
   * page.
   */
  readonly storedASecond: number;
};

export const PAGE = 'docs/growth.md';
const STORE = 'test/proofs/growth/measured.json';
const COMMAND = 'npm run proofs -- growth';
const PERFORMANCE = 'docs/performance.md';

export const TABLES: { readonly [P in Part]: (figures: Measured[P]) => Table[] } = {
  checks: checksTables,
  distance: distanceTables,
  partners: partnersTables,
  sender: senderTables,
};

/** Stores a measurement, and writes the page. */
export function store<P extends Part>(part: P, conditions: string, figures: Measured[P]): void {
  let stored: Partial<Stored> = {};
  try {
    stored = readStored();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const all = { ...stored, storedASecond: storedASecond(), [part]: { conditions, figures } };
  writeFileSync(STORE, `${JSON.stringify(all, (_, value) => rounded(value), 2)}\n`);
  const text = JSON.parse(readFileSync(STORE, 'utf8')) as Stored;
  if (Object.keys(TABLES).every((name) => name in text)) writeFileSync(PAGE, growthPage());
}

/** Rounds numbers to five digits, which exceed the precision of a measurement. */
function rounded(value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}

function readStored(): Stored {
  return JSON.parse(readFileSync(STORE, 'utf8')) as Stored;
}

/** Returns the page as it should be: its text, and the tables of the stored measurements. */
export function growthPage(): string {
  const stored = readStored();
  const sections = {
    checks: partText(stored.checks.conditions, TABLES.checks(stored.checks.figures)),
    distance: partText(stored.distance.conditions, TABLES.distance(stored.distance.figures)),
    partners: partText(stored.partners.conditions, TABLES.partners(stored.partners.figures)),
    sender: partText(stored.sender.conditions, TABLES.sender(stored.sender.figures)),
    estimate: estimateTables(stored).map(asMarkdown).join('\n\n'),
  };
  return Object.entries(sections).reduce(
    (page, [section, text]) => withPart(page, section, COMMAND, text),
    readFileSync(PAGE, 'utf8'),
  );
}

function partText(conditions: string, tables: readonly Table[]): string {
  return [`Measured on ${conditions}.`, ...tables.map(asMarkdown)].join('\n\n');
}

function estimateTables({ distance, partners, sender, storedASecond: rows }: Stored): Table[] {
  const inputs = {
    distance: distance.figures,
    partners: partners.figures,
    sender: sender.figures,
    storedASecond: rows,
  };
  return [certificationTable(inputs), deliveriesTable(inputs)];
}

/** Returns how many notifications the receiver stores per second with PostgreSQL, according to the benchmark page. */
function storedASecond(): number {
  const lines = readFileSync(PERFORMANCE, 'utf8').split('\n');
  const cells = (line: string) => line.split('|').map((cell) => cell.trim());
  const head = cells(lines.find((line) => line.includes('| requests/s |')) ?? '');
  const row = cells(lines.find((line) => line.startsWith('| ours, PostgreSQL |')) ?? '');
  const rate = Number(row[head.indexOf('requests/s')]?.replaceAll(',', ''));
  if (!(rate > 0)) throw new Error(`${PERFORMANCE} has no rate of the receiver with PostgreSQL`);
  return rate;
}
