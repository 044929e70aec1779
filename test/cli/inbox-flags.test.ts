/** The filter flags, the table and the entries of `hookproof inbox`. */
import { describe, expect, it } from 'vitest';
import { entryFilter, type FilterFlags } from '../../harness/cli/inbox/entry-filter.ts';
import { entryTable } from '../../harness/cli/inbox/entry-table.ts';
import { entryText } from '../../harness/cli/inbox/entry-text.ts';
import { createLayout, displayWidth } from '../../harness/report/index.ts';
import type { EntryState, InboxEntry } from '../../receiver/index.ts';

const NOW = new Date('2026-06-15T12:00:00Z');

describe('a filter', () => {
  it.each<[FilterFlags, object]>([
    [{}, {}],
    [{ state: ['dead', 'DONE'] }, { states: ['dead', 'done'] }],
    [{ kind: ['refund', 'UNKNOWN'] }, { kinds: ['REFUND', 'UNKNOWN'] }],
    [{ transaction: 'order 7' }, { transactionId: 'order 7' }],
    [{ since: '90s' }, { since: new Date('2026-06-15T11:58:30Z') }],
    [{ since: '1.5h' }, { since: new Date('2026-06-15T10:30:00Z') }],
    [
      { since: '2d', until: '1d' },
      { since: new Date('2026-06-13T12:00:00Z'), until: new Date('2026-06-14T12:00:00Z') },
    ],
    [{ since: '2026-01-31' }, { since: new Date('2026-01-31T00:00:00Z') }],
    [{ since: '2026-01-31 08:15' }, { since: new Date('2026-01-31T08:15:00Z') }],
    [{ since: '2026-01-31T08:15:30.5Z' }, { since: new Date('2026-01-31T08:15:30.500Z') }],
    [{ until: '2026-01-31T08:15+02:00' }, { until: new Date('2026-01-31T06:15:00Z') }],
  ])('%j', (flags, expected) => {
    expect(entryFilter(flags, NOW)).toEqual(expected);
  });

  it.each<[FilterFlags, string, string]>([
    [{ state: ['deed'] }, '`--state deed` is not one of pending', 'Did you mean dead?'],
    [{ kind: ['CAAS_BY'] }, '`--kind CAAS_BY`', 'Did you mean CAAS_BUY?'],
    [{ kind: ['\u001b[2J'] }, '`--kind \\x1b[2J`', 'repeated'],
    [{ since: 'yesterday' }, '`--since yesterday` is neither a time nor a duration', '2h'],
    [{ since: '5' }, '`--since 5` is neither', '2h'],
    [{ since: '2026-02-30T25:00' }, 'is neither', '2h'],
    [{ until: '2026-1-1' }, '`--until 2026-1-1` is neither', '2h'],
    [{ since: '1h', until: '2h' }, '`--since` is not before `--until`', 'counts back'],
  ])('%j is rejected', (flags, message, hint) => {
    expect(() => entryFilter(flags, NOW)).toThrow(
      expect.objectContaining({
        code: 'INBOX_FILTER',
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      }),
    );
  });
});

function entry(changes: Partial<InboxEntry> = {}): InboxEntry {
  return {
    seq: 1,
    id: '7e57ca5e-0000-4000-8000-000000000001',
    kind: 'CAAS_ORDER_TRACKING',
    type: 'CAAS',
    transactionId: 'b2b2b2b2-0000-4000-8000-000000000002',
    status: 'BLOCKCHAIN_ACCEPTED',
    at: NOW,
    receivedAt: NOW,
    state: 'superseded' as EntryState,
    attempts: 10,
    dueAt: null,
    lastError: null,
    settledAt: NOW,
    bodyBytes: 2,
    rawBody: Buffer.from('{}'),
    ...changes,
  };
}

describe('the table', () => {
  const layout = createLayout({ columns: 80, color: false, unicode: true });
  const rows = [
    entry(),
    entry({ state: 'dead', lastError: 'x'.repeat(500), id: '日本語のとても長い識別子'.repeat(5), status: null }),
    entry({ transactionId: null, id: '\u202e\u001b[2J'.repeat(60), kind: 'REFUND' }),
  ];

  it.each([200, 130, 100, 80, 60, 40])('fits %i columns, and is aligned', (columns) => {
    const lines = entryTable(rows, { layout, columns });
    expect(lines).toHaveLength(5);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
    const [head = '', first = ''] = lines;
    for (const word of ['received', 'id']) expect(first[head.indexOf(` ${word}`)]).toBe(' ');
    expect(lines.join('')).not.toContain('\u001b');
  });

  it('shows complete ids if they fit, and drops the least important columns first', () => {
    const shown = (columns: number) => entryTable([entry()], { layout, columns }).join('\n');
    expect(shown(160)).toContain('7e57ca5e-0000-4000-8000-000000000001  b2b2b2b2-0000-4000-8000-000000000002');
    expect(shown(160)).toContain('2026-06-15 12:00:00');
    expect(shown(60)).toContain('06-15 12:00');
    expect([shown(120), shown(80), shown(60)].map((text) => /transaction/.test(text))).toEqual([true, false, false]);
    expect([shown(80), shown(60)].map((text) => /status/.test(text))).toEqual([true, false]);
  });

  it('cuts nothing and prints one line for each entry without a terminal', () => {
    const lines = entryTable(rows, { layout, columns: Number.POSITIVE_INFINITY });
    expect(lines).toHaveLength(4);
    expect(lines[2]).toContain('x'.repeat(500));
  });
});

describe('an entry', () => {
  const layout = createLayout({ columns: 60, color: false, unicode: true });

  it('shows the time of its next attempt', () => {
    const text = (dueAt: Date) =>
      entryText(entry({ state: 'pending', dueAt, settledAt: null }), layout, NOW).join('\n');
    expect(text(new Date(NOW.getTime() + 90_000))).toContain('2026-06-15T12:01:30.000Z, in 1 min 30 s');
    expect(text(new Date(NOW.getTime() - 1))).toContain('as soon as a receiver takes it');
  });

  it('is cut, with a note, when its body is very long', () => {
    const rawBody = Buffer.alloc(200_000, 'x');
    const lines = entryText(entry({ rawBody, bodyBytes: rawBody.length }), layout, NOW);
    expect(lines.at(-1)).toContain('`--raw` writes all of them');
    expect(lines.at(-2)).toHaveLength(64 * 1024);
    expect(entryText(entry(), layout, NOW).at(-1)).toBe('{}');
  });

  it('shows binary bytes in lines that fit', () => {
    const rawBody = Buffer.from([...Array(20).keys(), 0xff]);
    const lines = entryText(entry({ rawBody, bodyBytes: 21 }), layout, NOW).slice(-3);
    expect(lines.map((line) => line.length <= 60)).toEqual([true, true, true]);
    expect(lines[2]).toBe('00000010  10 11 12 13 ff           |.....|');
  });
});
