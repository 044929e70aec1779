/** Plays the catalogue against one subject, as `hookproof run` does. */

import { randomBytes } from 'node:crypto';
import { accessSync, appendFileSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { makeWorkingSet, type ServerFixtureName, serverFixture, WORKING_SET_FIXTURES } from '../../../certs/index.ts';
import { encodeOutcome } from '../../../harness/diagnose/outcome.ts';
import type { SourceOptions } from '../../../harness/effects/index.ts';
import type { ClientFixtures } from '../../../harness/probe/identities.ts';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { run } from '../../../harness/run/index.ts';
import { FAULTS, type Fault, startFaultyReceiver } from '../../../mutants/index.ts';
import { createLogger, memoryEffects, startEffectsWindow, startReceiver } from '../../../receiver/index.ts';
import { findScenario } from '../../../scenarios/index.ts';
import { CORRECT_RECEIVERS, type CorrectReceiver, type StartedReceiver } from './correct/index.ts';
import { behind, type SetUp } from './set-ups.ts';

/**
 * Time limits that are long enough for any answer of a receiver on this machine, and short enough for receivers that
 * hang.
 */
const LIMITS = { timeoutMs: 5000, recoveryMs: 5000 };

/** Time limits for receivers that answer correctly. They never hang, and must not fail on a busy machine. */
const LIMITS_OF_RIGHT = { timeoutMs: 30_000, recoveryMs: 10_000 };

/** nginx closes connections when all of its 1,024 are in use: two for each delivery, and idle ones. */
const NGINX_CONCURRENCY = 100;

/** Higher than the default, because each delivery takes about 200 ms. */
const JITTER_CONCURRENCY = 32;

/** Time limits for effects, in milliseconds. Mutants may never show an effect. */
const EFFECTS_MS = { fault: 2000, right: 10_000, correct: 10_000 };

const EFFECTS_TOKEN = 'a-token-of-the-matrix';

function answersCorrectly(subject: Subject): boolean {
  return subject.kind !== 'fault' || subject.fault.area === 'effects' || subject.fault.area === 'log';
}

/** Returns whether the log of a subject is read. Reading takes time, so mutants of other areas have no log. */
function hasLog(subject: Subject): boolean {
  if (subject.kind === 'fault') return subject.fault.area === 'log';
  return subject.kind === 'right' ? subject.hasEffects === true : subject.receiver.hasLog === true;
}

/** Returns whether a subject has an effects window. Mutants of other areas are visible without one. */
function hasWindow(subject: Subject): boolean {
  if (subject.kind === 'fault') return subject.fault.area === 'effects' || isRestarted(subject);
  return subject.kind === 'right' ? subject.hasEffects === true : subject.receiver.hasEffects === true;
}

/** Starts the reference receiver or a mutant with its effects window. It can be restarted. */
async function startWithWindow(
  fault: Fault | null,
  options: Parameters<typeof startFaultyReceiver>[1],
): Promise<StartedReceiver> {
  const record = memoryEffects();
  const receiver = await startFaultyReceiver(fault, { ...options, effects: record });
  const window = await startEffectsWindow({ record, token: EFFECTS_TOKEN });
  return {
    url: receiver.url,
    effectsUrl: window.url,
    restart: receiver.restart,
    async close() {
      await receiver.close();
      await window.close();
    },
  };
}

type Log = (text: string) => void;

function start(subject: Subject, material: Material, served: ServedCertificate, log?: Log): Promise<StartedReceiver> {
  const { secret, nextSecret, apiKey, pem } = material;
  const clientCa = pem('client-ca.pem');
  const { cert, key } = served;
  if (subject.kind === 'correct') {
    const tls = { cert, key, clientCa, clientName: CLIENT_NAME };
    return subject.receiver.start({ secret, apiKey, token: EFFECTS_TOKEN, ...(subject.overTls && { tls }), log });
  }
  const options = {
    signing: { secrets: [secret] },
    apiKey: { keys: [apiKey] },
    ...(log !== undefined && { log, logger: createLogger({ destination: { write: log } }) }),
    ...(subject.overTls && {
      tls: { cert, key, ca: clientCa, clientCertificate: 'required' as const },
      clientCertificate: { from: 'connection' as const, allowed: [CLIENT_NAME] },
    }),
  };
  const fault = subject.kind === 'right' ? null : subject.fault;
  if (hasWindow(subject)) return startWithWindow(fault, options);
  return fault === null ? startReceiver(options) : startFaultyReceiver(fault, { ...options, nextSecret });
}

async function certificateFor(subject: Subject, material: Material): Promise<ServedCertificate> {
  if (subject.kind !== 'fault' || subject.fault.stage !== 'connection') return rightCertificate(material);
  const { certificate } = subject.fault;
  return certificate === undefined ? rightCertificate(material) : material.faulty(certificate);
}

/** Returns whether a subject is restarted. This applies only to mutants that are visible after a restart. */
function isRestarted(subject: Subject): boolean {
  return subject.kind !== 'fault' || subject.fault.needs?.includes('restart') === true;
}

/** Returns whether the secret of a subject is rotated. The other mutants are visible without a rotation. */
function isRotated(subject: Subject): boolean {
  return subject.kind === 'right'
    ? subject.name === 'none'
    : subject.kind === 'fault' && subject.fault.area === 'rotation';
}

/** Returns the evidence sources that a subject has in addition to its answers. */
function windowsFor(
  subject: Subject,
  { effectsUrl, restart, reloadSecrets }: StartedReceiver,
  logs: readonly string[],
  { secret, nextSecret }: Material,
): SourceOptions {
  const secrets = { old: [secret], both: [nextSecret, secret], new: [nextSecret] };
  return {
    logs,
    ...(isRotated(subject) &&
      reloadSecrets !== undefined && {
        rotation: { nextSecret, switchTo: async (step) => reloadSecrets(secrets[step]) },
      }),
    ...(effectsUrl !== undefined && {
      effects: { url: effectsUrl, token: EFFECTS_TOKEN, deadlineMs: EFFECTS_MS[subject.kind] },
      ...(isRestarted(subject) && restart !== undefined && { restart }),
    }),
  };
}

/**
 * Returns the suites for a subject. Empty means all. The stages of a mutant of the connection are correct, and
 * deliveries over TLS would take most of the time. A mutant of the effects answers correctly, and some are visible only
 * in the effects of deliveries of other suites. A mutant of the log also answers correctly, and logs what it rejects. A
 * mutant of the rotation is correct as long as its secret stays the same.
 */
function suitesFor(subject: Subject): readonly string[] {
  if (subject.kind !== 'fault') return [];
  const { area, needs = [] } = subject.fault;
  if (area === 'log') return ['valid', 'signature', 'api-key', 'effects'];
  if (area === 'rotation') return ['valid', 'rotation'];
  const needsCredentials = needs.includes('hmac') || needs.includes('api-key');
  if (needsCredentials) return [];
  if (area === 'effects') return ['valid', 'malformed', 'http', 'effects'];
  return area === 'tls' || area === 'mtls' ? ['valid', 'tls', 'mtls', 'combination', 'delivery'] : [];
}

/** Returns the result document of a run of all or the given scenarios. Rejects if the subject cannot be started. */
export async function runAgainst(
  subject: Subject,
  material: Material,
  scenarios: readonly string[] = [],
  setUp: SetUp = 'loopback',
  seed?: string,
): Promise<ResultDocument> {
  const { secret, apiKey, pem, clientFixtures } = material;
  const served = await certificateFor(subject, material);
  const folder = hasLog(subject) ? await mkdtemp(join(tmpdir(), 'hookproof-matrix-')) : null;
  const file = folder === null ? null : join(folder, 'receiver.log');
  const log: Log | undefined = file === null ? undefined : (text) => appendFileSync(file, text);
  const started = await start(subject, material, served, log);
  const receiver = await behind(setUp, started);
  const concurrency = subject.kind === 'correct' ? subject.receiver.concurrency : undefined;
  try {
    return await run({
      partner: {
        url: subject.overTls ? receiver.url.replace('127.0.0.1', served.host) : receiver.url,
        signing: { secret },
        apiKey: { value: apiKey },
        ...(subject.kind === 'correct' && subject.receiver.samples && { samples: subject.receiver.samples }),
        ...(subject.overTls && {
          tls: { ca: served.ca, clientCert: pem('client.pem'), clientKey: pem('client-key.pem') },
        }),
      },
      ...(subject.overTls && { clientFixtures }),
      ...(seed !== undefined && { seed }),
      evidenceSources: windowsFor(subject, started, file === null ? [] : [file], material),
      selection: { suites: scenarios.length > 0 ? [] : suitesFor(subject), scenarios },
      limits: {
        ...(answersCorrectly(subject) ? LIMITS_OF_RIGHT : LIMITS),
        ...(setUp === 'jitter' && { concurrency: JITTER_CONCURRENCY }),
        ...(concurrency !== undefined && {
          concurrency: setUp === 'nginx' ? Math.min(concurrency, NGINX_CONCURRENCY) : concurrency,
        }),
      },
    });
  } finally {
    await receiver.close();
    if (folder !== null) await rm(folder, { recursive: true });
  }
}

/** The codes of results that a stopped run did not reach. */
const STOPS: readonly (readonly [string, NonNullable<Played['stopped']>])[] = [
  ['preflight-failed', 'gate'],
  ['receiver-down', 'down'],
  ['rate-limited', 'rate-limited'],
];

/** Returns what the matrix keeps of a run. */
export function playedOf(subject: Subject, document: ResultDocument): Played {
  const { name, kind } = subject;
  const trueWarnings = subject.kind === 'correct' ? (subject.receiver.trueWarnings ?? []) : [];
  const { results, target, durationMs, preflightFinding } = document;
  const outcomes: Record<string, string> = {};
  const undecided: Record<string, string> = {};
  const codes = new Set<string>();
  let judged = 0;
  for (const result of results) {
    if (result.verdict === 'not-applicable') continue;
    if (result.verdict === 'warn' && trueWarnings.includes(result.id)) continue;
    const outcome = encodeOutcome(result);
    if (outcome === undefined) {
      undecided[result.id] = result.reason;
      codes.add(result.decidedBy ?? '');
    } else judged++;
    if (typeof outcome === 'string') outcomes[result.id] = outcome;
  }
  const stopped = STOPS.find(([code]) => codes.has(code))?.[1] ?? null;
  // The diagnosis is not used, because it may come from the dictionary itself.
  const refusal = preflightFinding ?? null;
  const short = Object.fromEntries(Object.entries(undecided).map(([id, reason]) => [id, reason.slice(0, 120)]));
  return { name, kind, durationMs, features: target.features, outcomes, undecided: short, stopped, refusal, judged };
}

/** What the matrix keeps of one run, for the rules, the dictionary and the document. */
export interface Played {
  /**
   * The name of the mutant; `none`, `none-with-effects` and `none-over-tls` for the reference receiver;
   * `correct:NAME` for another correct
   * one.
   */
  readonly name: string;
  readonly kind: 'fault' | 'right' | 'correct';
  readonly durationMs: number;
  /** The features that were enabled. */
  readonly features: readonly string[];
  /** Maps scenarios to outcomes (`fail 200`, `warn 400`, ...), for results other than a pass. */
  readonly outcomes: Readonly<Record<string, string>>;
  /** The scenarios without a verdict, each with the reason. */
  readonly undecided: Readonly<Record<string, string>>;
  /** Why the run stopped early: no plain valid delivery was accepted at all, or none any more. Null if it did not. */
  readonly stopped: 'gate' | 'down' | 'rate-limited' | null;
  /** The code of the finding if no delivery was accepted at all, otherwise null. */
  readonly refusal: string | null;
  /** The number of judged scenarios. */
  readonly judged: number;
}

/** The credentials and certificates of every subject, created once per process. */

const CLIENT_NAME = 'matrix client';

interface Material {
  readonly secret: string;
  readonly nextSecret: string;
  readonly apiKey: string;
  readonly pem: (name: string) => string;
  readonly clientFixtures: ClientFixtures;
  /** Returns a faulty server certificate, which is created on demand. */
  readonly faulty: (name: string) => Promise<ServedCertificate>;
}

interface ServedCertificate {
  readonly cert: string;
  readonly key: string;
  /** The CA that a client must trust. */
  readonly ca: string;
  readonly host: string;
}

/**
 * Some outcomes depend on the characters of a credential, so each credential contains all kinds, even in the first
 * eight characters of the key.
 */
const KEY_SHAPE = /^(?=.{0,7}[a-z])(?=.{0,7}[A-Z])(?=.{0,7}[0-9])(?=.*-)(?=.*_)/;
const SECRET_SHAPE = /^(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])(?=.*\+)(?=.*\/)/;

function randomLike(shape: RegExp, draw: () => string): string {
  for (;;) {
    const drawn = draw();
    if (shape.test(drawn)) return drawn;
  }
}

export async function makeMaterial(): Promise<Material> {
  const { files } = await makeWorkingSet({
    directory: '.',
    hosts: ['localhost'],
    days: 60,
    key: 'p256',
    clientName: CLIENT_NAME,
    keepCaKeys: false,
  });
  const texts = new Map(files.map(({ name, text }) => [name, text]));
  const pem = (name: string) => texts.get(name) ?? '';
  const fixtures = WORKING_SET_FIXTURES.map((name) => [
    name,
    { cert: pem(`fixtures/client-${name}.pem`), key: pem(`fixtures/client-${name}-key.pem`) },
  ]);
  return {
    secret: randomLike(SECRET_SHAPE, () => randomBytes(32).toString('base64')),
    nextSecret: randomLike(SECRET_SHAPE, () => randomBytes(32).toString('base64')),
    apiKey: randomLike(KEY_SHAPE, () => randomBytes(24).toString('base64url')),
    pem,
    clientFixtures: Object.fromEntries(fixtures),
    faulty: (name) => serverFixture(name as ServerFixtureName),
  };
}

/** Returns the valid server certificate. */
function rightCertificate({ pem }: Material): ServedCertificate {
  return { cert: pem('server.pem'), key: pem('server-key.pem'), ca: pem('ca.pem'), host: 'localhost' };
}

/** A subject of the matrix: a mutant, the reference receiver, or another correct receiver. */

type Subject =
  | { readonly kind: 'fault'; readonly name: string; readonly overTls: boolean; readonly fault: Fault }
  | { readonly kind: 'correct'; readonly name: string; readonly overTls: boolean; readonly receiver: CorrectReceiver }
  | { readonly kind: 'right'; readonly name: string; readonly overTls: boolean; readonly hasEffects?: true };

const RIGHT: readonly Subject[] = [
  { kind: 'right', name: 'none', overTls: false },
  { kind: 'right', name: 'none-with-effects', overTls: false, hasEffects: true },
  { kind: 'right', name: 'none-over-tls', overTls: true },
];

/** Returns whether a mutant is visible only over TLS. */
function needsTls({ area, needs }: Fault): boolean {
  return area === 'tls' || area === 'mtls' || needs?.includes('https') === true || needs?.includes('mtls') === true;
}

function subjectOfFault(fault: Fault): Subject {
  return { kind: 'fault', name: fault.name, overTls: needsTls(fault), fault };
}

function subjectOfCorrect(receiver: CorrectReceiver): Subject {
  return { kind: 'correct', name: `correct:${receiver.name}`, overTls: receiver.tls === true, receiver };
}

export const SUBJECTS: readonly Subject[] = [
  ...RIGHT,
  ...CORRECT_RECEIVERS.map(subjectOfCorrect),
  ...FAULTS.map(subjectOfFault),
];

/** Returns whether a scenario is played against a subject, according to its suite and its features. */
export function isApplicable(subject: Subject, id: string): boolean {
  const needs = findScenario(id)?.needs ?? [];
  const suites = suitesFor(subject);
  if (suites.length > 0 && !suites.includes(id.split('/')[0] ?? '')) return false;
  if (needs.includes('log')) return hasLog(subject);
  if (needs.includes('rotation')) return isRotated(subject);
  if (needs.includes('effects') || needs.includes('restart')) return hasWindow(subject);
  return subject.overTls || !needs.some((need) => need === 'https' || need === 'mtls');
}

/**
 * Returns whether a subject belongs to the matrix of one suite. For `effects`, these are all subjects with an effects
 * window or a log. For other suites, they are the mutants of the area and every correct receiver.
 */
export function isOfSuite(subject: Subject, suite: string): boolean {
  if (suite === 'effects') return hasWindow(subject) || hasLog(subject);
  return subject.kind !== 'fault' || subject.fault.area === suite;
}

/** Finds a subject by its name. Throws if there is none. */
export function findSubject(name: string): Subject {
  const found = SUBJECTS.find((subject) => subject.name === name || subject.name === `correct:${name}`);
  if (found === undefined) throw new Error(`there is no mutant and no receiver ${name}`);
  return found;
}

function isOnPath(program: string): boolean {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Returns the programs that a subject needs and this machine lacks. */
export function missingPrograms(subject: Subject): readonly string[] {
  return subject.kind === 'correct' ? (subject.receiver.needs ?? []).filter((program) => !isOnPath(program)) : [];
}
