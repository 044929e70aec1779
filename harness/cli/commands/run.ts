/**
 * `hookproof run`: runs checks and writes reports. `--failed` repeats only the checks that failed last time, `--watch`
 * repeats after each change, and `--dry-run` prints the plan and one delivery byte for byte.
 */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { maskUrl } from '../../../contract/masked-url.ts';
import type { ConfigFlags, ResolvedConfig } from '../../config/index.ts';
import { counted, createLayout, createRedactor, formatDuration, type Layout, visibleJson } from '../../report/index.ts';
import { outlineRun, type RunOutline, sampleOnTheWire } from '../../run/index.ts';
import { commandConfig } from '../command-input.ts';
import { conduct, namedSecrets, runOptions } from '../conduct.ts';
import { confirmSending, refuseIfUnprotected } from '../confirm-sending.ts';
import { narrowedTo, readLastRun } from '../last-run.ts';
import { repeatedFlags } from '../repeated-flags.ts';
import { displayOf, isCi } from '../terminal.ts';

interface RunFlags extends ConfigFlags {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly failed?: boolean;
  readonly json?: boolean;
  readonly settle?: string;
  readonly verbose?: boolean;
  /** The paths to watch; true if none is given. */
  readonly watch?: true | string[];
  readonly yes?: boolean;
}

export async function runCommand(url: string | undefined, flags: RunFlags): Promise<number> {
  const { config: configFile, dryRun: dry = false, failed = false, json = false, ...others } = flags;
  const { settle, verbose = false, watch, yes, ...given } = others;
  if (json && !dry) {
    throw new HookproofError('RUN_JSON', '`--json` needs `--dry-run`', { hint: 'For a run, use `--reporter json`.' });
  }
  if (settle !== undefined && watch === undefined) {
    throw new HookproofError('RUN_SETTLE', '`--settle` needs `--watch`', {
      hint: 'Remove `--settle`, or add `--watch`.',
    });
  }
  if (watch !== undefined) {
    if (isCi()) {
      throw new HookproofError('RUN_WATCH_IN_CI', '`--watch` cannot be used in CI (CI is set), because it never ends', {
        hint: 'Remove `--watch`.',
      });
    }
    const { readWatchFlags, watchRun } = await import('../watch/watch-run.ts');
    const read = readWatchFlags(url, { watch, settle, dry });
    const config = await commandConfig(read.url, configFile, given, { forRun: true });
    const last = failed ? await readLastRun(config.partner.url) : null;
    await refuseIfUnprotected(config);
    await confirmSending(config, yes);
    return watchRun(config, { ...read, failed: last?.failed ?? [] });
  }
  const config = await commandConfig(url, configFile, given, { forRun: true });
  const selected = failed ? await selectFailed(config) : config;
  if (selected === null) return exitCodeOfLast(config);
  if (dry) return dryRun(selected, json);
  await refuseIfUnprotected(selected);
  await confirmSending(selected, yes);
  return conduct(selected, { remembers: true, verbose, flags: repeatedFlags(flags) });
}

/**
 * Restricts a run to the checks that failed last time, within the given selection; null if none failed.
 *
 * @throws HookproofError if no run is stored, or if none of the checks is selected
 */
async function selectFailed(config: ResolvedConfig): Promise<ResolvedConfig | null> {
  const { partner, run } = config;
  if (run.shard !== null) {
    throw new HookproofError('RUN_FAILED_SHARD', '`--failed` and `--shard` cannot be combined', {
      hint: 'A shard is a part of a fixed plan. Remove one of the two.',
    });
  }
  const last = await readLastRun(partner.url);
  if (last === null) {
    const shown = maskUrl(partner.url);
    throw new HookproofError('RUN_NOTHING_REMEMBERED', `this machine has no stored run against ${shown}`, {
      hint: `Run the whole catalogue first: ${rerunCommand(config)}`,
    });
  }
  if (last.failed.length === 0) return null;
  const scenarios = narrowedTo(last.failed, run.scenarios);
  if (scenarios.length === 0) {
    const failed = last.failed.length === 1 ? 'the check' : `any of the ${last.failed.length} checks`;
    const message = `the selection does not contain ${failed} that failed last time`;
    throw new HookproofError('RUN_FAILED_NONE_SELECTED', message, {
      hint: 'Remove `--scenario` to repeat what failed. `--failed` and the selection narrow each other.',
    });
  }
  return { ...config, run: { ...run, scenarios } };
}

/** Returns the exit code if no check is known to fail: 0 only if the last full run passed. */
async function exitCodeOfLast(config: ResolvedConfig): Promise<number> {
  const full = (await readLastRun(config.partner.url))?.full ?? null;
  const isGreen = full?.verdict === 'conformant';
  const when = full === null ? '' : ` (the last full run, ${full.startedAt.slice(0, 16).replace('T', ' ')} UTC`;
  const lastRun = full === null ? '; no full run is stored' : `${when}, ${isGreen ? 'passed' : 'did not'})`;
  const lines = [`No check is known to fail${lastRun}. Nothing was sent.`, `Full run: ${rerunCommand(config)}`];
  process.stdout.write(`${lines.join('\n')}\n`);
  return isGreen ? 0 : 3;
}

/** Returns the command for a full run. The URL is masked, because it may contain credentials. */
function rerunCommand({ configFile, namesHost, partner }: ResolvedConfig): string {
  return namesHost && configFile !== null ? 'hookproof run' : `hookproof run ${maskUrl(partner.url)}`;
}

async function dryRun(config: ResolvedConfig, json: boolean): Promise<number> {
  const outline = await outlineRun(runOptions(config));
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  const wire = redactor.text(sampleOnTheWire(outline.sample, config.partner));
  if (json) {
    const { sample, ...rest } = outline;
    process.stdout.write(`${redactor.text(visibleJson({ ...rest, advice: config.advice, request: wire }, 2))}\n`);
    return 0;
  }
  const layout = createLayout(displayOf(process.stdout));
  const lines = [...planLines(outline, config, layout), '', layout.paint('One delivery, byte for byte', 'bold')];
  process.stdout.write(redactor.text(`${lines.join('\n')}\n`));
  // The request is neither wrapped nor indented, so that it can be compared.
  process.stdout.write(`\n${wire.split('\r\n').map(layout.safe).join('\n')}\n`);
  return 0;
}

const LABEL_WIDTH = 14;

function planLines(outline: RunOutline, { run: { concurrency, timeoutMs } }: ResolvedConfig, layout: Layout): string[] {
  const { suites, notApplicable, requests, connections, resolved } = outline;
  const field = (label: string, text: string) =>
    layout.paragraph(`  ${layout.paint(label.padEnd(LABEL_WIDTH), 'dim')}`, text);
  const choice = resolved.addresses.length > 1 ? '; the first that accepts a connection' : '';
  const where =
    resolved.error !== null
      ? `unknown: ${resolved.error}`
      : `${resolved.addresses.join(', ')}${choice}, for the whole run`;
  return [
    ...layout.paragraph('', 'Dry run: nothing is sent', 'bold'),
    ...field('target', outline.url),
    ...field('address', where),
    ...field('features', outline.features.length === 0 ? 'none' : outline.features.join(', ')),
    ...(outline.profile === null ? [] : field('profile', outline.profile)),
    ...field('checks', `${outline.applicable} of ${outline.planned} apply`),
    ...suites.flatMap(({ suite, planned, applicable }) =>
      field('', `${suite.padEnd(12)} ${applicable}${applicable === planned ? '' : ` of ${planned}`}`),
    ),
    ...notApplicable.flatMap(({ reason, checks }, at) =>
      field(at === 0 ? 'left out' : '', `${counted(checks, 'check')}: ${reason}`),
    ),
    ...field(
      'requests',
      `about ${requests.about}; at most ${requests.most}, if all are answered 429 and repeated; ` +
        'two more per second while the run waits for a receiver that is down',
    ),
    ...field(
      'connections',
      `${connections.kept} kept open, about ${connections.single} for one exchange each; ` +
        `up to ${connections.atOnce} deliveries at once in a burst`,
    ),
    ...field(
      'time',
      `${formatDuration(outline.boundMs)} at most: ${formatDuration(timeoutMs)} for each delivery, ` +
        `${counted(concurrency, 'delivery', 'deliveries')} at a time`,
    ),
    ...field('seed', outline.seed),
  ];
}
