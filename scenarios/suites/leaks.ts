import type { Leak, ObservationScenario, RunObservations, Suite } from '../scenario.ts';
import { leakProbes } from './leaks-probes.ts';
import { uniformRefusals } from './leaks-uniform.ts';

const MOST_NAMED = 5;

/** The scenarios in whose answers something was found, in the order of the run, and no more of them than one can read. */
function placesOf(run: RunObservations, leaks: readonly Leak[]): string | null {
  const found = run.leaks.filter(({ leak }) => leaks.includes(leak));
  if (found.length === 0) return null;
  const kinds = [...new Set(found.map(({ leak }) => leak))].join(', ');
  const scenarios = [...new Set(found.map(({ scenario }) => scenario))];
  const more = scenarios.length > MOST_NAMED ? ` and ${scenarios.length - MOST_NAMED} more` : '';
  return `${kinds} in the answers to ${scenarios.slice(0, MOST_NAMED).join(', ')}${more}`;
}

const nowhere: ObservationScenario = {
  id: 'leaks/nowhere',
  title: 'Shows no secret, no key and no expected signature in any answer of the whole run',
  level: 'must',
  requirements: ['no-leak'],
  observe: (run) => {
    const places = placesOf(run, ['signature', 'secret', 'api-key']);
    if (places === null) return { verdict: 'pass', observed: 'none in any answer', reason: '' };
    return { verdict: 'fail', observed: places, reason: `credentials stand in answers: ${places}` };
  },
  why: 'One answer with the expected signature lets anyone have any body signed: send it, read the answer, send it again.',
  fix: 'Answer with a fixed short text. Search the error handling for messages built from the header, the secret or the HMAC.',
};

const noStackTraces: ObservationScenario = {
  id: 'leaks/no-stack-traces',
  title: 'Shows no stack trace and no debug page in any answer of the whole run',
  level: 'should',
  requirements: ['no-hints'],
  observe: (run) => {
    const places = placesOf(run, ['stack-trace', 'debug-page']);
    if (places === null) return { verdict: 'pass', observed: 'none in any answer', reason: '' };
    return { verdict: 'warn', observed: places, reason: `the code inside shows in answers: ${places}` };
  },
  why: 'File names, versions and line numbers tell an attacker which known weaknesses are worth a try.',
  fix: 'Switch the framework to production mode, and add an error handler that answers with a status and nothing else.',
};

const noInnerMessages: ObservationScenario = {
  id: 'leaks/no-inner-messages',
  title: 'Shows no message of a database or of an exception in any answer of the whole run',
  level: 'should',
  requirements: ['no-hints'],
  observe: (run) => {
    const places = placesOf(run, ['database-message', 'error-message']);
    if (places === null) return { verdict: 'pass', observed: 'none in any answer', reason: '' };
    return { verdict: 'warn', observed: places, reason: `messages from inside show in answers: ${places}` };
  },
  why: 'Such messages name tables, columns and fields, and lead whoever tries injections from one try to the next.',
  fix: 'Catch errors where they arise, log their messages, and send texts of your own.',
};

/** What answers give away. Specification: HMAC signature (secrets stay secret); ruling: no answer helps a forger. */
export const leaksSuite: Suite = {
  name: 'leaks',
  title: 'Answers give nothing away',
  scenarios: [...leakProbes, ...uniformRefusals, nowhere, noStackTraces, noInnerMessages],
};
