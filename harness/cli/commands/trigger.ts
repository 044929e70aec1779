/** `hookproof trigger`: sends one notification, or the notifications of one flow, with the sender core. */
import { emittedNotification, HookproofError, type JsonObject, type Notification } from '../../../contract/index.ts';
import { maskUrl } from '../../../contract/masked-url.ts';
import { ID_FIELDS, newTestId } from '../../../scenarios/index.ts';
import { type ConfigFlags, jsonOr } from '../../config/index.ts';
import { nearestName } from '../../config/nearest-name.ts';
import type { Partner } from '../../partner.ts';
import { counted, createRedactor, type Redactor, visibleJson } from '../../report/index.ts';
import { sampleOnTheWire } from '../../run/index.ts';
import { createSender, notificationsFor, prepare, sign } from '../../sender/index.ts';
import { pinEndpoint } from '../../transport/index.ts';
import { describeAnswer } from '../answer-line.ts';
import { commandConfig } from '../command-input.ts';
import { namedSecrets } from '../conduct.ts';
import { confirmSending } from '../confirm-sending.ts';
import { didYouMean } from '../did-you-mean.ts';
import { SAMPLE_EVENTS } from '../sample-events.ts';
import { printAdvice } from '../terminal.ts';

interface TriggerFlags extends ConfigFlags {
  readonly config?: string;
  readonly set?: string[];
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly yes?: boolean;
}

export async function triggerCommand(
  name: string | undefined,
  url: string | undefined,
  flags: TriggerFlags,
): Promise<number> {
  if (name === 'list' && url === undefined) {
    const lines = Object.entries(SAMPLE_EVENTS).map(([event, { title }]) => `${event.padEnd(26)}${title}\n`);
    process.stdout.write(lines.join(''));
    return 0;
  }
  const { config: configFile, set = [], dryRun: _dry, json: _json, yes, ...given } = flags;
  const sample = sampleNamed(name, url);
  for (const assignment of set) setPath({}, assignment);
  const config = await commandConfig(url, configFile, given);
  const notifications = makeNotifications(sample, config.partner.samples, set);
  printAdvice(config.advice);
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  if (flags.dryRun === true) {
    for (const notification of notifications) {
      const request = sampleOnTheWire(prepare(notification, config.partner), config.partner);
      process.stdout.write(`${redactor.text(request).replaceAll('\r\n', '\n')}\n\n`);
    }
    return 0;
  }
  await confirmSending(config, yes, () => counted(notifications.length, 'test notification'));
  return send(notifications, config.partner, config.run.timeoutMs, flags, redactor);
}

const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Returns a copy in which the assignment `path=value` is applied. The names of the path are separated by dots; a value
 * that is not JSON is text. Missing objects on the way are created.
 *
 * @throws HookproofError SET_INVALID for anything that is not an assignment, or whose path leads through a value that
 *   is not an object
 */
export function setPath(target: JsonObject, assignment: string): JsonObject {
  const equals = assignment.indexOf('=');
  const names = assignment.slice(0, equals).split('.');
  if (equals < 1 || names.some((name) => name === '' || FORBIDDEN.has(name))) {
    throw new HookproofError('SET_INVALID', `\`--set ${assignment.slice(0, 60)}\` is not an assignment`, {
      hint: 'Write `--set path=value`, for example `--set data.metadata.orderStatus=PENDING`.',
    });
  }
  const copy = structuredClone(target);
  let place = copy;
  for (const [depth, name] of names.slice(0, -1).entries()) {
    place[name] ??= {};
    const next = place[name];
    if (typeof next !== 'object' || next === null || Array.isArray(next)) {
      throw new HookproofError('SET_INVALID', `--set: ${names.slice(0, depth + 1).join('.')} is not an object`, {
        hint: 'Only fields of objects can be set.',
      });
    }
    place = next;
  }
  place[names.at(-1) ?? ''] = jsonOr(assignment.slice(equals + 1));
  return copy;
}

type SampleEvent = (typeof SAMPLE_EVENTS)[string];

function sampleNamed(name: string | undefined, url: string | undefined): SampleEvent {
  const sample = name !== undefined && Object.hasOwn(SAMPLE_EVENTS, name) ? SAMPLE_EVENTS[name] : undefined;
  if (sample !== undefined) return sample;
  const isUrl = name !== undefined && /^https?:/i.test(name);
  const names = Object.keys(SAMPLE_EVENTS);
  const what = isUrl ? 'the notification comes before the URL' : `unknown notification or flow "${name}"`;
  throw name === undefined
    ? new HookproofError('TRIGGER_MISSING', 'no notification or flow was named', { hint: choices('buy', undefined) })
    : new HookproofError('TRIGGER_UNKNOWN', what, {
        hint: isUrl
          ? choices('buy', name)
          : `${didYouMean(name, names)}${choices(nearestName(name, names) ?? 'buy', url)}`,
      });
}

/** What can be triggered, and the next command. */
function choices(name: string, url = 'http://127.0.0.1:3000/'): string {
  const isFlow = ([, { title }]: [string, SampleEvent]) => title.startsWith('flow:');
  const listed = (wanted: boolean) =>
    Object.entries(SAMPLE_EVENTS)
      .filter((entry) => isFlow(entry) === wanted)
      .map(([key]) => key)
      .join(', ');
  return [
    'Choose one; `hookproof trigger list` describes them.',
    `Notifications: ${listed(false)}`,
    `Flows:         ${listed(true)}`,
    `Next:          hookproof trigger ${name} ${maskUrl(url)}`,
  ].join('\n');
}

/** A copy with the first configured id of each kind, so that the notifications of a flow belong together. */
function withKnownIds(notification: Notification, samples: Partner['samples']): JsonObject {
  const data = Object.entries(notification.data as unknown as JsonObject).map(([name, value]) => {
    const kind = ID_FIELDS[name];
    return [name, (kind && samples?.ids[kind]?.[0]) ?? value] as const;
  });
  return { ...(notification as unknown as JsonObject), data: Object.fromEntries(data) };
}

function makeNotifications(
  sample: SampleEvent,
  samples: Partner['samples'],
  assignments: readonly string[],
): Notification[] {
  const fields = (samples?.fields ?? []).map(([path, value]) => `${path}=${JSON.stringify(value)}`);
  return notificationsFor(sample.make(), { newId: newTestId }).map((notification) => {
    const known = withKnownIds(notification, samples);
    // Configured additional fields are added after the check, because the schema does not know them.
    if (!emittedNotification.safeParse(assignments.reduce(setPath, known)).success) {
      process.stderr.write('note: the service would never send a notification with these values\n');
    }
    return [...fields, ...assignments].reduce(setPath, known) as unknown as Notification;
  });
}

async function send(
  notifications: readonly Notification[],
  partner: Partner,
  timeoutMs: number,
  flags: TriggerFlags,
  redactor: Redactor,
): Promise<number> {
  const { lookup } = await pinEndpoint(partner.url, { timeoutMs });
  const sender = createSender({ timeoutMs, lookup, ...(partner.tls === undefined ? {} : { tls: partner.tls }) });
  const records: unknown[] = [];
  let accepted = true;
  let reached = true;
  try {
    for (const notification of notifications) {
      const prepared = prepare(notification, partner);
      if (partner.signing !== undefined) redactor.addSignature(sign(prepared.body, partner.signing.secret));
      const attempt = await sender.deliver(prepared);
      accepted &&= attempt.answer?.status === 200;
      reached &&= attempt.answer !== null;
      const body = attempt.answer === null ? null : Buffer.from(attempt.answer.body).toString('utf8');
      records.push({ notification, ...attempt, answer: attempt.answer === null ? null : { ...attempt.answer, body } });
      if (flags.json !== true) {
        const { type, id } = notification;
        const kind = 'type' in notification.data ? `${type} ${String(notification.data.type)}` : type;
        process.stdout.write(redactor.text(`${kind} ${id}\n  ${describeAnswer(attempt, redactor)}\n`));
      }
    }
  } finally {
    sender.close();
  }
  if (flags.json === true) process.stdout.write(`${redactor.text(visibleJson(records, 2))}\n`);
  if (accepted) return 0;
  return reached ? 1 : 3;
}
