/** The pages for the queue and its workers, and for the audit. */

import type { ListedJob, WorkerRow } from '../operate/index.ts';
import { html } from '../report/html/index.ts';
import { counted } from '../report/index.ts';
import { pageLinks, renderConsolePage, table, timeMark } from './pages.ts';
import { auditTable } from './partner-pages.ts';
import type { AuditEntry } from './schemas.ts';
import { isAlive, type Operation } from './workers.ts';

export function queuePage(operation: Operation | null): string {
  const title = 'Queue and workers';
  if (operation === null) {
    const body = html`<header><h1>${title}</h1></header><main><p class="none">No worker has used this database.</p>
<p><code>hookproof operate</code> certifies and rechecks the partners when they are due.</p></main>`;
    return renderConsolePage({ title, place: '/queue', body });
  }
  const { counts, jobs, workers } = operation;
  const alive = workers.filter(isAlive).length;
  const numbers = [
    counted(alive, 'worker'),
    `${counted(counts.running, 'job')} running`,
    `${counts.waiting} waiting`,
    `${counts.later} later`,
    `${counts.dead} failed`,
  ];
  const body = html`<header><h1>${title}</h1><p class="numbers">${numbers.join(', ')}.</p></header>
<main><section><h2>Workers</h2>${
    workers.length === 0
      ? html`<p class="none">No workers.</p>`
      : table('Workers', ['Host', 'State', 'Running', 'Version', 'Started'], workers.map(workerRow))
  }</section><section><h2>Jobs</h2>${
    jobs.length === 0
      ? html`<p class="none">No jobs.</p>`
      : table('Jobs', ['Job', 'State', 'Attempts', 'Last error'], jobs.map(jobRow))
  }</section></main>`;
  return renderConsolePage({ title, place: '/queue', body });
}

function workerRow(worker: WorkerRow) {
  const { host, running, seenSecondsAgo, startedAt, version } = worker;
  const [sign, word] = isAlive(worker) ? ['pass', 'alive'] : ['inconclusive', 'gone'];
  return [
    ['Host', html`<b>${host}</b>`],
    ['State', html`<b class="v-${sign}">${word}</b><span>seen ${seenSecondsAgo} s ago</span>`],
    ['Running', running.map(({ key, task }) => key ?? task).join(', ')],
    ['Version', version],
    ['Started', timeMark(startedAt.toISOString())],
  ] as const;
}

function jobRow({ attempts, error, isRunning, key, maxAttempts, runAt, task }: ListedJob) {
  const isOver = attempts >= maxAttempts && !isRunning;
  const sign = isOver ? 'fail' : 'not-applicable';
  const state = isRunning ? 'running' : isOver ? 'failed' : runAt.getTime() <= Date.now() ? 'waiting' : 'later';
  return [
    ['Job', html`<b>${key ?? task}</b><span>${task}</span>`],
    ['State', html`<b class="v-${sign}">${state}</b><span>${timeMark(runAt.toISOString())}</span>`],
    ['Attempts', `${attempts} of ${maxAttempts}`],
    ['Last error', error ?? ''],
  ] as const;
}

export function auditListPage(
  entries: readonly AuditEntry[],
  { after, next }: { after: string | undefined; next: string | null },
): string {
  const body = html`<header><h1>Audit</h1><p class="numbers">Who did what in the console, newest first.</p></header>
<main>${
    entries.length === 0 ? html`<p class="none">Nothing has been done in the console.</p>` : auditTable(entries)
  }${pageLinks({ after }, next)}</main>`;
  return renderConsolePage({ title: 'Audit', place: '/audit', body });
}
