/** How far apart the clocks are, by the Date header of an answer (RFC 9110, 6.6.1). Pure. */
import { headerValues } from '../../../contract/index.ts';
import type { Attempt } from '../../transport/index.ts';
import type { FactsOf } from '../doctor-document.ts';

/** The header has whole seconds, so on average it is half a second old when it is written. */
const HALF_SECOND = 500;
/** The last time that a Date of JavaScript can hold. */
const LAST_TIME = 8.64e15;

/** null without an answer, or without a Date header that can be read. */
export function clockFacts({ answer, timings, startedAt }: Attempt): FactsOf<'clock'> | null {
  const [date] = answer === null ? [] : headerValues(answer.headers, 'Date');
  const said = date === undefined ? Number.NaN : Date.parse(date);
  if (answer === null || timings.firstByteMs === null || Number.isNaN(said)) return null;
  // A cache tells how old its answer is.
  const [age = '0'] = headerValues(answer.headers, 'Age');
  const aged = /^\d{1,9}$/.test(age) ? Number(age) * 1000 : 0;
  const sent = timings.tlsMs ?? timings.connectMs ?? 0;
  const roundTrip = Math.max(0, timings.firstByteMs - sent);
  const here = Date.parse(startedAt) + sent + roundTrip / 2;
  const there = said + aged + HALF_SECOND;
  if (Math.abs(there) > LAST_TIME) return null;
  return {
    aheadMs: Math.round(here - there),
    uncertaintyMs: Math.round(roundTrip / 2 + HALF_SECOND),
    endpointTime: new Date(there).toISOString(),
    localTime: new Date(here).toISOString(),
  };
}
