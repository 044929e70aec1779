/** What shows more than the answers: the effects window, a command that restarts the receiver, its logs. */
import { maskUrl, secretsInUrl } from '../../contract/masked-url.ts';
import type { SourceOptions } from '../effects/index.ts';
import type { Partner } from '../partner.ts';
import { givenText, givenTexts, problemWith, type Resolution, redacted, show } from './given.ts';
import { quoted } from './problems.ts';
import { readSecret } from './secrets.ts';
import { defaultText, type RunSettings, type SettingPath, settingAt } from './settings.ts';

interface ResolvedSources {
  readonly evidenceSources: SourceOptions;
  /** undefined where none are configured. */
  readonly decimals: Partner['decimals'];
}

/** The most decimals that an asset can have. */
const MAX_DECIMALS = 77;

export async function resolveSources(
  resolution: Resolution,
  { effectsDeadlineMs, effectsCommand, restartCommand, commandVariables, logs, shard }: RunSettings,
  partner: Partner | undefined,
): Promise<ResolvedSources> {
  const url = resolveUrl(resolution);
  const token = await resolveToken(resolution);
  const given = (path: SettingPath) => resolution.settings.get(path)?.[0];
  const note = (path: SettingPath, message: string, hint: string) => {
    const one = given(path);
    if (one !== undefined) resolution.problems.push(problemWith(one, message, hint));
  };
  if (url !== undefined && effectsCommand !== null) {
    note('effects-command', 'the effects window has a URL, too', 'Give one of the two.');
  }
  const isOpen = url !== undefined || effectsCommand !== null;
  if (restartCommand !== null && !isOpen) {
    const hint = 'Add `--effects URL`: without it, a restart shows nothing.';
    note('restart-command', 'there is no effects window', hint);
  }
  const own = commandVariables.find((name) => /^HOOKPROOF_CERTIFY/i.test(name));
  if (own !== undefined) {
    note('command-env', `${own} is the key of the certifier`, 'Name a variable that the receiver needs.');
  } else if (commandVariables.length > 0 && effectsCommand === null && restartCommand === null) {
    note('command-env', 'there is no command', 'Add `--restart-command` or `--effects-command`, or remove it.');
  }
  if (shard !== null) {
    const why = 'a shard sees only its own deliveries';
    const hint = 'Run the suite `effects` and the log in a separate run, without `--shard`.';
    for (const path of ['effects.url', 'effects-command', 'log'] as const) note(path, why, hint);
  }
  const ca = partner?.tls?.ca;
  return {
    evidenceSources: {
      ...(isOpen && {
        effects: {
          ...(url !== undefined && { url }),
          ...(effectsCommand !== null && { command: effectsCommand }),
          token,
          ...(ca !== undefined && { tls: { ca } }),
          deadlineMs: effectsDeadlineMs,
        },
      }),
      ...(restartCommand !== null && { restartCommand }),
      ...(commandVariables.length > 0 && { commandVariables }),
      ...(logs.length > 0 && { logs }),
    },
    decimals: resolveDecimals(resolution),
  };
}

function resolveUrl(resolution: Resolution): string | undefined {
  const given = givenText(resolution.settings, 'effects.url');
  show(resolution, 'effects.url', given === undefined ? 'none' : maskUrl(given.value), given);
  if (given === undefined) return undefined;
  const url = URL.canParse(given.value) ? new URL(given.value) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!isHttp || url?.username !== '' || url.password !== '') {
    const hint = 'Give a full URL without credentials: http://127.0.0.1:9101/effects. The token has its own setting.';
    const shown = quoted(maskUrl(given.value), 'the value');
    resolution.problems.push(problemWith(given, `${shown} is not an http or https URL without credentials`, hint));
    return undefined;
  }
  resolution.secrets.push(...secretsInUrl(given.value));
  return given.value;
}

async function resolveToken(resolution: Resolution): Promise<string | undefined> {
  const given = givenText(resolution.settings, 'effects.token');
  const setting = settingAt('effects.token');
  const token = given && (await readSecret(given, 'noun' in setting ? setting.noun : 'token', resolution));
  show(resolution, 'effects.token', token === undefined ? 'not set' : redacted(token), given);
  return token;
}

function resolveDecimals({ settings, problems }: Resolution): Partner['decimals'] {
  const given = givenTexts(settings, 'effects.decimals');
  if (given.length === 0) return undefined;
  const entries = given.flatMap((one) => {
    const [, asset, decimals] = /^([^=\s]{1,40})=(\d{1,2})$/.exec(one.value) ?? [];
    if (asset !== undefined && Number(decimals) <= MAX_DECIMALS) return [[asset, Number(decimals)] as const];
    const hint = `Write a symbol and its decimals: ${defaultText(settingAt('effects.decimals'))}.`;
    problems.push(problemWith(one, `${quoted(one.value, 'the value')} is not symbol=decimals`, hint));
    return [];
  });
  return Object.fromEntries(entries);
}
