/** External programs receive no variable that is not listed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openWindow } from '../../harness/effects/index.ts';
import { runReceiverCommand } from '../../harness/run/restart.ts';

const PLANTED = ['HOOKPROOF_SECRET', 'HOOKPROOF_API_KEY', 'HOOKPROOF_CERTIFY_KEY', 'HOOKPROOF_EFFECTS_TOKEN', 'OTHER'];

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'command-'));
  for (const name of PLANTED) vi.stubEnv(name, `planted ${name}`);
  vi.stubEnv('DATABASE_URL', 'postgres://named');
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const printsVariables = () => `{ env; } > '${join(folder, 'env')}'`;
const LIMITS = { timeoutMs: 20_000 };

const CHILDREN: Readonly<Record<string, (variables?: readonly string[]) => Promise<unknown>>> = {
  'the restart command': (variables) =>
    runReceiverCommand(
      '--restart-command',
      { command: printsVariables(), variables },
      LIMITS,
      new AbortController().signal,
    ),
  'the effects command': async (variables = []) => {
    const command = `${printsVariables()}; echo '{"total": 0, "handled": []}' # `;
    const window = await openWindow({ command, variables }, { ...LIMITS, policy: { reach: 'local-too' } });
    return window.ask({ notifications: ['x'] });
  },
};

describe.each(Object.entries(CHILDREN))('%s', (_name, start) => {
  it('gets the variables that shells and ssh need, and no secret', async () => {
    await start();
    const seen = readFileSync(join(folder, 'env'), 'utf8');
    expect(seen).not.toContain('planted');
    expect(seen).toContain(`PATH=${process.env.PATH}`);
    expect(seen).not.toContain('DATABASE_URL');
  });

  it('gets a variable that the operator names', async () => {
    await start(['DATABASE_URL']);
    expect(readFileSync(join(folder, 'env'), 'utf8')).toContain('DATABASE_URL=postgres://named');
  });
});
