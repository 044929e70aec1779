/** The short form of `npm run proofs -- growth`: the page agrees with the measurements, and its lines are fitted. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fitLine, shapeInWords } from './fit.ts';
import { growthPage, PAGE } from './page.ts';

describe('docs/growth.md', () => {
  it('has the tables of the stored measurements', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(growthPage());
  });
});

describe('a line through measured points', () => {
  const points = (y: (x: number) => number) => [1, 10, 100].map((x) => ({ x, y: y(x) }));

  it('has the fixed part and the slope of points that are on a line', () => {
    const line = fitLine(points((x) => 5 + 2 * x));
    expect(line.fixed).toBeCloseTo(5);
    expect(line.slope).toBeCloseTo(2);
    expect(shapeInWords(line)).toBe('linear within 1 %');
  });

  it('is not called linear when the points grow with the square', () => {
    expect(shapeInWords(fitLine(points((x) => x ** 2)))).toMatch(/^not linear: up to \d+ % off$/);
  });
});
