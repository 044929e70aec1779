/** What is said of many partners at the end. */
import { join } from 'node:path';
import { changeOf, exitCodeOfFleet, type FleetDocument } from '../../fleet/index.ts';
import { counted, createLayout, formatDuration } from '../../report/index.ts';
import { shown } from '../certify-outcome.ts';
import { displayOf } from '../terminal.ts';

function amounts({ totals }: FleetDocument): string {
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

/** For people, or with `json` for programs, on standard output. */
export function sayFleet(document: FleetDocument, folder: string, json: boolean): void {
  const { partners, shard, totals } = document;
  const worse = partners.filter((partner) => changeOf(partner) === 'worse').map(({ name }) => name);
  if (json) {
    const summary = {
      schemaVersion: 1,
      exitCode: exitCodeOfFleet(document),
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
  const all = totals.certified === partners.length && partners.length > 0;
  const lines = [
    ...layout.paragraph(
      `${layout.sign(all ? 'pass' : 'fail')} `,
      `${counted(partners.length, 'partner')}: ${amounts(document)}, in ${formatDuration(document.durationMs)}`,
    ),
    ...(worse.length > 0 ? layout.paragraph('  worse than before  ', worse.join(', ')) : []),
    ...(document.complete ? [] : ['  not complete: go on with --resume']),
    `  the page  ${layout.safe(shown(join(folder, 'fleet.html')))}, and fleet.json and fleet.csv beside it`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
