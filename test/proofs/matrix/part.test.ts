/** Which changes the part of the matrix detects. */
import { expect, it } from 'vitest';
import { isSameCode } from './part.ts';

it.each<[boolean, string, string]>([
  [true, 'export const A = [1, 2];', '/** Says more. */\nexport const A = [\n  1, // one\n  2,\n];'],
  [true, 'export const A: number = 1;', 'export const A = 1;'],
  [false, 'export const A = [1, 2];', 'export const A = [1, 3];'],
  [false, "export const A = { why: 'x' };", "export const A = { why: '/* x */' };"],
  [true, "export const A = { why: 'It says this' };", "export const A = { why: 'It says ' + 'quite another' };"],
  [false, "export const A = { path: '/a b' };", "export const A = { path: '/a c' };"],
])('finds the same code: %s', async (expected, a, b) => {
  expect(await isSameCode(a, b)).toBe(expected);
});
