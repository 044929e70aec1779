/** Prints the progress of a certification of many partners on standard error, and its summary on standard output. */
import { join } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../../contract/visible.ts';
import {
  changeOf,
  EXIT_ON,
  type ExitOn,
  exitCodeOfFleet,
  type FleetDocument,
  type FleetPartner,
  headlineOf,
  type PartnerOutcome,
  warnedInWords,
} from '../../fleet.ts';
import { counted, createLayout, formatDuration } from '../../report/index.ts';
import { displayOf, shownPath } from '../terminal.ts';

const WORDS: Readonly<
  Record<PartnerOutcome, readonly [word: string, sign: 'pass' | 'fail' | 'inconclusive' | 'harness-error']>
> = {
  certified: ['certified', 'pass'],
  failed: ['not certified', 'fail'],
  refused: ['refused', 'fail'],
  inconclusive: ['no verdict', 'inconclusive'],
  'not-run': ['not run', 'inconclusive'],
  'harness-error': ['error', 'harness-error'],
};

const ERASE_LINE = '\r\x1b[K';

export interface FleetProgress {
  begun(): void;
  ended(partner: FleetPartner): void;
  /** Erases the live line. */
  close(): void;
}

/**
 * Creates a progress display: one line for each finished partner and, on a terminal, a live line. It begins with the
 * partners whose file is refused. `resumed` is the number of partners that an interrupted certification finished.
 */
export function createFleetProgress(
  { partners }: Pick<FleetDocument, 'partners'>,
  { broken, parallel, resumed }: { broken: readonly FleetPartner[]; parallel: number; resumed: number },
): FleetProgress {
  const stream = process.stderr;
  const display = displayOf(stream);
  const layout = createLayout(display);
  const started = performance.now();
  const state = { begun: 0, ended: 0, bad: 0 };
  let live = false;
  const total = partners.length;
  const already = resumed + broken.length;

  const left = (): string => {
    const rest = total - already - state.ended;
    if (state.ended < Math.min(parallel, 3) || rest === 0) return '';
    return `, about ${formatDuration(((performance.now() - started) / state.ended) * rest)} left`;
  };
  const draw = () => {
    if (!display.isTTY) return;
    const done = already + state.ended;
    const running = state.begun - state.ended;
    const text = `${done}/${total} done, ${running} running, ${state.bad} without a certificate${left()}`;
    stream.write(`${live ? ERASE_LINE : ''}${layout.paint(text.slice(0, display.columns - 1), 'dim')}`);
    live = true;
  };
  const erase = () => {
    if (live) stream.write(ERASE_LINE);
    live = false;
  };
  const line = (partner: FleetPartner, took: string) => {
    const warned = partner.certificate === null ? null : warnedInWords(partner);
    const [word, sign] = warned === null ? WORDS[partner.outcome] : ([`${warned};`, 'warn'] as const);
    const lead = `${layout.sign(sign)} ${layout.safe(partner.name)}  ${word}  `;
    stream.write(`${layout.paragraph(lead, `${detailOf(partner)}${took}`).join('\n')}\n`);
  };
  const before = resumed > 0 ? `, ${resumed} already finished` : '';
  stream.write(`${counted(total, 'partner')}${refusedInWords(broken.length)}${before}\n`);
  for (const partner of broken) line(partner, '');

  return {
    begun() {
      state.begun += 1;
      draw();
    },
    ended(partner) {
      state.ended += 1;
      if (partner.outcome !== 'certified') state.bad += 1;
      erase();
      line(partner, ` (${formatDuration(partner.durationMs)})`);
      draw();
    },
    close: erase,
  };
}

interface PrintOptions {
  readonly json?: boolean | undefined;
  readonly exitOn?: ExitOn;
  /** The flags that locate the register, for `hookproof partners`. */
  readonly place?: string;
  /** The command that certified the partners; absent after a merge. */
  readonly command?: string;
}

/** Prints the summary as text or JSON. */
export function printFleet(
  document: FleetDocument,
  folder: string,
  { command, exitOn, json = false, place = '' }: PrintOptions,
): void {
  const { partners, shard, totals } = document;
  const worse = partners.filter((partner) => changeOf(partner) === 'worse').map(({ name }) => name);
  if (json) {
    const summary = {
      schemaVersion: 1,
      exitCode: exitCodeOfFleet(document, exitOn),
      complete: document.complete,
      shard,
      totals,
      worse,
      durationMs: document.durationMs,
      folder,
      partners: partners.map(({ name, outcome, certificate, refusals }) => {
        return { name, outcome, expiresAt: certificate?.expiresAt ?? null, reasons: refusals.map(({ code }) => code) };
      }),
    };
    process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
    return;
  }
  const layout = createLayout(displayOf(process.stdout));
  const others = partners.filter(({ outcome }) => outcome !== 'certified' && outcome !== 'not-run');
  const all = totals.certified === partners.length && partners.length > 0;
  const lines = [
    ...layout.paragraph(
      `${layout.sign(all ? 'pass' : 'fail')} `,
      `${counted(partners.length, 'partner')}: ${totalsText(document)}, in ${formatDuration(document.durationMs)}`,
    ),
    ...(worse.length > 0 ? layout.paragraph('  worse than before  ', worse.join(', ')) : []),
    ...(document.complete ? [] : ['  not complete: continue with `--resume`']),
    `  report  ${layout.safe(shownPath(join(folder, 'fleet.html')))}, with fleet.json and fleet.csv in the same folder`,
    ...layout.command('  next    ', [`hookproof partners${place === '' ? '' : ` ${place}`}`]),
    ...(command === undefined || others.length === 0
      ? []
      : layout.command('  again   ', [command, ...others.map(({ name }) => `--only ${name}`)])),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Returns text such as ", 2 refused because of invalid files"; empty for none. */
export function refusedInWords(count: number): string {
  return count === 0 ? '' : `, ${count} refused because of ${count === 1 ? 'an invalid file' : 'invalid files'}`;
}

function detailOf({ certificate, counts, diagnosis, outcome, refusals, startedAt }: FleetPartner): string {
  if (certificate !== null) return `until ${certificate.expiresAt.slice(0, 10)}`;
  const failed = counts !== null && counts.fail > 0 ? [`${counts.fail} failed`] : [];
  const [first] = refusals;
  // A partner whose file is refused is not run; all problems of the file are listed.
  if (startedAt === null && outcome === 'refused') return refusals.map(({ message }) => message).join('; ');
  const why =
    (diagnosis && headlineOf(diagnosis)) ?? (counts === null || counts.fail === 0 ? first?.message : undefined);
  return [...failed, ...(why === undefined ? [] : [why])].join(': ');
}

function totalsText({ totals }: FleetDocument): string {
  const parts: [number, string][] = [
    [totals.certified, 'certified'],
    [totals.failed, 'failed'],
    [totals.refused, 'refused'],
    [totals.inconclusive, 'without a verdict'],
    [totals['harness-error'], counted(totals['harness-error'], 'error').replace(/^\d+ /, '')],
    [totals['not-run'], 'not run'],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(', ');
}

/** Parses `--exit-on`. @throws HookproofError FLEET_EXIT_ON */
export function exitOnOfFlag(text: string | undefined): ExitOn {
  const found = text === undefined ? 'partners' : EXIT_ON.find((one) => one === text);
  if (found !== undefined) return found;
  throw new HookproofError('FLEET_EXIT_ON', `\`--exit-on ${visible(text ?? '')}\`: not one of ${EXIT_ON.join(', ')}`, {
    hint: '`partners`: the most severe outcome decides; `harness`: 0 if every partner was judged.',
  });
}
