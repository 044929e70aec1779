/** `hookproof run`: a run and its reports, or with `--dry-run` the plan and one delivery byte for byte. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import type { ConfigFlags, ResolvedConfig } from '../../config/index.ts';
import { counted, createLayout, createRedactor, formatDuration, type Layout, visibleJson } from '../../report/index.ts';
import { outlineRun, type RunOutline, sampleOnTheWire } from '../../run/index.ts';
import { commandConfig } from '../command-input.ts';
import { conduct, namedSecrets } from '../conduct.ts';
import { confirmSending } from '../confirm-sending.ts';
import { displayOf } from '../terminal.ts';

interface RunFlags extends ConfigFlags {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly yes?: boolean;
}

export async function runCommand(url: string | undefined, flags: RunFlags): Promise<number> {
  const { config: configFile, dryRun: dry = false, json = false, yes, ...given } = flags;
  if (json && !dry) {
    throw new HookproofError('RUN_JSON', '`--json` needs `--dry-run`', { hint: 'For a run, use `--reporter json`.' });
  }
  const config = await commandConfig(url, configFile, given);
  if (dry) return dryRun(config, json);
  await confirmSending(config, yes);
  return conduct(config);
}

async function dryRun(config: ResolvedConfig, json: boolean): Promise<number> {
  const { partner, run: options } = config;
  const { concurrency, timeoutMs, recoveryMs, maxMs } = options;
  const outline = await outlineRun({
    partner,
    clientFixtures: config.clientFixtures,
    selection: { suites: options.suites, scenarios: options.scenarios, greps: options.greps, shard: options.shard },
    limits: { concurrency, timeoutMs, recoveryMs, maxMs },
    profile: options.profile,
    ...(options.seed === null ? {} : { seed: options.seed }),
  });
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  const wire = redactor.text(sampleOnTheWire(outline.sample, partner));
  if (json) {
    const { sample, ...rest } = outline;
    process.stdout.write(`${redactor.text(visibleJson({ ...rest, advice: config.advice, request: wire }, 2))}\n`);
    return 0;
  }
  const layout = createLayout(displayOf(process.stdout));
  const lines = [...planLines(outline, config, layout), '', layout.paint('One delivery, byte for byte', 'bold')];
  process.stdout.write(redactor.text(`${lines.join('\n')}\n`));
  // Never wrapped or indented, so that it can be compared.
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
        'two more a second while the run waits for a receiver that is down',
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
