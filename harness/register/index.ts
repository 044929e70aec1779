/** The operator's register: what happened to each partner, and who may get traffic now. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { type Register, RegisterFiles } from './register-files.ts';

export { checkedReason, overrideOf, revocationOf } from './decisions.ts';
export { databaseError, inTransaction, openDatabase } from './postgres-tables.ts';
export {
  EVENTS,
  type Grant,
  makeRecord,
  type RegisterEvent,
  type RegisterRecord,
  recordOfPartner,
  registerRecord,
  signGrant,
} from './record.ts';
export type { Register, RegisterContent } from './register-files.ts';
export { insertRecords, recordsOf } from './register-postgres.ts';
export {
  byNeed,
  type Changed,
  changedSince,
  describeMissingVerdict,
  endpointOf,
  expiringWithin,
  judgedBy,
  STATES,
  type Standing,
  type State,
  standingsOf,
} from './standing.ts';
export {
  type BelievedStanding,
  basisOf,
  type RefreshOptions,
  readStanding,
  readStandingRow,
  refreshStandings,
  type StandingRow,
} from './standing-table.ts';

/**
 * Opens the register in a folder, or in PostgreSQL if the place is a URL.
 *
 * @throws HookproofError REGISTER_PLACE, REGISTER_DATABASE
 */
export async function openRegister(place: string): Promise<Register> {
  if (isDatabase(place)) {
    return (await import('./register-postgres.ts')).RegisterPostgres.open(place);
  }
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(place)) return new RegisterFiles(place);
  // The message omits the value, which may contain a password.
  throw new HookproofError('REGISTER_PLACE', 'the register is neither a folder nor a postgres:// URL', {
    hint: 'Use, for example, `--register hookproof-partners` or `--register postgres://user@localhost/database`.',
  });
}

/** Returns whether the place of a register is a database URL. */
export function isDatabase(place: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(place);
}
