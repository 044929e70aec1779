/**
 * `hookproof doctor`: examines an endpoint and its configuration, and reports findings with fixes. There is no verdict.
 */
import type { ConfigFlags } from '../../config/index.ts';
import type { DoctorDocument } from '../../doctor/index.ts';
import { interruptible } from '../stop-signals.ts';
import { displayOf } from '../terminal.ts';

interface DoctorFlags extends ConfigFlags {
  readonly config?: string;
  readonly deliver?: boolean;
  readonly strict?: boolean;
  readonly json?: boolean;
  readonly schema?: boolean;
}

export async function doctorCommand(url: string | undefined, flags: DoctorFlags): Promise<number> {
  const { config: configFile, deliver, json, schema, strict = false, ...given } = flags;
  if (schema === true) {
    const { doctorSchema } = await import('../../doctor/index.ts');
    process.stdout.write(`${JSON.stringify(doctorSchema(), null, 2)}\n`);
    return 0;
  }
  const stages = stageLine();
  const interruption = interruptible();
  try {
    // Printed before the rest of the program is loaded, so that output appears at once.
    stages.show('reading the configuration');
    const [{ examine, renderDoctor }, { createRedactor }, { namedSecrets }, notification] = await Promise.all([
      import('../../doctor/index.ts'),
      import('../../report/index.ts'),
      import('../conduct.ts'),
      deliver === true ? import('../sample-events.ts') : null,
    ]);
    const document = await examine({
      sources: {
        flags: { ...given, ...(url === undefined ? {} : { url }) },
        env: process.env,
        cwd: process.cwd(),
        configFile,
        stdin: process.stdin,
      },
      makeNotification: notification?.testNotification ?? null,
      createRedactor: (secrets) => createRedactor({ values: namedSecrets(secrets) }),
      onStage: stages.show,
      signal: interruption.signal,
    });
    stages.erase();
    const { exitCode, decidedBy } = exitOf(document, interruption.exitCode(), strict);
    process.stdout.write(
      json === true
        ? `${JSON.stringify(document, null, 2)}\n`
        : `${renderDoctor(document, displayOf(process.stdout))}\nExit code ${exitCode}: ${decidedBy}.\n`,
    );
    return exitCode;
  } finally {
    stages.erase();
    interruption.dispose();
  }
}

/** Returns the exit code and the reason for it. With `strict`, advice counts as a problem. */
function exitOf(
  { counts: { problem, advice }, reached }: DoctorDocument,
  interrupted: number | null,
  strict: boolean,
): { exitCode: number; decidedBy: string } {
  if (interrupted !== null) return { exitCode: interrupted, decidedBy: 'the examination was interrupted' };
  if (reached === false) return { exitCode: 3, decidedBy: 'the endpoint was not reached' };
  if (problem > 0) {
    return { exitCode: 1, decidedBy: `there ${problem === 1 ? 'is a problem' : `are ${problem} problems`}` };
  }
  if (strict && advice > 0) return { exitCode: 1, decidedBy: '`--strict` is given, and there is advice' };
  return { exitCode: 0, decidedBy: 'there is no problem' };
}

/** Shows the current stage: one line that is updated on a terminal, and printed once elsewhere. */
function stageLine(): { show(stage: string): void; erase(): void } {
  const { isTTY, columns } = displayOf(process.stderr);
  let shown = false;
  return {
    show(stage) {
      if (isTTY) process.stderr.write(`\r\x1b[K${stage.slice(0, Math.max(8, columns - 1))}`);
      else if (!shown) process.stderr.write(`${stage}\n`);
      shown = true;
    },
    erase() {
      if (isTTY && shown) process.stderr.write('\r\x1b[K');
    },
  };
}
