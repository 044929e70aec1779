/** Asks for confirmation before test notifications are sent to a public host that the configuration does not name. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { visible } from '../../contract/visible.ts';
import type { ResolvedConfig } from '../config/index.ts';
import { requireCredentials } from '../partner.ts';
import { counted } from '../report/index.ts';
import { outlineRun } from '../run/index.ts';
import { pinEndpoint, scopeOf } from '../transport/index.ts';
import { runOptions } from './conduct.ts';
import { askOnTerminal } from './terminal.ts';

/**
 * Returns if the user clearly intends this host: the configuration file names it, it has only private or loopback
 * addresses, `yes` is given, or the user confirms it. `count` gives the number of notifications that would be sent.
 *
 * @throws HookproofError SEND_NOT_CONFIRMED of kind `usage` before anything is sent
 */
export async function confirmSending(
  config: ResolvedConfig,
  yes: boolean | undefined,
  count: () => string | Promise<string> = () => countOfRun(config),
): Promise<void> {
  if (yes === true || config.namesHost || !(await isPublic(config))) return;
  const { hostname } = new URL(config.partner.url);
  const plan = `sends ${await count()} to ${visible(hostname)}`;
  const answer = await askOnTerminal(`This ${plan}, a host that the configuration does not name. Continue`);
  if (answer === true) return;
  const what = answer === false ? `it was not confirmed that this ${plan}` : `this ${plan}, which must be confirmed`;
  throw new HookproofError('SEND_NOT_CONFIRMED', `nothing was sent: ${what}`, {
    hint: 'Set `url` in hookproof.yaml (`hookproof init` creates one), or give `--yes`.',
  });
}

/**
 * Returns if a credential is configured, or the setting `open` says that none is needed.
 *
 * @throws HookproofError NO_CREDENTIALS, or the error of an invalid selection, which is reported first
 */
export async function refuseIfUnprotected(config: ResolvedConfig): Promise<void> {
  if (config.run.open) return;
  try {
    requireCredentials(config.partner, CREDENTIALS_HINT);
  } catch (error) {
    await outlineRun(runOptions(config));
    throw error;
  }
}

const CREDENTIALS_HINT =
  'Set HOOKPROOF_SECRET and HOOKPROOF_API_KEY (exported, in a shell), or name files with `--secret-file` and ' +
  '`--api-key-file`. If the endpoint needs neither, give `--open`.';

/**
 * Whether the host may be public. A name that does not resolve counts as public, because it may resolve later. Opens no
 * connection.
 */
async function isPublic({ partner, run: { timeoutMs } }: ResolvedConfig): Promise<boolean> {
  const { allowed, error } = await pinEndpoint(partner.url, { timeoutMs, chooses: false });
  return error !== null || allowed.some((address) => scopeOf(address) === 'public');
}

async function countOfRun(config: ResolvedConfig): Promise<string> {
  const { requests } = await outlineRun(runOptions(config));
  return `about ${counted(requests.about, 'test notification').replace(/^\d+/, requests.about.toLocaleString('en'))}`;
}
