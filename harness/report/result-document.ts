/**
 * The result document (schema version 1) that a run produces. Every report is a rendering of it, so it contains
 * everything that a report shows, already redacted. The published JSON Schemas are generated from these schemas.
 */
import * as z from 'zod';
import { type JsonObject, STACKS } from '../../contract/index.ts';
import { SCHEME_NAME } from '../../contract/signing/schemes/parse-scheme.ts';
import {
  EVIDENCE_LEVELS,
  EVIDENCE_SOURCES,
  FEATURES,
  LEAKS,
  type Leak,
  ROTATION_STEPS,
} from '../../scenarios/index.ts';

export const VERDICTS = ['pass', 'fail', 'warn', 'inconclusive', 'not-applicable', 'harness-error'] as const;
/** What happened to a delivery, independent of the endpoint's status. */
export const ANSWER_CLASSES = [
  'accepted',
  'rejected',
  'crashed',
  'closed',
  'silent',
  'unreadable',
  'not-delivered',
] as const;
export const STALE = ['passes', 'unknown-scenario', 'expired'] as const;
export const PARTIAL_REASONS = ['selection', 'shard', 'bail', 'time-limit', 'interruption'] as const;
export const RUN_VERDICTS = ['conformant', 'nonconformant', 'inconclusive', 'harness-error'] as const;

/** Text that the endpoint may have sent, or that quotes it. Every secret in it is redacted. */
export const text = z.string();
/**
 * Text of the catalogue or of hookproof, the same in every run. A short secret that is an ordinary word is not redacted
 * in it: see `Redactor.wording`. Enumerations and literals are never changed.
 */
export const wording = z.string();
/** Bytes in base64. Secrets are redacted in the decoded bytes. */
export const base64 = z.string();
const milliseconds = z.number().nonnegative();
const headerLines = z.array(z.tuple([text, text]));

/** Bytes as text if they are valid UTF-8, otherwise as base64. `length` is the number of bytes before truncation. */
const bytes = z.strictObject({
  length: z.int().nonnegative(),
  text: text.nullable(),
  base64: base64.nullable(),
  truncated: z.boolean(),
});

const exchange = z.strictObject({
  role: z.enum(['control', 'probe']),
  /** The role of this delivery, for example "control before", "probe", "the second copy". */
  label: text,
  /** The differences from a valid delivery, stage by stage; empty for a control. */
  changes: z.array(z.strictObject({ stage: wording, label: text })),
  request: z.strictObject({ method: wording, target: text, headers: headerLines, body: bytes }),
  response: z.strictObject({ status: z.int(), headers: headerLines, body: bytes }).nullable(),
  error: z.strictObject({ kind: wording, phase: wording, code: wording, message: text }).nullable(),
  timings: z.strictObject({
    connectMs: milliseconds.nullable(),
    tlsMs: milliseconds.nullable(),
    firstByteMs: milliseconds.nullable(),
    totalMs: milliseconds,
    reused: z.boolean(),
  }),
});

const result = z.strictObject({
  id: wording,
  suite: wording,
  /** The check's title: what it checks. */
  title: wording,
  /** The defect, as a sentence; only if the verdict is `fail` or `warn`. */
  defect: wording.optional(),
  level: z.enum(['must', 'should', 'info']),
  requirements: z.array(wording),
  verdict: z.enum(VERDICTS),
  expected: wording,
  /** The outcomes that pass, as codes: a status, a class such as `4xx`, `closed`. Absent if no outcome is judged. */
  expectedOutcomes: z.array(wording).optional(),
  observed: text,
  /** The reason for the verdict; empty for a pass without a comment. */
  reason: text,
  /**
   * `reason` without the name of the delivery, so that it is equal for the same cause; absent if `reason` names none.
   */
  cause: text.optional(),
  /** What decided the verdict, as a code. */
  decidedBy: wording,
  /** The label of the exchange that decided, if there are several; null if none decided alone. */
  delivery: text.nullable(),
  /**
   * `observed` without the parts that differ between runs: a status, a TLS alert, `closed`, `silence`, a code, or
   * `seen`. If the endpoint consistently uses another status, this is the specified one: 200 for acceptances, 401 for
   * rejected credentials.
   */
  outcome: wording.optional(),
  /**
   * The class of the decisive answer, independent of the endpoint's status, and the status as received. Absent if no
   * delivery decided.
   */
  answered: z.strictObject({ class: z.enum(ANSWER_CLASSES), status: z.int().nullable() }).optional(),
  /**
   * What the effects window reports about the deliveries: how often each was handled, and the longest time from its
   * answer until the window showed it. Absent for checks of the answers alone.
   */
  effects: z
    .array(z.strictObject({ delivery: text, times: z.int().nonnegative(), tookMs: milliseconds.nullable() }))
    .optional(),
  /** For a check of the whole run: the ids of the checks that a partial run repeats with it. */
  repeats: z.array(wording).optional(),
  why: wording,
  fix: wording,
  /** The baseline's entry for this failure; null without an entry or a baseline. */
  known: z.strictObject({ reason: text, owner: text, expires: text }).nullable(),
  durationMs: milliseconds,
  /**
   * A shell script that repeats the probe with curl (null if curl cannot send it), and the command that runs only this
   * scenario.
   */
  reproduce: z.strictObject({ curl: text.nullable(), command: text }).nullable(),
  /** The exchanges behind the verdict. Those of passes are omitted unless `--evidence` is given. */
  exchanges: z.array(exchange),
});

const diagnosis = z.strictObject({
  /** `main`: the first finding; `also`: another finding of the run. */
  relation: z.enum(['main', 'also']),
  /**
   * The stable name of the fault, which `hookproof explain NAME` describes; the name of the mistake if only that is
   * certain; `not-known` if no mistake of the library explains the results.
   */
  fault: wording,
  /** May quote certificates and answers, as may `why` and `fix`. */
  title: text,
  /** The id of its mistake in the library, which `hookproof explain` describes; null if none is known. */
  mistake: wording.nullable(),
  /** The number of predicted `outcomes` that agree with the run. */
  agreement: z.int().nonnegative(),
  outcomes: z.int().nonnegative(),
  /** The checks that did not pass and that this fault explains. */
  evidence: z.array(wording),
  /** Other faults that this run cannot distinguish from this one. */
  alike: z.array(wording),
  /** Code and products in which the fault occurs; empty when unknown. */
  seen: wording,
  why: text,
  fix: text,
  /** The stack that `fix` is for, and the evidence for it; null if `fix` applies to every stack. */
  stack: z.strictObject({ name: text, source: text }).nullable(),
});

const baseline = z.strictObject({
  file: text,
  entries: z.int().nonnegative(),
  /** Ids of the checks that are known to fail and do not fail the run. */
  known: z.array(text),
  /** Entries that fail the run, because the check passes or does not exist, or because the entry has expired. */
  stale: z.array(z.strictObject({ scenario: text, problem: z.enum(STALE), message: text })),
  /** Entries without a reason or an owner yet. */
  unfilled: z.array(text),
  /** Entries whose check has no verdict in this run, or was not selected. */
  notJudged: z.array(text),
});

/** Data of a shard in addition to its results, so that shards can be joined as if they had been one run. */
const shardRecord = z.strictObject({
  /** Whether the first valid delivery was accepted, and if not, why; null if nothing was delivered. */
  preflight: z
    .strictObject({
      accepted: z.boolean(),
      finding: z
        .strictObject({ fault: wording, title: text, mistake: wording.nullable(), why: text, fix: text })
        .nullable(),
    })
    .nullable(),
  /** The stack given by the user; null if it is guessed. */
  stackGiven: z.enum(STACKS).nullable(),
  /** The entries of the baseline; null without one. */
  entries: z.array(z.strictObject({ scenario: text, reason: text, owner: text, expires: text })).nullable(),
  /** The observations from which the checks of the whole run are judged. */
  seen: z.strictObject({
    answerTimesMs: z.array(z.number().nonnegative()),
    leaks: z.array(z.strictObject({ leak: z.enum(Object.keys(LEAKS) as [Leak, ...Leak[]]), scenario: wording })),
    outages: z.array(
      z.strictObject({
        inFlight: z.array(wording),
        recent: z.array(wording).optional(),
        culprit: wording.nullable(),
        recovered: z.boolean().nullable(),
        looksDead: z.boolean(),
        sign: text,
        outcome: wording.optional(),
      }),
    ),
    failedControls: z.array(
      z.strictObject({
        scenario: wording,
        observed: text,
        recovered: z.boolean(),
        outcome: wording.optional(),
        isProbe: z.boolean().optional(),
      }),
    ),
    rejections: z.array(
      z.strictObject({
        credential: z.enum(['signature', 'api-key']),
        status: z.int(),
        isUsual: z.boolean(),
        deliveries: z.int().positive(),
        isMissing: z.boolean(),
      }),
    ),
  }),
});

/** The number of checks with each verdict. */
export const counts = z.strictObject({
  pass: z.int().nonnegative(),
  fail: z.int().nonnegative(),
  warn: z.int().nonnegative(),
  inconclusive: z.int().nonnegative(),
  notApplicable: z.int().nonnegative(),
  harnessError: z.int().nonnegative(),
});

/**
 * The last run of the whole catalogue against an endpoint. `startedAt` is ISO 8601, and `version` is that of hookproof.
 */
const fullRun = z.strictObject({ startedAt: wording, version: wording, verdict: z.enum(RUN_VERDICTS), counts });

/** The stored data about the last runs against an endpoint, schema version 1. */
export const lastRunDocument = z.strictObject({
  schemaVersion: z.literal(1),
  full: fullRun.nullable(),
  failed: z.array(text),
});

export const resultDocument = z.strictObject({
  schemaVersion: z.literal(1),
  tool: z.strictObject({ name: z.literal('hookproof'), version: wording }),
  catalogue: z.strictObject({ digest: wording, scenarios: z.int().nonnegative() }),
  target: z.strictObject({
    url: text,
    /** The name of the scheme in which the sender signs, if it is not that of the specification. */
    scheme: z.string().regex(SCHEME_NAME).optional(),
    features: z.array(z.enum(FEATURES)),
    /** Null for plain HTTP. The certificates are in the order sent, the leaf first. */
    tls: z
      .strictObject({
        protocol: wording.nullable(),
        cipher: wording.nullable(),
        versions: z.array(text),
        trustedBy: text.nullable(),
        /** Whether a client certificate is requested; null if unknown, as over TLS 1.3. */
        clientCertificateRequested: z.boolean().nullable(),
        /** The CAs that the endpoint lists for client certificates; the list may be empty. */
        requestedCas: z.array(text),
        chain: z.array(
          z.strictObject({
            role: text,
            subject: text,
            issuer: text,
            notBefore: text,
            notAfter: text,
            key: text,
            signature: text,
            /** SHA-256 of the certificate, in hex. */
            fingerprint: text,
          }),
        ),
      })
      .nullable(),
  }),
  profile: z.enum(['basic', 'staging', 'production']).nullable(),
  /**
   * What the run judged: 0 the answers alone, 1 also the effects window, 2 also effects across restarts and the log. A
   * source without any judged check does not count. Absent in a partial run.
   */
  evidence: z.strictObject({ level: z.literal(EVIDENCE_LEVELS), statement: wording }).optional(),
  /** The executed steps of the secret's rotation, and who switched the receiver; absent without a rotation. */
  rotation: z
    .strictObject({ steps: z.array(z.enum(ROTATION_STEPS)), switchedBy: z.enum(['command', 'person']) })
    .optional(),
  /** Set if the endpoint was an app in a test process. Its port is closed, so no command can repeat the run. */
  inProcess: z.literal(true).optional(),
  /** The source file named with `--code`, relative to the working directory; absent if none was named. */
  code: text.optional(),
  /** The command that repeats the run, if it is not `hookproof run`. It cannot select checks. */
  command: text.optional(),
  /** The flags that suggested commands must repeat, quoted for a shell; absent if there are none. */
  flags: text.optional(),
  /** What selected the checks, if anything did: they match one of each kind that is given. */
  selection: z.strictObject({ suites: z.array(text), scenarios: z.array(text), greps: z.array(text) }).optional(),
  /**
   * The catalogue revision that decides what is scored under a profile. Absent without a profile: everything is scored.
   */
  scoring: z
    .strictObject({
      revision: z.int().positive(),
      /** SHA-256 of the revision's file, in hex. */
      digest: wording,
      /** Checks of this run that are newer than the revision: reported, but without effect on verdict and exit code. */
      notScored: z.array(wording),
    })
    .optional(),
  /**
   * Checks that were repeated because other deliveries in flight may have caused the first failure; absent if there are
   * none.
   */
  retried: z.array(wording).optional(),
  seed: text,
  /** The position of this shard; null if the run is not sharded. */
  shard: z.strictObject({ index: z.int().positive(), of: z.int().positive() }).nullable(),
  /** The data for joining shards; only in a shard. */
  shardRecord: shardRecord.optional(),
  startedAt: wording,
  durationMs: milliseconds,
  /**
   * The verdict of the checks that were run. A partial run has no verdict about the endpoint, and no report shows one.
   */
  verdict: z.enum(RUN_VERDICTS),
  /** Whether part of the catalogue was not run. */
  partial: z.boolean(),
  /** Why a run is partial; absent for a complete one. */
  partialReasons: z.array(z.enum(PARTIAL_REASONS)).optional(),
  /** In a partial run, the result of the last full run from this machine; absent if none is known. */
  lastFullRun: fullRun.optional(),
  strict: z.boolean(),
  interrupted: z.boolean(),
  planned: z.int().nonnegative(),
  judged: z.int().nonnegative(),
  /** The number of HTTP requests sent, including controls. */
  requests: z.int().nonnegative(),
  /** The number of requests answered with 429 and with 503, including repetitions; absent if there were none. */
  turnedAway: z.strictObject({ 429: z.int().nonnegative(), 503: z.int().nonnegative() }).optional(),
  /** Behaviour that passes but affects which deliveries are lost or count as delivered; absent if there is none. */
  noted: z.array(z.strictObject({ code: wording, text: wording, checks: z.array(wording) })).optional(),
  counts,
  /**
   * The code of the fault found when the first valid delivery was not accepted. Absent if it was accepted, or if
   * nothing explains it. The diagnosis names the same fault or a more specific one.
   */
  preflightFinding: wording.optional(),
  /** Advice on the configuration: a short secret, plain HTTP outside loopback, ... */
  advice: z.array(text),
  /** The faults that explain the results, the best match first; empty if nothing failed or no known fault fits. */
  diagnosis: z.array(diagnosis),
  /** The comparison with the baseline; null without one. */
  baseline: baseline.nullable(),
  notVerified: z.array(
    z.strictObject({
      requirement: wording,
      text: wording,
      reason: wording,
      /** How more evidence can verify it: the lowest level that does, and the sources that this run lacked. */
      verifiable: z
        .strictObject({ level: z.literal(EVIDENCE_LEVELS), sources: z.array(z.enum(EVIDENCE_SOURCES)) })
        .optional(),
    }),
  ),
  results: z.array(result),
});

const count = z.int().nonnegative();
const schemaVersion = z.literal(1);

/** An event as written by the ndjson reporter, schema version 1. */
export const writtenEvent = z.discriminatedUnion('type', [
  z.strictObject({
    schemaVersion,
    type: z.literal('run-started'),
    url: text,
    seed: text,
    planned: count,
    startedAt: wording,
  }),
  z.strictObject({
    schemaVersion,
    type: z.literal('scenario-finished'),
    /** How many of `planned` are finished, including this one. */
    finished: count,
    planned: count,
    result,
  }),
  z.strictObject({ schemaVersion, type: z.literal('notice'), message: text }),
  /** Written every few seconds: the remaining time in milliseconds at the current pace; null while it is unknown. */
  z.strictObject({
    schemaVersion,
    type: z.literal('progress'),
    finished: count,
    planned: count,
    leftMs: milliseconds.nullable(),
  }),
  /** Always the last line, even of an interrupted run. */
  z.strictObject({ schemaVersion, type: z.literal('run-finished'), document: resultDocument }),
]);

export type AnswerClass = (typeof ANSWER_CLASSES)[number];
export type Verdict = (typeof VERDICTS)[number];
export type PartialReason = (typeof PARTIAL_REASONS)[number];
export type RunVerdict = (typeof RUN_VERDICTS)[number];
export type ResultDocument = z.infer<typeof resultDocument>;
export type FullRun = z.infer<typeof fullRun>;
export type ScenarioResult = z.infer<typeof result>;
export type Exchange = z.infer<typeof exchange>;
export type Diagnosis = z.infer<typeof diagnosis>;
export type BaselineOutcome = z.infer<typeof baseline>;
export type Bytes = z.infer<typeof bytes>;

type WithoutVersion<Event> = Event extends unknown ? Readonly<Omit<Event, 'schemaVersion'>> : never;

/** An event that a run reports to the progress display and to the ndjson reporter. */
export type RunEvent = WithoutVersion<z.infer<typeof writtenEvent>>;
export type RunListener = (event: RunEvent) => void;

/** Returns the JSON Schema (draft 2020-12) of a document, with this title. */
export function published(schema: z.ZodType, title: string): JsonObject {
  const { $schema, ...rest } = z.toJSONSchema(schema) as JsonObject;
  return { $schema: $schema ?? 'https://json-schema.org/draft/2020-12/schema', title, ...rest };
}

/** Returns the JSON Schema of the result document (draft 2020-12). */
export function resultSchema(): JsonObject {
  return published(resultDocument, 'hookproof result document, schemaVersion 1');
}

/** Returns the JSON Schema of one line of the ndjson reporter (draft 2020-12). */
export function eventSchema(): JsonObject {
  return published(writtenEvent, 'hookproof event (one line of ndjson), schemaVersion 1');
}
