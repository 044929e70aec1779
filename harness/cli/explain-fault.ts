/** A fault of the dictionary in plain words, for `hookproof explain`. */
import { STACKS, type Stack } from '../../contract/index.ts';
import type { DictionaryFault } from '../diagnose/index.ts';

/** The scenarios that show it are named up to this many. */
const SHOWN = 12;

function shownBy({ outcomes }: DictionaryFault): string[] {
  const ids = Object.entries(outcomes).filter(([, outcome]) => /^(?:fail|warn) /.test(outcome));
  if (ids.length === 0) return ['Shown by    nothing that a black-box test sends'];
  const lines = ids.slice(0, SHOWN).map(([id, outcome]) => `${id}: ${outcome}`);
  const more = ids.length > SHOWN ? [`and ${ids.length - SHOWN} more`] : [];
  return [...lines, ...more].map((text, at) => `${(at === 0 ? 'Shown by' : '').padEnd(11)} ${text}`);
}

/** The rule, and each stack where it is done in its own way; with `only`, that one. */
function fixes({ fix }: DictionaryFault, only: Stack | null): string[] {
  const stacks = STACKS.filter((stack) => (only === null || stack === only) && fix[stack] !== undefined);
  return [`Fix         ${fix.rule}`, ...stacks.map((stack) => `  ${stack.padEnd(9)} ${fix[stack]}`)];
}

export function explainFault(fault: DictionaryFault, faults: readonly DictionaryFault[], only: Stack | null): string {
  const { name, title, area, severity, forbidden, seen, why, equivalentTo } = fault;
  const same = faults.filter((other) => other.equivalentTo?.name === name).map((other) => other.name);
  return `${[
    `${name}: ${title}`,
    '',
    `Kind        a mistake of receivers, in the area ${area}`,
    `Severity    ${severity}${forbidden ? '; the specification forbids it' : '; the specification does not forbid it, so it only warns'}`,
    `Seen        ${seen}`,
    `Why         ${why}`,
    ...fixes(fault, only),
    ...shownBy(fault),
    ...(equivalentTo === undefined ? [] : [`Same as     ${equivalentTo.name}: ${equivalentTo.reason}`]),
    ...(same.length === 0 ? [] : [`Same as     ${same.join(', ')}: no test from outside can tell them apart`]),
    '',
    `Try it      hookproof receiver --fault ${name}`,
  ].join('\n')}\n`;
}
