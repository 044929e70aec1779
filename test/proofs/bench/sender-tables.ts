/** The tables about senders. */
import type { Table, Target } from './page.ts';
import { compare, type Sample, type Series } from './rounds.ts';
import { SENDERS, type SenderVariant } from './sender-bench.ts';
import { median, ratioInWords } from './statistics.ts';

const LEAST_RATE = 0.75;

export function senderTable(series: Series<SenderVariant>): Table {
  const rows = [...series].map(([{ name, scheme }, samples]) => {
    const of = (field: keyof Sample) => median(samples.map((sample) => sample[field]));
    const against = compare(samples, series.get(SENDERS[scheme].bare) ?? []);
    return [
      scheme.toUpperCase(),
      name,
      Math.round(of('rate')).toLocaleString('en'),
      ratioInWords(against.rate),
      of('cpuUs').toFixed(1),
      against.cpu.median.toFixed(2),
      against.leastCpu.toFixed(2),
    ];
  });
  return {
    title: 'Senders',
    columns: [
      '',
      'sender, 64 in flight',
      'deliveries/s',
      'against node:http(s)',
      'CPU us a delivery',
      'against node:http(s)',
      'the same, min/min',
    ],
    rows,
  };
}

export function senderTargets(series: Series<SenderVariant>): Target[] {
  return Object.values(SENDERS).map(({ bare, ours }) => {
    const { rate } = compare(series.get(ours) ?? [], series.get(bare) ?? []);
    return {
      what: `sender core, keep-alive, signed, ${ours.scheme.toUpperCase()}: deliveries/s against a bare agent of node:${ours.scheme} with ready bytes`,
      target: `at least ${LEAST_RATE}`,
      measured: ratioInWords(rate),
      met: rate.median >= LEAST_RATE,
    };
  });
}
