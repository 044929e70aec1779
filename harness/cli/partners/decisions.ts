/** The operator's decisions about a partner: `hookproof revoke` and `hookproof override`. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../../contract/visible.ts';
import { daysOfFlag } from '../../config/index.ts';
import {
  checkedReason,
  overrideOf,
  type Register,
  type RegisterRecord,
  revocationOf,
  type Standing,
} from '../../register/index.ts';
import { outputLayout } from '../certify/output.ts';
import { type KeyFlags, signingKey } from '../certify/signing-key.ts';
import { writePartnersPage } from './partners-page.ts';
import {
  appendRecords,
  publicKeys,
  type RegisterFlags,
  readStandings,
  registerOf,
  requireRegister,
} from './register-input.ts';
import { standingLines } from './standing-lines.ts';

interface RevokeFlags extends RegisterFlags {
  readonly key?: readonly string[];
  readonly reason: string;
}

interface OverrideFlags extends RegisterFlags, KeyFlags {
  readonly reason: string;
  readonly until?: string;
}

/** Revokes the certificate of a partner. Returns the exit code. */
export async function revokeCommand(name: string, flags: RevokeFlags): Promise<number> {
  checkedReason(flags.reason);
  requireRegister(flags);
  return decide(name, flags, await publicKeys(flags.key), (standing) => revocationOf(standing, flags.reason));
}

/** Reinstates a suspended certificate. Returns the exit code. */
export async function overrideCommand(name: string, flags: OverrideFlags): Promise<number> {
  const { reason, until } = flags;
  checkedReason(reason);
  requireRegister(flags);
  const privateKey = await signingKey(flags);
  return decide(name, flags, [createPublicKey(privateKey)], (standing) =>
    overrideOf(standing, {
      reason,
      privateKey,
      ms: until === undefined ? until : daysOfFlag('--until', until, { hours: true }),
    }),
  );
}

async function decide(
  name: string,
  flags: RegisterFlags,
  keys: readonly KeyObject[],
  recordOf: (standing: Standing) => RegisterRecord,
): Promise<number> {
  const register = await registerOf(flags);
  try {
    const before = await readStandings(register, keys);
    const standing = before.find(({ partner }) => partner === name);
    if (standing === undefined) throw noPartner(name, before);
    await appendRecords(register, keys, [recordOf(standing)]);
    await showDecision(name, flags, register, keys);
    return 0;
  } finally {
    await register.close();
  }
}

async function showDecision(
  name: string,
  flags: RegisterFlags,
  register: Register,
  keys: readonly KeyObject[],
): Promise<void> {
  const after = await readStandings(register, keys);
  const layout = outputLayout();
  const lines = after.filter(({ partner }) => partner === name).flatMap((one) => standingLines(one, layout));
  process.stdout.write(`${lines.join('\n')}\n`);
  await writePartnersPage(flags, after);
}

export function noPartner(name: string, all: readonly Standing[]): HookproofError {
  const known = all.map(({ partner }) => partner);
  const some = known.slice(0, 8).join(', ');
  return new HookproofError('PARTNERS_UNKNOWN', `there is no partner ${visible(name)} in the register`, {
    hint:
      known.length === 0
        ? 'The register is empty: name its place with `--register`.'
        : `It has ${some}${known.length > 8 ? ` and ${known.length - 8} more` : ''}.`,
  });
}
