/** Rounds of measurements, and their medians and ratios. */

/** A short period of load on one process. */
export interface Slice {
  readonly count: number;
  readonly elapsedMs: number;
  /** CPU time of the measured process, in microseconds. */
  readonly cpuUs: number;
}

/** The result of one variant in one round. */
export interface Sample {
  /** CPU time per request, in microseconds: the median of the slices. */
  readonly cpuUs: number;
  /** CPU time per request in the least disturbed slice. */
  readonly minCpuUs: number;
  /** Requests per second. */
  readonly rate: number;
}

export function sampleOf(slices: readonly Slice[]): Sample {
  const cpu = slices.map(({ cpuUs, count }) => cpuUs / count);
  return {
    cpuUs: median(cpu),
    minCpuUs: Math.min(...cpu),
    rate: median(slices.map(({ count, elapsedMs }) => (count / elapsedMs) * 1000)),
  };
}

export type Series<Variant, Measured = Sample> = ReadonlyMap<Variant, readonly Measured[]>;

/** Measures every variant once per round, in a new process, and in reverse order in every other round. */
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

interface Comparison {
  readonly cpu: Ratio;
  /** The ratio of the least disturbed slices of all rounds. */
  readonly minCpu: number;
  readonly rate: Ratio;
}

export function compare(ours: readonly Sample[], base: readonly Sample[]): Comparison {
  const of = (field: keyof Sample, samples: readonly Sample[]) => samples.map((sample) => sample[field]);
  return {
    cpu: pairedRatio(of('cpuUs', ours), of('cpuUs', base)),
    minCpu: Math.min(...of('minCpuUs', ours)) / Math.min(...of('minCpuUs', base)),
    rate: pairedRatio(of('rate', ours), of('rate', base)),
  };
}

/** Returns the median of the figures of several rounds. */

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The ratio of two series that were measured alternately. */
export interface Ratio {
  /** The median and the extremes of the ratios within the rounds. */
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Divides within each round, because a disturbance of a round affects both. */
export function pairedRatio(ours: readonly number[], base: readonly number[]): Ratio {
  const ratios = ours.map((value, round) => value / (base[round] ?? Number.NaN));
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}

/** Formats a ratio: `1.21 (1.18 to 1.30)`. */
export function ratioInWords({ median: middle, min, max }: Ratio): string {
  return `${middle.toFixed(2)} (${min.toFixed(2)} to ${max.toFixed(2)})`;
}
