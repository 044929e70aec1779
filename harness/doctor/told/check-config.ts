/**
 * Whether `run` would take the configuration. What the doctor looks at itself is left to it; everything else that is wrong ends the
 * command, as it ends `run`.
 */
import { HookproofError } from '../../../contract/index.ts';
import { loadConfig, type ResolvedConfig } from '../../config/index.ts';
import type { AllTold, Sources } from './told.ts';

export interface CheckedConfig {
  /** null when `run` would refuse it for something that the doctor looks at itself, or when there is no URL. */
  readonly config: ResolvedConfig | null;
  /** What is wrong with the client certificates of `mtls.fixtures`. */
  readonly fixtures: readonly { readonly message: string; readonly hint: string }[];
}

/** The beginnings of messages about what the doctor has findings for; a place in the file stands before a key. */
const LOOKED_AT =
  /^(?:--(?:secret-file|api-key-file|client-cert|client-key|ca)|HOOKPROOF_(?:SECRET|API_KEY|CLIENT_CERT|CLIENT_KEY|CLIENT_KEY_PASSPHRASE|CA)|\S.*?:\d+:\d+: (?:hmac\.secret|api-key\.value|tls\.[\w-]+)): /;
/** What the doctor does without. */
const NOT_NEEDED = /^(?:there is no URL to run against$|(?:--profile|HOOKPROOF_PROFILE|\S.*?:\d+:\d+: profile): )/;
const FIXTURE = /^\S.*?:\d+:\d+: (?=mtls\.fixtures\.)/;

/** @throws HookproofError of kind `usage` with what is wrong besides */
export async function checkConfig({ flags, env, cwd, configFile }: Sources): Promise<CheckedConfig> {
  try {
    const config = await loadConfig({ flags, env, cwd, configFile });
    return { config, fixtures: [] };
  } catch (error) {
    if (!(error instanceof HookproofError) || error.kind !== 'usage') throw error;
    const problems = problemsOf(error);
    const others = problems.filter(
      ({ message }) => ![LOOKED_AT, NOT_NEEDED, FIXTURE].some((pattern) => pattern.test(message)),
    );
    if (others.length === 1 && others[0] !== undefined) {
      throw new HookproofError(error.code, others[0].message, { hint: others[0].hint });
    }
    if (others.length > 0) {
      const list = others.map(({ message, hint }) => `  ${message}\n    ${hint}`).join('\n');
      const message = `${others.length} things are wrong with the configuration:\n${list}`;
      throw new HookproofError('CONFIG_INVALID', message, { hint: error.hint });
    }
    const fixtures = problems.filter(({ message }) => FIXTURE.test(message));
    return { config: null, fixtures };
  }
}

/** Several problems come in one message, two spaces before each and four before its hint. */
function problemsOf({ code, message, hint }: HookproofError): { message: string; hint: string }[] {
  if (code !== 'CONFIG_INVALID') return [{ message, hint }];
  const problems: { message: string; hint: string }[] = [];
  for (const line of message.split('\n').slice(1)) {
    const last = problems.at(-1);
    if (/^ {2}\S/.test(line)) problems.push({ message: line.slice(2), hint: '' });
    else if (last !== undefined) last.hint = `${last.hint} ${line.trim()}`.trim();
  }
  return problems;
}

/** Milliseconds for a connection or a delivery, also where `run` would refuse the rest of the configuration. */
export async function timeoutOf({ timeout }: AllTold): Promise<number> {
  const flags = { url: 'https://localhost/', timeout: timeout?.value };
  const { run } = await loadConfig({ flags, env: {}, cwd: '.', configFile: null });
  return run.timeoutMs;
}
