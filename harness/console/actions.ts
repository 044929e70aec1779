/** The actions that the holder of a token may take on a partner. An action and its audit entry are stored together. */
import type { KeyObject } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import type * as z from 'zod';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { hasQueue } from '../operate/index.ts';
import {
  checkedReason,
  endpointOf,
  insertRecords,
  inTransaction,
  overrideOf,
  type RegisterRecord,
  refreshStandings,
  revocationOf,
  type Standing,
} from '../register/index.ts';
import { addAuditEntry } from './audit.ts';
import { Problem } from './problem.ts';
import type { ACTIONS, ActionName } from './schemas.ts';
import type { Standings } from './standings.ts';

/** Adds a run of a partner to the queue, in the same transaction as the audit entry. */
export interface ConsoleQueue {
  runAt(client: PoolClient, run: { readonly partner: string; readonly host: string | null }, at: Date): Promise<void>;
}

export interface ActionsOptions {
  readonly pool: Pool;
  readonly keys: readonly KeyObject[];
  readonly currentRevision: number;
  readonly standings: Standings;
  /** Signs overrides; undefined if the console does not offer them. */
  readonly signingKey: KeyObject | undefined;
  /** Undefined if no run can be started from the console. */
  readonly queue: ConsoleQueue | undefined;
}

type Given<Name extends ActionName> = z.infer<(typeof ACTIONS)[Name]>;
export type Wanted = { [Name in ActionName]: { readonly name: Name; readonly given: Given<Name> } }[ActionName];

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export class Actions {
  readonly #options: ActionsOptions;

  constructor(options: ActionsOptions) {
    this.#options = options;
  }

  /** Returns the actions that are currently possible for a partner. */
  async offeredFor({ certificate, state }: Standing): Promise<ActionName[]> {
    const { pool, queue, signingKey } = this.#options;
    const isSuspended = state === 'failing' || state === 'drifted';
    const isValid = certificate !== null && Date.parse(certificate.expiresAt) > Date.now();
    return [
      ...(certificate !== null && state !== 'revoked' ? (['revoke'] as const) : []),
      ...(isValid && isSuspended && signingKey !== undefined ? (['override'] as const) : []),
      ...(queue !== undefined && (await hasQueue(pool)) ? (['run-now', 'reschedule'] as const) : []),
    ];
  }

  /**
   * Performs the action if the standing, newly derived from the records, allows it.
   *
   * @throws Problem, HookproofError PARTNERS_DECISION, PARTNERS_REASON
   */
  async act(who: string, partner: string, wanted: Wanted): Promise<void> {
    const { keys, currentRevision, pool, standings } = this.#options;
    const standing = await standings.standingOf(partner);
    if (standing === null) throw new Problem(404, 'no-partner', 'There is no such partner in the register.');
    const reason = checkedReason(wanted.given.reason);
    const record = this.#recordFor(standing, wanted, reason);
    const at = wanted.name === 'reschedule' ? timeGiven(wanted.given.at) : new Date();
    await inTransaction(pool, async (client) => {
      if (record !== null) await insertRecords(client, [record]);
      else await (await this.#queue()).runAt(client, { partner, host: hostOf(standing) }, at);
      const details = record === null ? { at: at.toISOString() } : { record: record.id };
      await addAuditEntry(client, { who, action: wanted.name, partner, reason, details });
    });
    if (record !== null) await refreshStandings(pool, keys, { currentRevision, now: new Date() }, [partner]);
  }

  #recordFor(standing: Standing, wanted: Wanted, reason: string): RegisterRecord | null {
    if (wanted.name === 'revoke') return revocationOf(standing, reason);
    if (wanted.name !== 'override') return null;
    const { signingKey: privateKey } = this.#options;
    if (privateKey === undefined) {
      const hint = 'Start the console with `--signing-key`, or use `hookproof override`.';
      throw new Problem(409, 'no-signing-key', 'The console has no private key to sign an override with.', hint);
    }
    const { days } = wanted.given;
    return overrideOf(standing, { reason, privateKey, ms: days === undefined ? undefined : days * DAY_MS });
  }

  async #queue(): Promise<ConsoleQueue> {
    const { pool, queue } = this.#options;
    if (queue !== undefined && (await hasQueue(pool))) return queue;
    throw new Problem(409, 'no-queue', 'No worker has created a queue in this database.', 'Start `hookproof operate`.');
  }
}

function hostOf(standing: Standing): string | null {
  const url = endpointOf(standing);
  return url === null ? null : new URL(url).hostname;
}

function timeGiven(text: string): Date {
  // A form field has no time zone, because its label says UTC, and no seconds.
  const time = new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
  if (time.getTime() > Date.now() - MINUTE_MS) return time;
  throw new HookproofError('CONSOLE_TIME', `the time ${time.toISOString()} is in the past`, {
    hint: 'Give a future time. Without a time zone, it is UTC.',
  });
}
