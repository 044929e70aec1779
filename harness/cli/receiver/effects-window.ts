/**
 * `hookproof receiver --effects`: the record of effects, the handlers that write it, and the effects window that serves
 * it.
 */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { credential } from '../command-input.ts';
import { type EffectsRecord, type Handlers, loadReceiver, type ReceiverLogger } from '../receiver-entry.ts';
import { portOf } from './receiver-limits.ts';

export interface EffectsFlags {
  readonly effects?: string;
  readonly effectsHost?: string;
  readonly effectsFile?: string;
  readonly effectsTokenFile?: string;
}

/** The parts of the effects window that a receiver needs. */
interface Effects {
  readonly handlers: Handlers;
  readonly handling?: { readonly refundWaitMs: number };
  /** Undefined without `--effects`. */
  readonly record?: EffectsRecord;
  /** Null without `--effects`. */
  readonly url: string | null;
  close(): Promise<void>;
}

/**
 * How long a REFUND waits for its SELL, in milliseconds. The usual ten minutes would delay the checks that deliver a
 * REFUND alone.
 */
export const REFUND_WAIT_MS = 1000;

/**
 * Opens the window. Each handler runs before its effect is recorded.
 *
 * @throws HookproofError RECEIVER_EFFECTS, EFFECTS_TOKEN, EFFECTS_FILE, EFFECTS_FILE_IN_USE, EFFECTS_LISTEN
 */
export async function openEffects(flags: EffectsFlags, handlers: Handlers, logger: ReceiverLogger): Promise<Effects> {
  const { effects, effectsHost: host, effectsFile, effectsTokenFile: file } = flags;
  if (effects === undefined) {
    const others = { '--effects-host': host, '--effects-file': effectsFile, '--effects-token-file': file };
    const [flag] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
    if (flag === undefined) return { handlers, url: null, async close() {} };
    throw new HookproofError('RECEIVER_EFFECTS', `\`${flag}\` needs \`--effects\``, {
      hint: 'Add it, for example `--effects 3002`.',
    });
  }
  const port = portOf('--effects', effects);
  const source = { noun: 'token', flag: '--effects-token-file', file, variable: 'HOOKPROOF_EFFECTS_TOKEN' };
  const token = await credential(source);
  if (token === undefined) {
    throw new HookproofError('RECEIVER_EFFECTS', '`--effects` needs a token', {
      hint: 'Set HOOKPROOF_EFFECTS_TOKEN, or name a file with `--effects-token-file`.',
    });
  }
  const { effectHandlers, fileEffects, memoryEffects, startEffectsWindow } = await loadReceiver();
  const record = effectsFile === undefined ? memoryEffects() : await fileEffects(effectsFile);
  try {
    const window = await startEffectsWindow({ record, token, port, logger, ...(host === undefined ? {} : { host }) });
    return {
      record,
      handlers: effectHandlers(record, { handlers }),
      handling: { refundWaitMs: REFUND_WAIT_MS },
      url: window.url,
      async close() {
        await window.close();
        await record.close();
      },
    };
  } catch (error) {
    await record.close();
    throw error;
  }
}
