/** Runs the phases in order: TLS, preflight, deliveries, observations, result document. */

import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { maskUrl } from '../../contract/masked-url.ts';
import type { SourceOptions } from '../effects/index.ts';
import type { Partner } from '../partner.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { LOCAL_TOO, pinEndpoint } from '../transport/index.ts';
import { createContext, DEFAULT_LIMITS, type OpenSources, type RunContext } from './context.ts';
import { Deadline } from './deadline.ts';
import { deliverChecks, type OpenedEndpoint, openEndpoint } from './deliver-checks.ts';
import { documentOf } from './document.ts';
import { requestsOf } from './estimate.ts';
import { createLane, createLanePool, type LanePool } from './lane.ts';
import { closeSources, openSources } from './open-sources.ts';
import { planScenarios, targetOf } from './plan.ts';
import { notApplicable } from './results.ts';
import { boundMsOf } from './rotation.ts';
import type { RunOptions } from './run-options.ts';
import { concludeRun } from './run-outcome.ts';
import { RunResults } from './run-results.ts';
import { recordEffect } from './send.ts';
import { inspectWhenNeeded, isTlsCheck, runTlsChecks, type TlsPreparation, unsupportedVersion } from './tls-checks.ts';
import { waitUntilUp } from './wait-until-up.ts';

/**
 * Runs the selected scenarios against an endpoint. Every planned scenario gets a result. The host name of the endpoint
 * is resolved once, and all connections go to the resulting address. The run ends within the time that {@link
 * boundMsOf} returns.
 *
 * @returns the result document, whatever the endpoint does
 * @throws HookproofError for an invalid or empty selection, and ENDPOINT_ADDRESS_REFUSED for an address that is not
 * allowed
 */
export async function run(options: RunOptions): Promise<ResultDocument> {
  const startedMs = performance.now();
  const { partner: configured, clientFixtures = {}, listener = () => {}, evidenceSources } = options;
  const target = targetOf(configured, clientFixtures, evidenceSources);
  const plan = planScenarios(target, options.selection);
  const applicable = plan.filter(({ obstacle }) => obstacle === null);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const seed = options.seed ?? randomBytes(6).toString('hex');
  const now = new Date();
  const requests = limits.intervalMs === null ? 0 : requestsOf(configured, applicable, limits.concurrency);
  const deadline = new Deadline(options.signal, boundMsOf(limits, evidenceSources, applicable.length, requests));
  const { signal } = deadline;
  listener({
    type: 'run-started',
    url: maskUrl(configured.url),
    seed,
    planned: plan.length,
    startedAt: now.toISOString(),
  });
  let sources: OpenSources | null = null;
  let lanes: LanePool | null = null;
  let progress: ProgressTimer | null = null;
  try {
    const { addresses: policy = LOCAL_TOO, resolve } = options;
    const pin = await pinEndpoint(configured.url, { policy, resolve, timeoutMs: limits.timeoutMs, signal });
    const partner = { ...configured, lookup: pin.lookup, ...rotationOf(options) };
    const { flags = '', onSignature = () => {} } = options;
    const endsAtMs = startedMs + deadline.boundMs;
    const alone = createContext({ partner, seed, flags, now, limits, emit: listener, signal, endsAtMs, onSignature });
    const results = new RunResults(alone, plan, options);
    const sentBefore = await waitUntilUp(alone, applicable);
    let tls: TlsPreparation | null = null;
    let opened: OpenedEndpoint | null = null;
    if (alone.facts.stopped === null) {
      sources = await openSources(alone, options, applicable);
      const withSources = { ...alone, sources };
      // The effects window may still report these deliveries.
      for (const sent of sentBefore) recordEffect(withSources, sent, true);
      progress = new ProgressTimer(results);
      tls = await inspectWhenNeeded(withSources, applicable, clientFixtures);
      if (tls !== null) await judgeTls(withSources, results, tls);
      const identities = tls?.identities;
      lanes = createLanePool(() => createLane(partner, limits, identities), signal);
      const context = { ...withSources, otherServerNames: tls?.otherServerNames ?? [] };
      opened = await openEndpoint(context, results, lanes, tls?.inspection ?? null);
      if (opened?.control != null) {
        await deliverChecks(opened, opened.control, results, lanes, progress.pausedWhileAsking(evidenceSources));
      }
    }
    progress?.stop();
    const ended = { context: alone, deadline, features: target.features, pin, startedMs, tls, opened };
    const document = await documentOf(concludeRun(results, options, ended));
    listener({ type: 'run-finished', document });
    return document;
  } finally {
    progress?.stop();
    lanes?.close();
    if (sources !== null) await closeSources(sources);
    deadline.clear();
  }
}

/** Returns the rotation of the partner's secret in its first step. Empty if no next secret is configured. */
function rotationOf({ partner: { signing }, evidenceSources }: RunOptions): Pick<Partner, 'rotation'> {
  const next = evidenceSources?.rotation?.nextSecret;
  if (signing === undefined || next === undefined) return {};
  return { rotation: { old: signing.secret, next, step: 'old' } };
}

async function judgeTls(context: RunContext, results: RunResults, { inspection }: TlsPreparation): Promise<void> {
  for (const planned of results.open()) {
    const obstacle = unsupportedVersion(planned, inspection);
    if (obstacle !== null) results.report(notApplicable({ ...planned, obstacle }));
  }
  const planned = results.open().filter(isTlsCheck);
  await runTlsChecks(context, planned, inspection, (result) => results.report(result));
}

/** How often a run reports its progress. */
const PROGRESS_MS = 5000;

/**
 * Reports the progress of a run at regular intervals. It pauses while a person is asked something, because the progress
 * line would hide the question.
 */
class ProgressTimer {
  readonly #timer: NodeJS.Timeout;
  #isPaused = false;

  constructor(results: RunResults) {
    this.#timer = setInterval(() => this.#isPaused || results.emitProgress(), PROGRESS_MS);
  }

  /** Wraps the sources of evidence: progress is not reported while they ask a person. */
  pausedWhileAsking(sources: SourceOptions = {}): SourceOptions {
    const { rotation } = sources;
    const ask = rotation?.ask;
    if (rotation === undefined || ask === undefined) return sources;
    const askAlone: typeof ask = async (...given) => {
      this.#isPaused = true;
      return ask(...given).finally(() => {
        this.#isPaused = false;
      });
    };
    return { ...sources, rotation: { ...rotation, ask: askAlone } };
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
