/** `hookproof trigger`: sends one notification, the notifications of one flow, or any body, with the sender core. */
import { emittedNotification, HookproofError, type JsonObject, type Notification } from '../../../contract/index.ts';
import { maskUrl } from '../../../contract/masked-url.ts';
import type { SchemeSample } from '../../../contract/signing/index.ts';
import { visible } from '../../../contract/visible.ts';
import { ID_FIELDS, newTestId } from '../../../scenarios/index.ts';
import type { ConfigFlags } from '../../config/index.ts';
import { isAccepted } from '../../judge/index.ts';
import { nearestName } from '../../nearest-name.ts';
import { type Partner, samplesOf } from '../../partner.ts';
import { counted, createRedactor, type Redactor, visibleJson } from '../../report/index.ts';
import { sampleOnTheWire } from '../../run/index.ts';
import { createSender, notificationsFor, prepareBody, serialise, signaturesIn } from '../../sender/index.ts';
import { pinEndpoint } from '../../transport/index.ts';
import { describeAnswer } from '../answer-line.ts';
import { commandConfig, readBodyToSign } from '../command-input.ts';
import { namedSecrets } from '../conduct.ts';
import { confirmSending } from '../confirm-sending.ts';
import { didYouMean } from '../did-you-mean.ts';
import { SAMPLE_EVENTS } from '../sample-events.ts';
import { setPath, withFields } from '../set-fields.ts';
import { printAdvice } from '../terminal.ts';

interface TriggerFlags extends ConfigFlags {
  readonly config?: string;
  readonly set?: string[];
  readonly body?: string;
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
  const { config: configFile, body, set = [], dryRun: _dry, json: _json, yes, ...given } = flags;
  // With `--body`, the only argument is the URL.
  const target = body === undefined ? url : urlAlone(name, url);
  // Without a name, the error is the same in every scheme, and needs no configuration.
  if (body === undefined && (name === undefined || /^https?:/i.test(name))) sampleNamed(name, url);
  for (const assignment of set) setPath({}, assignment);
  const config = await commandConfig(target, configFile, given);
  const deliveries = await outgoing(name, url, body, set, config.partner);
  printAdvice(config.advice);
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  if (flags.dryRun === true) {
    for (const { body: bytes } of deliveries) {
      const request = sampleOnTheWire(prepareBody(bytes, config.partner), config.partner);
      process.stdout.write(`${redactor.text(request).replaceAll('\r\n', '\n')}\n\n`);
    }
    return 0;
  }
  await confirmSending(config, yes, () => counted(deliveries.length, 'test notification'));
  return send(deliveries, config.partner, config.run.timeoutMs, flags, redactor);
}

/** Returns what to send: a body from the user, a delivery of the sender in a scheme, or sample notifications. */
async function outgoing(
  name: string | undefined,
  url: string | undefined,
  body: string | undefined,
  set: readonly string[],
  partner: Partner,
): Promise<Outgoing[]> {
  if (body !== undefined) return [await ownBody(body, set)];
  const { scheme } = partner.signing ?? {};
  if (scheme === undefined) return sampleDeliveries(sampleNamed(name, url), partner.samples, set);
  const samples = samplesOf(partner);
  const sample = samples.find((one) => one.name === name);
  if (sample === undefined) {
    const names = samples.map((one) => one.name);
    throw new HookproofError('TRIGGER_UNKNOWN', `${scheme.title} has no delivery called "${name ?? ''}"`, {
      hint:
        names.length === 0
          ? 'Give a body: `--body FILE`.'
          : `Choose from ${names.join(', ')}, or give \`--body FILE\`.`,
    });
  }
  const bytes = Buffer.from(sample.body);
  return [{ label: sample.name, body: set.length === 0 ? bytes : withFields(bytes, set), sample }];
}

/** What is sent: a sample notification, or any bytes from the user. */
interface Outgoing {
  /** In a scheme: the delivery whose headers are sent. */
  readonly sample?: SchemeSample;
  readonly label: string;
  readonly body: Uint8Array;
  readonly notification?: Notification;
}

function urlAlone(first: string | undefined, second: string | undefined): string | undefined {
  if (second === undefined && !(first !== undefined && Object.hasOwn(SAMPLE_EVENTS, first))) return first;
  throw new HookproofError('TRIGGER_BODY', '`--body` cannot be combined with the name of a notification', {
    hint: 'Give the URL alone: `hookproof trigger --body body.json http://127.0.0.1:3000/`.',
  });
}

async function ownBody(file: string, assignments: readonly string[]): Promise<Outgoing> {
  const bytes = await readBodyToSign(file);
  const body = assignments.length === 0 ? bytes : withFields(bytes, assignments);
  return { label: `${file === '-' ? 'standard input' : visible(file)}, ${counted(body.length, 'byte')}`, body };
}

type SampleEvent = (typeof SAMPLE_EVENTS)[string];

function sampleNamed(name: string | undefined, url: string | undefined): SampleEvent {
  const sample = name !== undefined && Object.hasOwn(SAMPLE_EVENTS, name) ? SAMPLE_EVENTS[name] : undefined;
  if (sample !== undefined) return sample;
  const isUrl = name !== undefined && /^https?:/i.test(name);
  const names = Object.keys(SAMPLE_EVENTS);
  const what = isUrl ? 'the notification comes before the URL' : `unknown notification or flow "${name}"`;
  throw name === undefined
    ? new HookproofError('TRIGGER_MISSING', 'no notification or flow was given', { hint: choices('buy', undefined) })
    : new HookproofError('TRIGGER_UNKNOWN', what, {
        hint: isUrl
          ? choices('buy', name)
          : `${didYouMean(name, names)}${choices(nearestName(name, names) ?? 'buy', url)}`,
      });
}

/** Lists the notifications and flows, and the next command. */
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

/** Returns a copy with the first configured id of each kind, so that the notifications of a flow belong together. */
function withKnownIds(notification: Notification, samples: Partner['samples']): JsonObject {
  const data = Object.entries(notification.data as unknown as JsonObject).map(([name, value]) => {
    const kind = ID_FIELDS[name];
    return [name, (kind && samples?.ids[kind]?.[0]) ?? value] as const;
  });
  return { ...(notification as unknown as JsonObject), data: Object.fromEntries(data) };
}

function sampleDeliveries(
  sample: SampleEvent,
  samples: Partner['samples'],
  assignments: readonly string[],
): Outgoing[] {
  const fields = (samples?.fields ?? []).map(([path, value]) => `${path}=${JSON.stringify(value)}`);
  return notificationsFor(sample.make(), { newId: newTestId }).map((notification) => {
    const known = withKnownIds(notification, samples);
    // Configured additional fields are added after the check, because the schema does not know them.
    if (!emittedNotification.safeParse(assignments.reduce(setPath, known)).success) {
      process.stderr.write('note: the service would never send a notification with these values\n');
    }
    const sent = [...fields, ...assignments].reduce(setPath, known);
    const { data, type } = notification;
    const label = `${'type' in data ? `${type} ${data.type}` : type} ${String(sent.id)}`;
    return { label, body: serialise(sent), notification: sent as unknown as Notification };
  });
}

async function send(
  deliveries: readonly Outgoing[],
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
    for (const { body: bytes, label, notification, sample } of deliveries) {
      const prepared = prepareBody(bytes, sample === undefined ? partner : { ...partner, deliveries: [sample] });
      for (const signature of signaturesIn(prepared, partner)) redactor.addSignature(signature);
      const attempt = await sender.deliver(prepared);
      accepted &&= partner.signing?.scheme === undefined ? attempt.answer?.status === 200 : isAccepted(attempt);
      reached &&= attempt.answer !== null;
      const body = attempt.answer === null ? null : Buffer.from(attempt.answer.body).toString('utf8');
      records.push({ notification, ...attempt, answer: attempt.answer === null ? null : { ...attempt.answer, body } });
      if (flags.json !== true) {
        process.stdout.write(
          redactor.text(`${label}\n  ${describeAnswer(attempt, redactor, partner.signing?.scheme)}\n`),
        );
      }
    }
  } finally {
    sender.close();
  }
  if (flags.json === true) process.stdout.write(`${redactor.text(visibleJson(records, 2))}\n`);
  if (accepted) return 0;
  return reached ? 1 : 3;
}
