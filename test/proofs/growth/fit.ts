/** Fits straight lines to measured points. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Fit {
  /** The part that does not grow with x. */
  readonly fixed: number;
  /** Growth per unit of x. */
  readonly slope: number;
  /** The largest distance of a point from the line, relative to the point. */
  readonly maxDeviation: number;
}

/**
 * Returns the line with the smallest squared relative distances to the points. Distances are relative, because x grows
 * by factors, and the last point would otherwise determine the line.
 */
export function fitLine(points: readonly Point[]): Fit {
  const sum = (of: (point: Point) => number) => points.reduce((total, point) => total + of(point) / point.y ** 2, 0);
  const weight = sum(() => 1);
  const meanX = sum(({ x }) => x) / weight;
  const meanY = sum(({ y }) => y) / weight;
  const slope = sum(({ x, y }) => (x - meanX) * (y - meanY)) / sum(({ x }) => (x - meanX) ** 2);
  const fixed = meanY - slope * meanX;
  const deviations = points.map(({ x, y }) => Math.abs(fixed + slope * x - y) / y);
  return { fixed, slope, maxDeviation: Math.max(...deviations) };
}

/** Maximum deviation that is called linear. */
const MAX_LINEAR_DEVIATION = 0.15;

/** Describes the shape: `linear within 4 %`, or that it is not linear. */
export function shapeInWords({ maxDeviation }: Fit): string {
  const percent = Math.max(1, Math.ceil(maxDeviation * 100));
  return maxDeviation <= MAX_LINEAR_DEVIATION ? `linear within ${percent} %` : `not linear: up to ${percent} % off`;
}
