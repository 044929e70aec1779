/** Creates the tables of docs/growth.md from the measurements. */
import type { Table } from '../bench/page.ts';
import type { ChecksMeasured, Rendering, RunsAt, Subject } from './checks.ts';
import { type DistanceMeasured, type RunAtDistance, SCHEMES } from './distance.ts';
import { type Fit, fitLine, shapeInWords } from './fit.ts';
import { amount, duration, size } from './numbers.ts';
import type { PartnersMeasured } from './partners.ts';
import type { Cost } from './process-cost.ts';
import type { SenderMeasured } from './sender.ts';

const COST = ['wall', 'CPU', 'peak memory'];
const costCells = ({ wallMs, cpuMs, peakMb }: Cost) => [duration(wallMs), duration(cpuMs), `${amount(peakMb)} MB`];

/** Creates a row of a table of fits: what grows, its fixed part, its slope, and whether it is linear. */
function fitRow(what: string, fit: Fit, show: (value: number) => string, unit: string, per: string): string[] {
  const slope = `${show(fit.slope)}${unit === '' ? '' : ` ${unit}`} ${per}`;
  return [what, `${show(fit.fixed)}${unit === '' ? '' : ` ${unit}`}`, slope, shapeInWords(fit)];
}

/** Creates the rows for time, processor time and memory. */
function costFits<T>(
  name: string,
  rows: readonly T[],
  x: (row: T) => number,
  cost: (row: T) => Cost,
  per: string,
): string[][] {
  const line = (of: (cost: Cost) => number) => fitLine(rows.map((row) => ({ x: x(row), y: of(cost(row)) })));
  return [
    fitRow(
      `${name}, wall`,
      line(({ wallMs }) => wallMs),
      duration,
      '',
      per,
    ),
    fitRow(
      `${name}, CPU`,
      line(({ cpuMs }) => cpuMs),
      duration,
      '',
      per,
    ),
    fitRow(
      `${name}, peak memory`,
      line(({ peakMb }) => peakMb),
      amount,
      'MB',
      per,
    ),
  ];
}

const FIT_COLUMNS = ['what', 'fixed part', 'slope', 'shape'];

const SUBJECT_NAMES: Readonly<Record<Subject, string>> = {
  conformant: 'conformant receiver',
  faulty: 'receiver that accepts forgeries',
};
const RENDERINGS: readonly Rendering[] = ['human', 'HTML', 'JSON', 'JUnit'];

export function checksTables({ runs, fleets }: ChecksMeasured): Table[] {
  const subjects = [...new Set(runs.map(({ subject }) => subject))];
  const of = (subject: Subject) => runs.filter((row) => row.subject === subject);
  const reportFits = (subject: Subject, rendering: Rendering) => {
    const points = (y: (row: RunsAt) => number) => of(subject).map((row) => ({ x: row.evaluated, y: y(row) }));
    const bytes = fitLine(points(({ renderings }) => renderings[rendering].bytes));
    const ms = fitLine(points(({ renderings }) => renderings[rendering].ms));
    return [
      fitRow(`${rendering}, ${SUBJECT_NAMES[subject]}, size`, bytes, size, '', 'a check'),
      fitRow(`${rendering}, ${SUBJECT_NAMES[subject]}, time`, ms, duration, '', 'a check'),
    ];
  };
  return [
    {
      title: 'Runs, loopback HTTP, a new process each',
      columns: ['receiver', 'catalogue', 'checks evaluated', 'failures', 'requests', ...COST],
      rows: runs.map(({ subject, times, evaluated, failures, requests, run }) => [
        SUBJECT_NAMES[subject],
        `x${times}`,
        amount(evaluated),
        amount(failures),
        amount(requests),
        ...costCells(run),
      ]),
    },
    {
      title: 'Reports of these runs: size and time to render',
      columns: ['receiver', 'catalogue', ...RENDERINGS],
      rows: runs.map(({ subject, times, renderings }) => [
        SUBJECT_NAMES[subject],
        `x${times}`,
        ...RENDERINGS.map((name) => `${size(renderings[name].bytes)}, ${duration(renderings[name].ms)}`),
      ]),
    },
    {
      title: 'Fleets, loopback HTTPS',
      columns: ['partners', 'catalogue', ...COST, 'CPU of the receivers'],
      rows: fleets.map(({ partners, times, fleet, receiversCpuMs }) => [
        amount(partners),
        `x${times}`,
        ...costCells(fleet),
        duration(receiversCpuMs),
      ]),
    },
    {
      title: 'Growth with the number of checks',
      columns: FIT_COLUMNS,
      rows: [
        ...subjects.flatMap((subject) =>
          costFits(
            `run, ${SUBJECT_NAMES[subject]}`,
            of(subject),
            ({ evaluated }) => evaluated,
            ({ run }) => run,
            'a check',
          ),
        ),
        ...subjects.flatMap((subject) => RENDERINGS.flatMap((rendering) => reportFits(subject, rendering))),
        ...costFits(
          `fleet of ${fleets[0]?.partners}`,
          fleets,
          ({ times }) => times,
          ({ fleet }) => fleet,
          'a catalogue',
        ),
      ],
    },
  ];
}

export function distanceTables({ runs, traffic }: DistanceMeasured): Table[] {
  const schemes = Object.keys(SCHEMES) as (keyof typeof SCHEMES)[];
  const of = (scheme: RunAtDistance['scheme']) => runs.filter((row) => row.scheme === scheme);
  return [
    {
      title: 'Runs of the whole catalogue',
      columns: ['', 'round trip', 'checks evaluated', 'requests', ...COST, 'round trips in the wall time'],
      rows: runs.map(({ scheme, roundTripMs, evaluated, requests, run }) => [
        SCHEMES[scheme],
        `${roundTripMs} ms`,
        amount(evaluated),
        amount(requests),
        ...costCells(run),
        roundTripMs === 0 ? '' : amount(run.wallMs / roundTripMs),
      ]),
    },
    {
      title: 'Growth with the distance',
      columns: FIT_COLUMNS,
      rows: schemes.flatMap((scheme) =>
        costFits(
          SCHEMES[scheme],
          of(scheme),
          ({ roundTripMs }) => roundTripMs,
          ({ run }) => run,
          'a millisecond',
        ),
      ),
    },
    {
      title: 'What a run sends, without delay',
      columns: ['', 'connections', 'sent', 'received'],
      rows: schemes.map((scheme) => [
        SCHEMES[scheme],
        amount(traffic[scheme].connections),
        size(traffic[scheme].sentBytes),
        size(traffic[scheme].receivedBytes),
      ]),
      notes: ['Bytes on TCP connections: TLS is included, the headers of TCP and IP are not.'],
    },
  ];
}

export function partnersTables(measured: PartnersMeasured): Table[] {
  const { workers, chosenWorkers, fleets, checks } = measured;
  const count = ({ partners }: { readonly partners: number }) => partners;
  const reduced = fleets.filter(({ partners, planned }) => partners < planned);
  const fitOf = (what: string, y: (row: (typeof fleets)[number]) => number, show: (value: number) => string) =>
    fitRow(what, fitLine(fleets.map((row) => ({ x: row.partners, y: y(row) }))), show, '', 'a partner');
  return [
    {
      title: 'Workers',
      columns: ['workers', 'partners', ...COST, 'CPU of the receivers', 'wall a partner'],
      rows: workers.map(({ workers: number, partners, fleet, receiversCpuMs }) => [
        String(number),
        amount(partners),
        ...costCells(fleet),
        duration(receiversCpuMs),
        duration(fleet.wallMs / partners),
      ]),
      notes: [`The fleets below have ${chosenWorkers}, which took the least time.`],
    },
    {
      title: 'Fleets, loopback HTTPS',
      columns: [
        ...['partners', ...COST, 'CPU of the receivers', 'wall a partner', 'CPU a partner'],
        ...['on disk', 'files', 'on disk a partner'],
      ],
      rows: fleets.map(({ partners, fleet, receiversCpuMs, disk }) => [
        amount(partners),
        ...costCells(fleet),
        duration(receiversCpuMs),
        duration(fleet.wallMs / partners),
        duration(fleet.cpuMs / partners),
        size(disk.bytes),
        amount(disk.files),
        size(disk.bytes / partners),
      ]),
      notes: reduced.map(
        ({ partners, planned }) => `${amount(planned)} partners would take too long here; ${amount(partners)} instead.`,
      ),
    },
    {
      title: 'What grows with the whole list',
      columns: [
        'partners',
        'reading the files (`--check`)',
        'joining the results (`merge`)',
        'fleet.json',
        'fleet.html',
      ],
      rows: checks.map(({ partners, check }) => {
        const fleet = fleets.find((each) => each.partners === partners);
        return [
          amount(partners),
          `${duration(check.wallMs)}, ${amount(check.peakMb)} MB`,
          fleet === undefined ? '' : `${duration(fleet.merge.wallMs)}, ${amount(fleet.merge.peakMb)} MB`,
          fleet === undefined ? '' : size(fleet.summaries['fleet.json']),
          fleet === undefined ? '' : size(fleet.summaries['fleet.html']),
        ];
      }),
    },
    {
      title: 'Growth with the number of partners',
      columns: FIT_COLUMNS,
      rows: [
        ...costFits('fleet', fleets, count, ({ fleet }) => fleet, 'a partner'),
        ...costFits('reading the files', checks, count, ({ check }) => check, 'a partner'),
        ...costFits('joining the results', fleets, count, ({ merge }) => merge, 'a partner'),
        fitOf('on disk', ({ disk }) => disk.bytes, size),
        fitOf('`fleet.json`', ({ summaries }) => summaries['fleet.json'], size),
        fitOf('`fleet.html`', ({ summaries }) => summaries['fleet.html'], size),
        ...costFits(
          'workers',
          workers,
          ({ workers: number }) => number,
          ({ fleet }) => fleet,
          'a worker',
        ).slice(-1),
      ],
    },
  ];
}

export function senderTables({ rates, idle, waiting, wire }: SenderMeasured): Table[] {
  const schemes = ['http', 'https'] as const;
  const connections = [...new Set(rates.map((row) => row.connections))];
  const endpoints = [...new Set(rates.map((row) => row.endpoints))];
  const held = (rows: SenderMeasured['waiting'], of: 'heapBytes' | 'residentBytes' | 'cpuUs') =>
    fitLine(rows.map(({ count, held: each }) => ({ x: count, y: each[of] })));
  return [
    {
      title: 'Deliveries a second, and CPU of each',
      columns: ['', 'endpoints', ...connections.map((number) => `${number} connections to each`)],
      rows: schemes.flatMap((scheme) =>
        endpoints.map((number) => [
          scheme.toUpperCase(),
          String(number),
          ...connections.map((many) => {
            const found = rates.find(
              (row) => row.scheme === scheme && row.endpoints === number && row.connections === many,
            );
            return found === undefined ? '' : `${amount(Math.round(found.rate))}/s, ${amount(found.cpuUs)} us`;
          }),
        ]),
      ),
    },
    {
      title: 'Memory',
      columns: ['what', 'how many', 'heap and buffers', 'resident'],
      rows: [
        ...schemes.flatMap((scheme) =>
          idle[scheme].map(({ count, held: { heapBytes, residentBytes } }) => [
            `idle connections, ${scheme.toUpperCase()}`,
            amount(count),
            size(heapBytes),
            size(residentBytes),
          ]),
        ),
        ...waiting.map(({ count, held: { heapBytes, residentBytes } }) => [
          'waiting deliveries',
          amount(count),
          size(heapBytes),
          size(residentBytes),
        ]),
      ],
    },
    {
      title: 'Growth',
      columns: FIT_COLUMNS,
      rows: [
        ...schemes.flatMap((scheme) => {
          const name = `idle connections, ${scheme.toUpperCase()}`;
          return [
            fitRow(`${name}, heap and buffers`, held(idle[scheme], 'heapBytes'), size, '', 'a connection'),
            fitRow(`${name}, resident`, held(idle[scheme], 'residentBytes'), size, '', 'a connection'),
            fitRow(
              `new connections, ${scheme.toUpperCase()}, each with its first delivery, CPU`,
              held(idle[scheme], 'cpuUs'),
              (us) => duration(us / 1000),
              '',
              'a connection',
            ),
          ];
        }),
        fitRow('waiting deliveries, heap and buffers', held(waiting, 'heapBytes'), size, '', 'a delivery'),
        fitRow('waiting deliveries, resident', held(waiting, 'residentBytes'), size, '', 'a delivery'),
      ],
    },
    {
      title: 'Bytes of a delivery on a kept connection',
      columns: ['', 'sent', 'received'],
      rows: schemes.map((scheme) => [
        scheme.toUpperCase(),
        amount(wire[scheme].sentBytes),
        amount(wire[scheme].receivedBytes),
      ]),
    },
  ];
}
