/** `hookproof inbox`: lists, prints, replays, exports and prunes entries, even while receivers run. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../../contract/visible.ts';
import { numberOfFlag } from '../../config/index.ts';
import { counted, createLayout } from '../../report/index.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { EntryFilter, EntryState, InboxArchive, InboxEntry } from '../receiver-entry.ts';
import { askOnTerminal, displayOf } from '../terminal.ts';
import { describeCounts, entryFilter, type FilterFlags, moment } from './entry-filter.ts';
import { entryTable } from './entry-table.ts';
import { entryLine, entryText, summaryLine } from './entry-text.ts';
import { type InboxFlags, withArchive } from './open-inbox.ts';
import { standardOutput, writeLines } from './output.ts';

const DEFAULT_LIMIT = '50';
const MAX_LIMIT = 10_000;
/** Minimum length of an id prefix that identifies an entry. */
const MIN_ID_PREFIX = 4;
/** Maximum number of ids, newest first, that a mistyped id is compared with. */
const SUGGESTION_CANDIDATES = 2000;
const MAX_LISTED_IDS = 10;

export async function inboxListCommand(
  flags: InboxFlags & FilterFlags & { limit?: string; json?: boolean },
): Promise<number> {
  const filter = entryFilter(flags, new Date());
  const limit = numberOfFlag('--limit', flags.limit ?? DEFAULT_LIMIT, [1, MAX_LIMIT], {
    code: 'INBOX_FILTER',
    hint: '`hookproof inbox export` writes all entries.',
  });
  const write = standardOutput();
  return withArchive(flags, true, async (archive) => {
    const counts = await archive.count(filter);
    const shown = await archive.summaries(filter, { limit, newestFirst: true });
    if (flags.json === true) {
      for (const entry of shown) if (!(await write(summaryLine(entry)))) return 0;
    } else if (shown.length > 0) {
      const display = displayOf(process.stdout);
      const columns = display.isTTY ? display.columns || 80 : Number.POSITIVE_INFINITY;
      await write(`${entryTable(shown, { layout: createLayout(display), columns }).join('\n')}\n`);
    }
    const total = sum(counts);
    const states = total === 0 ? '' : ` (${describeCounts(counts)})`;
    printRemark(`${shown.length} of ${entries(total)}${states}, newest first`);
    if ((counts.get('dead') ?? 0) > 0) {
      printRemark(
        'dead: the handler failed at the last attempt. `hookproof inbox show ID` prints the error, and ' +
          '`hookproof inbox replay --state dead` tries again',
      );
    }
    return 0;
  });
}

export async function inboxShowCommand(
  id: string,
  flags: InboxFlags & { raw?: boolean; json?: boolean },
): Promise<number> {
  if (flags.raw === true && process.stdout.isTTY) {
    const message = '`--raw` does not write to a terminal: the bytes may contain control sequences';
    throw new HookproofError('INBOX_RAW_TO_TERMINAL', message, {
      hint: 'Redirect them to a file or a program: hookproof inbox show ID --raw > body.json',
    });
  }
  return withArchive(flags, true, async (archive) => {
    const entry = await findEntry(archive, id);
    const write = standardOutput();
    if (flags.raw === true) await write(entry.rawBody);
    else if (flags.json === true) await write(entryLine(entry));
    else await write(`${entryText(entry, createLayout(displayOf(process.stdout)), new Date()).join('\n')}\n`);
    return 0;
  });
}

export async function inboxReplayCommand(
  ids: string[],
  flags: InboxFlags & FilterFlags & { yes?: boolean },
): Promise<number> {
  const given = entryFilter(flags, new Date());
  const filter: EntryFilter = ids.length === 0 ? given : { ...given, ids };
  if (Object.keys(filter).length === 0) {
    throw new HookproofError('INBOX_NOTHING_MEANT', 'no entries were selected', {
      hint: 'Give ids, or a filter: `hookproof inbox replay --state dead`.',
    });
  }
  return withArchive(flags, false, async (archive) => {
    for (const id of ids) {
      if ((await archive.summaries({ ids: [id] }, { limit: 1 })).length === 0) throw await noEntry(archive, id);
    }
    await reportRunning(archive, filter);
    const counts = new Map(await archive.count(filter));
    counts.delete('running');
    const total = sum(counts);
    if (total === 0) {
      process.stdout.write('replayed 0 entries: none matches\n');
      return 0;
    }
    if (!(await confirmed(`replay ${entries(total)} (${describeCounts(counts)})`, flags.yes))) return 0;
    process.stdout.write(`replayed ${entries(await archive.replay(filter))}\n`);
    return 0;
  });
}

export async function inboxExportCommand(
  flags: InboxFlags & FilterFlags & { output?: string; force?: boolean },
): Promise<number> {
  const filter = entryFilter(flags, new Date());
  return withArchive(flags, true, async (archive) => {
    async function* lines() {
      for await (const entry of archive.everything(filter)) yield entryLine(entry);
    }
    if (flags.output !== undefined && flags.output !== '-') {
      const count = await writeLines(flags.output, lines(), flags.force === true);
      printRemark(`exported ${entries(count)} to ${flags.output}`);
      return 0;
    }
    const write = standardOutput();
    let count = 0;
    for await (const line of lines()) {
      if (!(await write(line))) return 0;
      count += 1;
    }
    printRemark(`exported ${entries(count)}`);
    return 0;
  });
}

export async function inboxPruneCommand(flags: InboxFlags & { before: string; yes?: boolean }): Promise<number> {
  const before = moment(flags.before, '--before', new Date());
  return withArchive(flags, false, async (archive) => {
    const counts = await archive.count({ states: ['done', 'superseded'], settledBefore: before });
    const total = sum(counts);
    if (total === 0) {
      process.stdout.write(`removed 0 entries: none was done before ${before.toISOString()}\n`);
      return 0;
    }
    printRemark('a removed notification counts as new if it is delivered again');
    const plan = `remove ${entries(total)} (${describeCounts(counts)}) from before ${before.toISOString()}`;
    if (!(await confirmed(plan, flags.yes))) return 0;
    process.stdout.write(`removed ${entries(await archive.prune(before))}\n`);
    return 0;
  });
}

/** Returns the entry with this id, or the only one whose id begins with it. */
async function findEntry(archive: InboxArchive, id: string): Promise<InboxEntry> {
  const [exact] = await archive.entries({ ids: [id] }, { limit: 1 });
  if (exact !== undefined) return exact;
  const beginning = id.length < MIN_ID_PREFIX ? [] : await archive.entries({ idPrefix: id }, { limit: 2 });
  const [only, another] = beginning;
  if (only !== undefined && another === undefined) return only;
  if (only !== undefined) {
    const found = await archive.summaries({ idPrefix: id }, { limit: MAX_LISTED_IDS });
    throw new HookproofError('INBOX_SEVERAL_ENTRIES', `several ids begin with "${visible(id)}"`, {
      hint: `Give more of the id: ${found.map((entry) => visible(entry.id)).join(', ')}.`,
    });
  }
  throw await noEntry(archive, id);
}

async function noEntry(archive: InboxArchive, id: string): Promise<HookproofError> {
  const newest = await archive.summaries({}, { limit: SUGGESTION_CANDIDATES, newestFirst: true });
  const ids = newest.map((entry) => visible(entry.id));
  const near = didYouMean(visible(id), ids);
  return new HookproofError('INBOX_NO_ENTRY', `there is no entry "${visible(id)}"`, {
    hint: `${near}\`hookproof inbox list\` lists the newest.`,
  });
}

async function reportRunning(archive: InboxArchive, filter: EntryFilter): Promise<void> {
  if (filter.states !== undefined && !filter.states.includes('running')) return;
  const running = { ...filter, states: ['running'] } as const;
  const named = await archive.summaries(running, { limit: MAX_LISTED_IDS });
  if (named.length === 0) return;
  const total = sum(await archive.count(running));
  const more = total > named.length ? ` and ${total - named.length} more` : '';
  printRemark(`not replayed, still being handled: ${named.map(({ id }) => visible(id)).join(', ')}${more}`);
}

/**
 * Asks before a change, unless `--yes` is given. `plan` describes the change: "replay 3 entries (3 dead)".
 *
 * @throws HookproofError INBOX_NOT_CONFIRMED without a terminal to ask on
 */
async function confirmed(plan: string, yes: boolean | undefined): Promise<boolean> {
  if (yes === true) return true;
  const answer = await askOnTerminal(plan);
  if (answer === null) {
    throw new HookproofError('INBOX_NOT_CONFIRMED', `nothing was done: the command would ${plan}`, {
      hint: 'Give `--yes` to do it without a prompt.',
    });
  }
  if (!answer) process.stderr.write('nothing was done\n');
  return answer;
}

/** Prints a remark on standard error, wrapped to the terminal. */
function printRemark(text: string): void {
  const display = displayOf(process.stderr);
  const lines = display.isTTY ? createLayout(display).paragraph('', text) : [text];
  process.stderr.write(`${lines.join('\n')}\n`);
}

const sum = (counts: ReadonlyMap<EntryState, number>) => [...counts.values()].reduce((all, count) => all + count, 0);
const entries = (count: number) => counted(count, 'entry', 'entries');
