import { describe, expect, it } from 'vitest';
import { FAULTS, type Fault } from '../../../receiver/faults/index.ts';
import { renderDocument } from './document.ts';
import type { Played } from './play.ts';
import type { Matrix } from './rules.ts';

const [one, other] = FAULTS as [Fault, Fault];

function played(name: string, outcomes: Played['outcomes']): Played {
  return {
    name,
    kind: 'fault',
    durationMs: Math.random(),
    features: [],
    outcomes,
    undecided: {},
    stopped: null,
    refusal: null,
    judged: 1,
  };
}

const twin: Fault = { ...other, equivalentTo: { name: one.name, reason: 'The same | from outside.' } };
const matrix: Matrix = {
  faults: [one, twin],
  probes: [
    { id: 'made/often', suite: 'made', level: 'must' },
    { id: 'made/once', suite: 'made', level: 'must' },
    { id: 'made/soft', suite: 'made', level: 'should' },
    { id: 'made/idle', suite: 'made', level: 'must' },
    { id: 'made/noted', suite: 'made', level: 'info' },
  ],
  exempt: { 'made/idle': 'It is a control.' },
  uncertain: [],
  runs: [
    [
      played(one.name, { 'made/often': 'fail 200', 'made/once': 'fail 200', 'made/soft': 'warn 400' }),
      played(twin.name, { 'made/often': 'fail 200' }),
    ],
  ],
  leftOut: [],
};
const receivers = [{ name: 'slow', title: 'Answers late.', start: () => Promise.reject(new Error('not here')) }];
const text = renderDocument({ matrix, faults: [one, twin], receivers });

describe('the document of the matrix', () => {
  it('sums up', () => {
    expect(text).toContain('| mutants that are found | 2 of 2: 2 fail, 0 are warned about |');
    expect(text).toContain('| scenarios that find one | 3 of 5; 1 need not, with a reason, and 1 only record |');
    expect(text).toContain('| `slow` | Answers late. | no |  |');
  });

  it('names for each mutant what says most: failures first, the rarest first among them', () => {
    const row = text.split('\n').find((line) => line.startsWith(`| \`${one.name}\``));
    expect(row).toContain(`| ${one.severity} | 2 | 1 | \`made/once\`, \`made/often\`, \`made/soft\` |`);
  });

  it('counts for each scenario, and names what nothing else finds', () => {
    expect(text).toContain(`| \`made/often\` | 2 | \`${twin.name}\` |`);
    expect(text).toContain('| `made/once` | 1 |  |');
    expect(text).toContain('| `made/noted` | recorded |  |');
  });

  it('gives the reasons for what is exempt or equivalent', () => {
    expect(text).toContain('| `made/idle` | It is a control. |');
    expect(text).toContain(`| \`${twin.name}\` | \`${one.name}\` | The same \\| from outside. |`);
  });

  it('is the same in whatever order things were played', () => {
    const turned = { ...matrix, faults: [twin, one], runs: [(matrix.runs[0] ?? []).toReversed()] };
    expect(renderDocument({ matrix: turned, faults: [twin, one], receivers })).toBe(text);
  });
});
