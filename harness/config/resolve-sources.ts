/** Resolves the sources of evidence: the effects window, a restart, a rotation of the secret, the log. */
import { maskUrl, secretsInUrl } from '../../contract/masked-url.ts';
import type { SourceOptions } from '../effects/index.ts';
import type { Partner } from '../partner.ts';
import { adviceOnSecret } from '../sender/index.ts';
import { givenText, givenTexts, problemWith, type Resolution, redacted, show } from './given.ts';
import { quoted } from './problems.ts';
import { readSecret } from './secrets.ts';
import { defaultText, type RunSettings, type SettingPath, settingAt } from './settings.ts';

interface ResolvedSources {
  readonly evidenceSources: SourceOptions;
  /** The number of decimals per asset; undefined if none are configured. */
  readonly decimals: Partner['decimals'];
}

const MAX_DECIMALS = 77;

export async function resolveSources(
  resolution: Resolution,
  { effectsDeadlineMs, effectsCommand, restartCommand, rotateCommand, commandVariables, logs, shard }: RunSettings,
  partner: Partner | undefined,
): Promise<ResolvedSources> {
  const url = resolveUrl(resolution);
  const token = await resolveSecret(resolution, 'effects.token');
  const nextSecret = await resolveSecret(resolution, 'hmac.next-secret');
  const given = (path: SettingPath) => resolution.settings.get(path)?.[0];
  const note = (path: SettingPath, message: string, hint: string) => {
    const one = given(path);
    if (one !== undefined) resolution.problems.push(problemWith(one, message, hint));
  };
  if (url !== undefined && effectsCommand !== null) {
    note('effects-command', 'the effects window also has a URL', 'Give only one of them.');
  }
  const isOpen = url !== undefined || effectsCommand !== null;
  if (restartCommand !== null && !isOpen) {
    const hint = 'Add `--effects URL`: without it, a restart provides no evidence.';
    note('restart-command', 'there is no effects window', hint);
  }
  if (nextSecret !== undefined && !resolution.attempted.has('hmac.secret')) {
    note(
      'hmac.next-secret',
      'there is no current secret for it to replace',
      'Give the current secret with `--secret-file`.',
    );
  } else if (nextSecret !== undefined && nextSecret === partner?.signing?.secret) {
    note('hmac.next-secret', 'it is the same as the current secret', 'Give the secret after the rotation.');
  }
  for (const message of nextSecret === undefined ? [] : adviceOnSecret(nextSecret, 'next HMAC secret')) {
    resolution.advice.push({ path: 'hmac.next-secret', reason: 'sender', message, hint: '' });
  }
  if (rotateCommand !== null && !resolution.attempted.has('hmac.next-secret')) {
    note('rotate-command', 'there is no next secret', 'Add `--next-secret-file FILE`.');
  }
  const own = commandVariables.find((name) => /^HOOKPROOF_CERTIFY/i.test(name));
  if (own !== undefined) {
    note('command-env', `${own} is the certifier's key`, 'Give a variable that the receiver needs.');
  } else if (
    commandVariables.length > 0 &&
    [effectsCommand, restartCommand, rotateCommand].every((one) => one === null)
  ) {
    const hint = 'Add `--restart-command`, `--effects-command` or `--rotate-command`, or remove it.';
    note('command-env', 'there is no command', hint);
  }
  if (shard !== null) {
    const why = 'a shard sees only its own deliveries';
    const hint = 'Run the suites `effects` and `rotation`, and check the log, in a separate run without `--shard`.';
    for (const path of ['effects.url', 'effects-command', 'log', 'hmac.next-secret'] as const) note(path, why, hint);
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
      ...(nextSecret !== undefined && {
        rotation: { nextSecret, ...(rotateCommand !== null && { command: rotateCommand }) },
      }),
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

async function resolveSecret(
  resolution: Resolution,
  path: 'effects.token' | 'hmac.next-secret',
): Promise<string | undefined> {
  const given = givenText(resolution.settings, path);
  const setting = settingAt(path);
  const secret = given && (await readSecret(given, 'noun' in setting ? setting.noun : 'secret', resolution));
  show(resolution, path, secret === undefined ? 'not set' : redacted(secret), given);
  return secret;
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
