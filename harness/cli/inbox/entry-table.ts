/**
 * Formats entries as a table that fits a terminal: columns are narrowed first; if that is not enough, some are dropped.
 */
import { displayWidth, type Layout, truncate } from '../../report/index.ts';
import type { EntrySummary } from '../receiver-entry.ts';

type Column = 'state' | 'received' | 'kind' | 'status' | 'tries' | 'id' | 'transaction';

/** Columns to drop if the table is too wide, least important first. */
const DROPPED_FIRST: readonly Column[] = ['transaction', 'tries', 'status', 'kind'];
/** Columns to narrow, in this order. {@link MIN_WIDTH} limits how far. */
const NARROWED: readonly Column[] = ['transaction', 'status', 'id'];
const MIN_WIDTH: Partial<Record<Column, number>> = { id: 14, transaction: 14, status: 9 };
/** Columns wider than this are narrowed before any is dropped, because ids and statuses can be long. */
const MAX_WIDTH: Partial<Record<Column, number>> = { id: 40, transaction: 40, status: 20 };
const GAP = 2;
/** Times are shortened if the table is narrower than this. */
const FULL_TIME_COLUMNS = 100;

const STATE_STYLES = { dead: 'red', pending: 'yellow', running: 'cyan', done: 'green', superseded: 'dim' } as const;

export interface TableOptions {
  readonly layout: Layout;
  /** The width of the terminal. Infinite without a terminal: nothing is truncated, and each entry is one line. */
  readonly columns: number;
}

/** Returns the lines of the table, with a header. Times are in UTC. */
export function entryTable(entries: readonly EntrySummary[], { layout, columns }: TableOptions): string[] {
  const rows = entries.map((entry) => cells(entry, layout, columns < FULL_TIME_COLUMNS));
  const head: Record<Column, string> = {
    state: 'state',
    received: columns < FULL_TIME_COLUMNS ? 'received' : 'received (UTC)',
    kind: 'kind',
    status: 'status',
    tries: 'tries',
    id: 'id',
    transaction: 'transaction',
  };
  const widths = fittingWidths([head, ...rows], columns);
  const line = (row: Record<Column, string>, paint: (cell: string, column: Column) => string) =>
    [...widths]
      .map(([column, width], index) => {
        const text = Number.isFinite(columns) ? truncate(row[column], width) : row[column];
        const last = index === widths.size - 1;
        return `${paint(text, column)}${last ? '' : ' '.repeat(Math.max(0, width - displayWidth(text)))}`;
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  return [
    line(head, (cell) => layout.paint(cell, 'bold')),
    ...entries.flatMap((entry, index) => {
      const row = rows[index];
      if (row === undefined) return [];
      const text = line(row, (cell, column) =>
        column === 'state' ? layout.paint(cell, STATE_STYLES[entry.state]) : cell,
      );
      if (entry.lastError === null) return [text];
      const error = layout.safe(entry.lastError);
      if (!Number.isFinite(columns)) return [`${text}${' '.repeat(GAP)}${error}`];
      return [text, `  ${layout.paint(truncate(error, columns - 2), 'dim')}`];
    }),
  ];
}

function cells(entry: EntrySummary, { safe }: Layout, short: boolean): Record<Column, string> {
  const received = entry.receivedAt.toISOString().replace('T', ' ');
  return {
    state: entry.state,
    received: short ? received.slice(5, 16) : received.slice(0, 19),
    kind: safe(entry.kind),
    status: safe(entry.status ?? '-'),
    tries: String(entry.attempts),
    id: safe(entry.id),
    transaction: safe(entry.transactionId ?? '-'),
  };
}

/** Returns the widths of the columns that fit. */
function fittingWidths(rows: readonly Record<Column, string>[], columns: number): Map<Column, number> {
  const widths = new Map<Column, number>();
  for (const column of ['state', 'received', 'kind', 'status', 'tries', 'id', 'transaction'] as const) {
    const natural = Math.max(...rows.map((row) => displayWidth(row[column])));
    widths.set(column, Number.isFinite(columns) ? Math.min(natural, MAX_WIDTH[column] ?? natural) : natural);
  }
  const total = () => [...widths.values()].reduce((sum, width) => sum + width + GAP, -GAP);
  const spare = (column: Column) => Math.max(0, (widths.get(column) ?? 0) - (MIN_WIDTH[column] ?? Number.MAX_VALUE));
  for (const column of DROPPED_FIRST) {
    if (total() - NARROWED.reduce((sum, each) => sum + spare(each), 0) > columns) widths.delete(column);
  }
  for (const column of NARROWED) {
    const narrower = Math.min(spare(column), Math.max(0, total() - columns));
    if (narrower > 0) widths.set(column, (widths.get(column) ?? 0) - narrower);
  }
  return widths;
}
