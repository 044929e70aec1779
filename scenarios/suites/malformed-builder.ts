import type { Composer } from '../changes/bodies.ts';
import { handled } from '../expectations.ts';
import type { Change, Expectation, ProbeScenario } from '../scenario.ts';

/** A malformed payload with valid credentials. `what` is a noun phrase: "an empty body". */
export function withoutCrash(
  slug: string,
  what: string,
  change: Change,
  why: string,
  fix: string,
  expect: Expectation = handled,
): ProbeScenario {
  return {
    id: `malformed/${slug}`,
    title: `Handles ${what}`,
    level: 'must',
    requirements: ['delivery-malformed'],
    change,
    expect,
    why,
    fix,
  };
}

/** The same with a composed notification as the only change. */
export function composed(
  slug: string,
  what: string,
  compose: Composer,
  why: string,
  fix: string,
  expect?: Expectation,
): ProbeScenario {
  return withoutCrash(slug, what, { compose }, why, fix, expect);
}
