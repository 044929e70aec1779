/**
 * Rounds of measurements: each measures every variant once, in a new process, and every other round in the opposite
 * order.
 */
import { median, pairedRatio, type Ratio } from './statistics.ts';

/** A stretch of load on one process. */
export interface Slice {
  readonly count: number;
  readonly elapsedMs: number;
  /** Processor time of the process that is measured, in microseconds. */
  readonly cpuUs: number;
}

/** What one variant came to in one round. */
export interface Sample {
  /** Processor time for one request, in microseconds: the median of the slices. */
  readonly cpuUs: number;
  /** Of the slice that was disturbed least. */
  readonly leastCpuUs: number;
  /** Requests a second. */
  readonly rate: number;
}

export function sampleOf(slices: readonly Slice[]): Sample {
  const cpu = slices.map(({ cpuUs, count }) => cpuUs / count);
  return {
    cpuUs: median(cpu),
    leastCpuUs: Math.min(...cpu),
    rate: median(slices.map(({ count, elapsedMs }) => (count / elapsedMs) * 1000)),
  };
}

export type Series<Variant, Measured = Sample> = ReadonlyMap<Variant, readonly Measured[]>;

export async function interleaved<Variant, Measured>(
  variants: readonly Variant[],
  rounds: number,
  measure: (variant: Variant) => Promise<Measured>,
): Promise<Series<Variant, Measured>> {
  const series = new Map<Variant, Measured[]>(variants.map((variant) => [variant, []]));
  for (let round = 0; round < rounds; round++) {
    for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
      series.get(variant)?.push(await measure(variant));
    }
  }
  return series;
}

/** How one variant compares with another. */
export interface Comparison {
  readonly cpu: Ratio;
  /** The ratio of the least disturbed slices of all rounds. */
  readonly leastCpu: number;
  readonly rate: Ratio;
}

export function compare(ours: readonly Sample[], base: readonly Sample[]): Comparison {
  const of = (field: keyof Sample, samples: readonly Sample[]) => samples.map((sample) => sample[field]);
  return {
    cpu: pairedRatio(of('cpuUs', ours), of('cpuUs', base)),
    leastCpu: Math.min(...of('leastCpuUs', ours)) / Math.min(...of('leastCpuUs', base)),
    rate: pairedRatio(of('rate', ours), of('rate', base)),
  };
}
