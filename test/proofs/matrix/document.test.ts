import { describe, expect, it } from 'vitest';
import { MISTAKES } from '../../../contract/mistakes/index.ts';
import { FAULTS, type Fault } from '../../../mutants/index.ts';
import { type DocumentInput, renderDocument, renderSummary } from './document.ts';

const [one, other] = FAULTS as [Fault, Fault];
const twin: Fault = { ...other, equivalentTo: { name: one.name, reason: 'The same | from outside.' } };

const INPUT: DocumentInput = {
  faults: [one, twin],
  outcomes: [
    { name: one.name, outcomes: { 'made/often': 'fail 200', 'made/once': 'fail 200', 'made/soft': 'warn 400' } },
    { name: twin.name, outcomes: { 'made/often': 'fail 200' } },
  ],
  probes: [
    { id: 'made/often', suite: 'made', level: 'must' },
    { id: 'made/once', suite: 'made', level: 'must' },
    { id: 'made/soft', suite: 'made', level: 'should' },
    { id: 'made/idle', suite: 'made', level: 'must' },
    { id: 'made/noted', suite: 'made', level: 'info' },
  ],
  exempt: { 'made/idle': 'It is a control.' },
  receivers: [{ name: 'slow', title: 'Answers late.', start: () => Promise.reject(new Error('not here')) }],
};
const text = renderDocument(INPUT);

describe('the document of the kill matrix', () => {
  it('sums up mutants and scenarios', () => {
    expect(text).toContain('| mutants found | 2 of 2: 2 fail, 0 only warn |');
    expect(text).toContain('| 3 of 5; 1 are exempt with a reason, 1 are only recorded |');
    expect(text).toContain('| `slow` | Answers late. | no |  |');
  });

  it('names the most specific scenarios of each mutant: failures first, the rarest first among them', () => {
    const row = text.split('\n').find((line) => line.startsWith(`| \`${one.name}\``));
    expect(row).toContain(
      `| ${MISTAKES[one.mistake].severity} | 2 | 1 | \`made/once\`, \`made/often\`, \`made/soft\` |`,
    );
  });

  it('counts the mutants of each scenario, and names those that no other scenario finds', () => {
    expect(text).toContain(`| \`made/often\` | 2 | \`${twin.name}\` |`);
    expect(text).toContain('| `made/once` | 1 |  |');
    expect(text).toContain('| `made/noted` | recorded |  |');
  });

  it('gives the reasons of exempt scenarios and of equivalent mutants', () => {
    expect(text).toContain('| `made/idle` | It is a control. |');
    expect(text).toContain(`| \`${twin.name}\` | \`${one.name}\` | The same \\| from outside. |`);
  });

  it('is summed up by area and by suite', () => {
    const summary = renderSummary(INPUT);
    expect(summary).toContain('| made | 5 | 3 | 2 |');
    expect(summary).not.toContain('`made/once`');
  });

  it('does not depend on the order of the mutants', () => {
    const turned = { ...INPUT, faults: INPUT.faults.toReversed(), outcomes: INPUT.outcomes.toReversed() };
    expect(renderDocument(turned)).toBe(text);
  });
});
