/** What the figures of several rounds come to. */

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** A ratio of two series, measured in turn. */
export interface Ratio {
  /** The median of the ratios within a round, and the extremes. */
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Divides within each round: what disturbs a round disturbs both. */
export function pairedRatio(ours: readonly number[], base: readonly number[]): Ratio {
  const ratios = ours.map((value, round) => value / (base[round] ?? Number.NaN));
  return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
}

/** `1.21 (1.18 to 1.30)` */
export function ratioInWords({ median: middle, least, most }: Ratio): string {
  return `${middle.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`;
}
