/** The tables about receivers. */
import type { Table, Target } from './page.ts';
import type { ReceiverResults, ReceiverSample } from './receiver-bench.ts';
import { CREDENTIALS, EVERYTHING, OURS, type ReceiverVariant } from './receivers.ts';
import { compare } from './rounds.ts';
import { median, ratioInWords } from './statistics.ts';

const MOST_CPU = 1.3;
const LEAST_DURABLE_RATE = 0.45;
const MOST_COMMITS = 0.03;

export function receiverTable({ series }: ReceiverResults): Table {
  const base = series.get(EVERYTHING) ?? [];
  const hmac = series.get(CREDENTIALS) ?? [];
  const rows = [...series].map(([{ name }, samples]) => {
    const of = (field: keyof ReceiverSample) => median(samples.map((sample) => sample[field]));
    const against = compare(samples, base);
    return [
      name,
      of('cpuUs').toFixed(1),
      ratioInWords(against.cpu),
      against.leastCpu.toFixed(2),
      Math.round(of('rate')).toLocaleString('en'),
      compare(samples, hmac).rate.median.toFixed(2),
      `${of('p50').toFixed(1)} / ${of('p99').toFixed(1)}`,
    ];
  });
  return {
    title: 'Receivers',
    columns: [
      'receiver, 64 connections',
      'CPU us a request',
      'CPU against node:http with everything',
      'the same, min/min',
      'requests/s',
      'against node:http + HMAC',
      'p50 / p99 ms',
    ],
    rows,
  };
}

export function receiverTargets(results: ReceiverResults): Target[] {
  const { series, sqlite } = results;
  const of = (variant: ReceiverVariant) => series.get(variant) ?? [];
  const router = compare(of(OURS), of(EVERYTHING));
  const durable = compare(of(sqlite.ours), of(CREDENTIALS)).rate;
  const common = compare(of(sqlite.ours), of(sqlite.express)).rate;
  const commits = median(of(sqlite.ours).map((sample) => sample.commits));
  return [
    {
      what: 'receiver through the Express router, CPU per request against bare node:http with the same checks',
      target: `at most ${MOST_CPU}`,
      measured: `${ratioInWords(router.cpu)}; min/min ${router.leastCpu.toFixed(2)}`,
      met: router.cpu.median <= MOST_CPU,
    },
    {
      what: 'durable receiver, SQLite, throughput against node:http + HMAC without storage',
      target: `at least ${LEAST_DURABLE_RATE}`,
      measured: ratioInWords(durable),
      met: durable.median >= LEAST_DURABLE_RATE,
    },
    {
      what: 'commits to disk for each acknowledged notification, SQLite',
      target: `at most ${MOST_COMMITS}`,
      measured: commits.toFixed(3),
      met: commits <= MOST_COMMITS,
    },
    {
      what: 'durable receiver, SQLite, throughput against Express with one commit a request',
      target: 'at least 4',
      measured: ratioInWords(common),
      met: common.median >= 4,
    },
  ];
}
