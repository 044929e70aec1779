/**
 * A scenario is a minimal pair: a delivery as the sender core would make it, and the same delivery with one stage of
 * the sending pipeline replaced. The pipeline is
 *
 *     compose -> serialise -> sign -> address -> connect -> transmit
 *
 * and a {@link Change} names the stage that it replaces. Everything here is data and pure functions. The harness sends
 * the deliveries, and judges the answers by the scenario's {@link Expectation}.
 */
import type { EffectValues } from '../contract/effects.ts';
import type { HeaderLine, JsonObject, JsonValue, OfferedTlsVersion } from '../contract/index.ts';
import type { MistakeReference } from '../contract/mistakes/index.ts';
import type { ChainExpectation, HelloExpectation, HelloOffer } from './handshake.ts';
import type { Level, RequirementId } from './requirements.ts';

/**
 * Client certificates that only the partner's own CA can issue. Their scenarios run when the partner supplies them
 * (`mtls.fixtures` in the configuration).
 */
export const CLIENT_FIXTURES = ['expired', 'not-yet-valid', 'wrong-purpose', 'revoked', 'other-subject'] as const;
export type ClientFixture = (typeof CLIENT_FIXTURES)[number];

/** Evidence in addition to the answers: the effects window, a command that restarts the receiver, and its log. */
export const EVIDENCE_SOURCES = ['effects', 'restart', 'log'] as const;
export type EvidenceSource = (typeof EVIDENCE_SOURCES)[number];

/** Steps of a rotation, named after the secrets that are valid in them. */
export const ROTATION_STEPS = ['old', 'both', 'new'] as const;
export type RotationStep = (typeof ROTATION_STEPS)[number];

/** One of the two secrets of a rotation. */
export type RotatedSecret = 'old' | 'next';

/** A feature of the endpoint under test. A scenario that needs a disabled feature is `not-applicable`, by name. */
export type Feature = 'hmac' | 'api-key' | 'https' | 'mtls' | 'rotation' | `fixture-${ClientFixture}` | EvidenceSource;

/** Every feature, for schemas. */
export const FEATURES: readonly Feature[] = [
  'hmac',
  'api-key',
  'https',
  'mtls',
  'rotation',
  ...CLIENT_FIXTURES.map((name) => `fixture-${name}` as const),
  ...EVIDENCE_SOURCES,
];

/** What an id in a notification identifies. A receiver may look up ids, and reject those that it does not know. */
export const SAMPLE_KINDS = ['transaction', 'customer', 'account', 'payment-method', 'provider'] as const;
export type SampleKind = (typeof SAMPLE_KINDS)[number];

/** Configured samples, for a receiver that looks up ids or needs additional fields. */
export interface KnownSamples {
  readonly ids: Readonly<Partial<Record<SampleKind, readonly string[]>>>;
  /** Additional fields of every notification, each as a path and a value. */
  readonly fields: readonly (readonly [path: string, value: JsonValue])[];
}

/** Stages of the sending pipeline, in order. */
export const SENDING_STAGES = ['compose', 'serialise', 'sign', 'address', 'connect', 'transmit'] as const;
export type SendingStage = (typeof SENDING_STAGES)[number];

/**
 * What a changed stage may use. Values come from the seed of the run, so that a scenario can be repeated exactly. Only
 * notification ids are always new, because a receiver that de-duplicates would answer an old id without processing it.
 */
export interface Kit {
  /** The scenario that uses the kit, or `controls`. */
  readonly scenario?: string;
  /** Decimals of the assets that the partner supports, by symbol. */
  readonly decimals?: Readonly<Record<string, number>>;
  /** Creates a notification id (a UUID) with a prefix by which test notifications can be found and deleted. */
  newId(): string;
  /** Returns seeded lower-case letters and digits. */
  nonce(length?: number): string;
  /** Returns a seeded random integer in [0, below). */
  integer(below: number): number;
  /** Returns seeded random bytes. */
  bytes(length: number): Buffer;
  /** The time of the run. */
  readonly now: Date;
  /** Returns an id that the partner knows; null when none are configured. `own`: no other scenario uses it. */
  knownId?(kind: SampleKind, own: boolean): string | null;
  /** Additional fields that the partner's receiver needs. */
  readonly fields?: KnownSamples['fields'];
  /** Creates the plain valid notification of the controls (CAAS BUY, COMPLETED), with a new id at each call. */
  notification(): JsonObject;
  /** The partner's signature secret. Empty when HMAC is off. Scenarios that use it need the feature `hmac`. */
  readonly secret: string;
  /** The partner's API key. Empty when it is off. Scenarios that use it need the feature `api-key`. */
  readonly apiKey: string;
  /** The configured header names. */
  readonly signatureHeader: string;
  readonly apiKeyHeader: string;
  /**
   * The partner's client certificate without its key, as PEM. Empty when mutual TLS is off. Scenarios that use it need
   * the feature `mtls`.
   */
  readonly clientCertificate: string;
  /** A self-signed certificate with the subject of {@link clientCertificate}, as PEM. Created on first use. */
  readonly selfSignedCertificate?: string;
  /** Other names that the endpoint's machine may serve: those in its certificate, and a sibling of its host. */
  readonly otherServerNames?: readonly string[];
  /** Returns the valid signature of a body: base64 of HMAC-SHA256 with the secret. */
  sign(body: Uint8Array): string;
  /** For scenarios in the steps of a rotation, which need the feature `rotation`. */
  readonly rotation?: {
    /** Returns the valid signature of a body under one of the two secrets. */
    sign(body: Uint8Array, secret: RotatedSecret): string;
    /** A notification that was accepted while the old secret was valid, signed with it. Absent when there was none. */
    readonly delivered?: JsonObject;
  };
  /** Cookies (`name=value`) that the endpoint has set so far in its answers to the deliveries of this scenario. */
  readonly cookies: readonly string[];
  /** Non-standard headers of the answers so far, and tokens in them as the request headers that carry them. */
  readonly returned: readonly HeaderLine[];
}

/** The request line and the headers before they are sent. `target` is path and query. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly HeaderLine[];
}

/**
 * A replacement for the sign stage. Reports show the `label` instead of the value, because a value derived from the
 * valid signature must not be shown. `shell` is a pipeline that converts the body on standard input to the value, for
 * the command that repeats the delivery. It may use "$HOOKPROOF_SECRET".
 */
export interface SignChange {
  readonly label: string;
  /** Returns the value of the signature header, or undefined to send no such header. */
  readonly make: (body: Uint8Array, kit: Kit) => string | undefined;
  readonly shell?: string;
  /**
   * Decides whether the valid signature of a body is suitable, when the change needs certain characters in it. The
   * harness composes the delivery with a new nonce until it is. Default: every body is suitable.
   */
  readonly suits?: (right: string) => boolean;
}

/** A replacement for the address stage: method, target and headers. Reports show the `label`. */
export interface AddressChange {
  readonly label: string;
  readonly make: (head: RequestHead, kit: Kit, body: Uint8Array) => RequestHead;
}

/**
 * What a client presents instead of the partner's client certificate.
 *
 * - `none`: nothing.
 * - `self-signed`: a self-signed certificate with the subject of the partner's certificate.
 * - `unknown-authority`: a certificate of an unknown CA.
 * - `same-names`: a certificate of an unknown CA with the issuer and subject of the partner's certificate.
 * - `issued-by-client`: a certificate with the common name of the partner's, signed by the partner's certificate, which
 *   is not a CA.
 * - a fixture of the partner.
 */
export type ClientCertificate =
  | 'none'
  | 'self-signed'
  | 'unknown-authority'
  | 'same-names'
  | 'issued-by-client'
  | ClientFixture;

/**
 * A replacement for the connect stage. The delivery has its own connection, and so have the controls around it, which
 * use the same `version`. Reports show the `label`.
 */
export interface ConnectChange {
  readonly label: string;
  /** The only TLS version that is offered. Default: both. */
  readonly version?: OfferedTlsVersion;
  /** Set when the delivery equals the controls of its version, which then use the negotiated version. */
  readonly likeControl?: true;
  readonly clientCertificate?: ClientCertificate;
  /** Protocols that are offered instead of `http/1.1`. An empty list means no offer. */
  readonly alpn?: readonly string[];
  /** The server name (SNI) that is sent instead of the host of the URL; false sends none. */
  readonly serverName?: false | string;
  /**
   * Makes a first connection with this client certificate, takes the TLS session that the endpoint issues, and resumes
   * it on a second connection, which presents `clientCertificate` and carries the delivery.
   */
  readonly resumeFrom?: 'own' | ClientCertificate;
  /** Sends plain HTTP to the port of the TLS endpoint. */
  readonly plain?: true;
}

/**
 * A replacement for the transmit stage: how the bytes of the request are sent.
 *
 * - `chunked`: `Transfer-Encoding: chunked` instead of `Content-Length`, in this many chunks.
 * - `pieces`: with `Content-Length`, in TCP writes of the given sizes (bytes; the last size repeats), each in its own
 *   packet.
 * - `expect-continue`: `Expect: 100-continue`; the body follows the 100, or after one second without it.
 * - `held`: sends the head and half of the body, and the rest when the other deliveries of its group have been
 *   answered, at the latest after a second; with `isPatient`, however long they take.
 * - `cut-off`: sends this fraction of the body and closes the connection. There is no answer to judge.
 * - `raw`: sends bytes that no HTTP client would send, on a plain socket. `make` receives the bytes of the well-formed
 *   request. With `end`, the sending side of the connection is closed (FIN) after them.
 */
export type Transmission =
  | { readonly kind: 'chunked'; readonly pieces: number }
  | { readonly kind: 'pieces'; readonly sizes: readonly number[] }
  | { readonly kind: 'expect-continue' }
  | { readonly kind: 'held'; readonly isPatient?: true }
  | { readonly kind: 'cut-off'; readonly fraction: number }
  | {
      readonly kind: 'raw';
      readonly label: string;
      readonly make: (request: Buffer, kit: Kit) => Buffer;
      readonly end?: true;
    };

/**
 * The stages that a delivery replaces: one in nearly every scenario. The few scenarios that replace two or three say so
 * in their titles ("broken JSON without a signature").
 */
export interface Change {
  readonly compose?: (kit: Kit) => JsonValue;
  readonly serialise?: (value: JsonValue, kit: Kit) => Uint8Array;
  readonly sign?: SignChange;
  readonly address?: AddressChange;
  readonly connect?: ConnectChange;
  readonly transmit?: Transmission;
}

/** Returns the stages that a change replaces, in pipeline order. */
export function changedStages(change: Change): SendingStage[] {
  return SENDING_STAGES.filter((stage) => stage in change);
}

/**
 * A set of answers: a status, a class of statuses, or an outcome without an answer.
 *
 * - `closed`: the connection was closed or reset without an answer.
 * - `alert`: the connection ended with a TLS alert.
 * - `untrusted`: nothing was delivered because of the endpoint's certificate.
 * - `unreadable`: the answer is not HTTP.
 * - `none`: no answer in time; in `pass`, any missing answer (a delivery that was cut off gets none).
 */
export type AnswerMatch =
  | number
  | '2xx'
  | '3xx'
  | '4xx'
  | '5xx'
  | 'alert'
  | 'closed'
  | 'untrusted'
  | 'unreadable'
  | 'none';

/** What an answer must not contain, neither in its headers nor in its body, with a description. */
export const LEAKS = {
  signature: 'the valid signature of the delivery',
  secret: 'the signature secret',
  'api-key': 'the API key',
  'credential-part': 'a part of the valid signature, or the beginning or end of a secret',
  'stack-trace': 'a stack trace, with names of files and functions',
  'parser-detail': 'a message of the JSON parser, which shows how far the body was read',
  'error-message': 'the message of an exception',
  'database-message': 'a message of a database',
  'debug-page': 'a page that a framework shows to developers',
  'internal-page': 'a page or file that is meant for operators',
} as const;

export type Leak = keyof typeof LEAKS;

/**
 * The permitted answers. An exact status takes precedence over a class. An answer that is in none of the sets fails.
 *
 * `authentic` states whether the credentials of the delivery are valid. An independent oracle verifies every outgoing
 * request against it, so that a faulty probe is a harness error and never a failure of the partner.
 */
export interface Expectation {
  /** The expected answer in words: "200", "401", "any 4xx". */
  readonly text: string;
  readonly authentic: boolean;
  readonly pass: readonly AnswerMatch[];
  /** Answers that pass and are mentioned in the report. */
  readonly note?: readonly AnswerMatch[];
  /** Answers that warn at every level. */
  readonly warn?: readonly AnswerMatch[];
  /** Answers that fail at every level. */
  readonly fail?: readonly AnswerMatch[];
  /** Answers that lead to no conclusion. */
  readonly unclear?: readonly AnswerMatch[];
  /** True when the payload is malformed, so that a 5xx shows how the receiver handles payloads. */
  readonly malformed?: boolean;
  /** Accepts the absence of an answer after a short wait, because the sender never sends anything of the kind. */
  readonly isBrief?: true;
  /** What the answer must not contain. */
  readonly absent?: readonly Leak[];
}

/**
 * A request that is sent only after the endpoint has accepted a delivery that must be rejected, or has answered 5xx to
 * one with valid credentials.
 *
 * - `narrows`: a part of the delivery, which is judged like the whole. When it is also accepted, the report names it,
 * and
 *   no further parts are sent.
 * - `compares`: a request that shows how the endpoint treats all requests of this kind, for example one that delivers
 *   nothing. When each of them gets the same answer, that answer says nothing about this delivery.
 */
export interface FollowUp {
  readonly role: 'narrows' | 'compares';
  readonly label: string;
  readonly change: Change;
}

/**
 * What the receiver has finally done with the notification of a delivery, as reported by its effects window. Deliveries
 * of one notification state the same effect.
 */
export interface ExpectedEffect {
  /** Number of times it was handled. */
  readonly times: 0 | 1;
  /** Values of each handling. A value that the receiver omits is not judged; amounts are compared as numbers. */
  readonly values?: EffectValues;
  /** Current state of its transaction. */
  readonly current?: { readonly status?: string; readonly hash?: string };
}

/** One delivery of a scenario that has several. */
export interface Delivery {
  /** Describes this delivery in a few words: "the first copy", "the next event". */
  readonly label: string;
  readonly change: Change;
  readonly expect: Expectation;
  readonly followUps?: readonly FollowUp[];
  /** Judged when the endpoint has answered as expected. */
  readonly effect?: ExpectedEffect;
  /** Sends from a second address of this machine. Skipped when the endpoint is not on this machine. */
  readonly fromOtherAddress?: true;
}

/** What an observation can use: everything that the run has seen, as summarised by the harness. */
export interface RunObservations {
  /** Response time of each accepted control, in milliseconds. */
  readonly answerTimesMs: readonly number[];
  /** Leaks found in answers, with the scenario that provoked each. */
  readonly leaks: readonly { readonly leak: Leak; readonly scenario: string }[];
  /**
   * Periods in which the endpoint did not answer: what was in flight, which delivery caused it, and whether the
   * endpoint recovered (null when the run did not wait for it).
   */
  readonly outages: readonly {
    readonly inFlight: readonly string[];
    readonly culprit: string | null;
    readonly recovered: boolean | null;
    readonly sign: string;
    /** True when the receiver itself seems to have ended or to hang, as opposed to the network or a gateway. */
    readonly looksDead: boolean;
    /** Code of the symptom: `closed` or `silence` without an answer, otherwise the status of the answer. */
    readonly outcome?: string | undefined;
  }[];
  /** Valid deliveries that were rejected at the first attempt, with the answer, and the outcome of the second. */
  readonly failedControls: readonly {
    readonly scenario: string;
    readonly observed: string;
    readonly recovered: boolean;
    /** `observed` as a code: the status, or why there was no answer. */
    readonly outcome?: string | undefined;
    /** True for a delivery of the scenario, false for a control before or after it. */
    readonly isProbe?: boolean | undefined;
  }[];
  /**
   * How forged deliveries in the sender's own shape were rejected: the credential, the status, whether it is the
   * endpoint's usual status for it, and how many deliveries got it.
   */
  readonly rejections?: readonly {
    readonly credential: 'signature' | 'api-key';
    readonly status: number;
    readonly isUsual: boolean;
    readonly deliveries: number;
    /** True when these deliveries lacked the credential. */
    readonly isMissing: boolean;
  }[];
  /** Effects of the notifications of the other suites. Absent without an effects window. */
  readonly effects?: EffectsAudit | undefined;
  /** Findings in the log of the receiver. Absent when no log was given. */
  readonly log?: readonly LogFinding[] | undefined;
  /** How much of each log file was read. */
  readonly logFiles?: readonly LogFile[] | undefined;
  /** What the run could search for in the log. */
  readonly logSought?: ReadonlySet<LogLeak> | undefined;
  /** Deliveries while the receiver's secrets were switched. Absent when they were not. */
  readonly switches?: readonly SecretSwitch[] | undefined;
}

/** Deliveries during a switch to the next step of a rotation, all of them valid before and after it. */
export interface SecretSwitch {
  readonly step: RotationStep;
  readonly sent: number;
  /** Answers to the rejected deliveries: "answered 401". */
  readonly rejected: readonly string[];
  /** Number of deliveries that did not reach the receiver because it restarted. */
  readonly unreached: number;
  /** True when such deliveries are accepted after the switch. Otherwise it is not the reason for a rejection. */
  readonly isAcceptedAfter: boolean;
}

/** The notifications of a run, in the order of their answers, and what the effects window reports about them. */
export interface EffectsAudit {
  readonly notifications: readonly {
    readonly id: string;
    /** The scenarios that delivered it. */
    readonly scenarios: readonly string[];
    /** `accepted`: with valid credentials and answered 2xx. `rejected`: never accepted, and may or must be rejected. */
    readonly outcome: 'accepted' | 'rejected' | 'unknown';
    /** True for the plain valid delivery, which no receiver may ignore. */
    readonly isControl: boolean;
    readonly times: number;
    /** Its fields by path (`data.transactionId`), as JSON. Empty when the body is not one of the sender's. */
    readonly fields: Readonly<Record<string, string>>;
  }[];
  /** Number of handlings without a notification that was delivered with valid credentials. */
  readonly unexplained: number;
  /** Why the window did not answer, as a sentence; null when it did. */
  readonly problem: string | null;
}

/** How much of a log file was read. */
export interface LogFile {
  readonly file: string;
  /** Number of bytes that were written during the run and read. */
  readonly bytes: number;
  /** True when it never existed. */
  readonly isMissing: boolean;
  /** Error code of the last attempt to read it, or null. */
  readonly problem: string | null;
}

/** The `problem` of a log that was not read to its end when the run's time was up. */
export const LOG_RUN_OVER = 'run-over';

/** What a log must not contain. */
export const LOG_LEAKS = {
  secret: 'the signature secret',
  'secret-part': 'a part of the signature secret',
  'api-key': 'the API key',
  'api-key-part': 'a part of the API key',
  signature: 'the valid signature of a delivery that was sent without it',
  'sent-signature': 'the valid signature that a delivery had in its header',
  'private-key': 'a private key',
  body: 'the whole body of a delivery',
  personal: 'an address or an id of a customer',
} as const;
export type LogLeak = keyof typeof LOG_LEAKS;

export interface LogFinding {
  readonly leak: LogLeak;
  readonly file: string;
  /** Number of lines that contain it, and the first of them. */
  readonly lines: number;
  readonly first: LogLine;
  /** True when only hookproof itself had sent the value in a wrong place: `?api_key=...` in the target. */
  readonly isEcho: boolean;
}

/** A log line that contains a value. */
interface LogLine {
  /** Line number, counted from the start of the run. */
  readonly line: number;
  /** The line with credentials masked. */
  readonly text: string;
  /** The variable, setting or key before the value, and the place in the code that the line states. */
  readonly name: string | null;
  readonly source: string | null;
}

/** The conclusion of an observation scenario. */
export interface Observation {
  /** `not-applicable` when the run had nothing to examine, because a pass would be meaningless. */
  readonly verdict: 'pass' | 'warn' | 'fail' | 'inconclusive' | 'not-applicable';
  readonly observed: string;
  readonly reason: string;
  /** Code for `observed` that is the same in every run, if there is one. */
  readonly outcome?: string | undefined;
}

interface ScenarioText extends MistakeReference {
  /** Stable id: `suite/slug`. Never reused, never renamed. */
  readonly id: string;
  /** What is checked, as a sentence about a correct receiver: "Rejects a delivery without a signature". */
  readonly title: string;
  /** What is wrong when the check fails, when {@link defectOf} cannot derive it from the title. */
  readonly defect?: string;
  readonly level: Level;
  readonly requirements: readonly RequirementId[];
  /** Features without which the scenario does not apply. */
  readonly needs?: readonly Feature[];
  /** Step of a rotation in which it is sent. Needs `rotation`. */
  readonly step?: RotationStep;
  /** Sends a notification that was accepted in the first step of a rotation. */
  readonly replays?: true;
  /**
   * Set when it sends the secret itself. It is then not sent over plain HTTP to another machine, where it could be
   * intercepted.
   */
  readonly sendsSecret?: true;
}

/** A scenario of one probe: the plain valid delivery with one stage changed. */
export interface ProbeScenario extends ScenarioText {
  readonly change: Change;
  readonly expect: Expectation;
  readonly followUps?: readonly FollowUp[];
}

/**
 * A scenario of several deliveries. Groups are sent one after another, the deliveries of a group concurrently, each on
 * its own connection. When a group contains held deliveries, the others are sent one after another. With `uniform`, the
 * answers must also be indistinguishable; if they are not, the flow is sent again. When only the `status` must be
 * uniform, other differences are recorded.
 */
export interface FlowScenario extends ScenarioText {
  readonly flow: (kit: Kit) => readonly (readonly Delivery[])[];
  readonly uniform?: 'status' | 'answer';
  /** Kinds of ids that no other scenario may use, because a receiver relates the deliveries by them. */
  readonly owns?: readonly SampleKind[];
  /** The only TLS version of the deliveries and of the controls around them. */
  readonly version?: OfferedTlsVersion;
  /**
   * Runs while nothing else is in flight: its answers depend on what the receiver got just before, or its load disturbs
   * other scenarios.
   */
  readonly alone?: boolean;
  /**
   * Sends all deliveries in sequence on one kept connection. When the endpoint closes it without notice, that is the
   * answer, and nothing is sent again.
   */
  readonly kept?: true;
  /**
   * Runs alone and after all others, because a receiver may accept nothing more from this sender. No control follows:
   * the flow itself ends with a plain valid delivery.
   */
  readonly last?: true;
  /** Ends when the handshake of a delivery is rejected, because the other requests would not be read either. */
  readonly endsInHandshake?: true;
  /** Requires that an asset with these decimals is configured. */
  readonly decimals?: number;
  /** Restarts the receiver before this group of the flow, counted from 0. Needs `restart`, and runs alone. */
  readonly restartBefore?: number;
  /** Uses a new connection for each delivery, which a balancer may give to another process. */
  readonly onNewConnections?: true;
  /** Waits before this group of the flow, counted from 0, until earlier notifications are handled. Needs `effects`. */
  readonly handledBefore?: number;
}

/** A scenario that sends nothing. It is judged at the end, by everything that the run has seen. */
export interface ObservationScenario extends ScenarioText {
  /** What is expected, in words. Absent when nothing is. */
  readonly expected?: string;
  readonly observe: (run: RunObservations) => Observation;
}

/** A scenario of the TLS handshake: one ClientHello, between two that the sender would send. */
export interface HandshakeScenario extends ScenarioText {
  readonly hello: HelloOffer;
  readonly expect: HelloExpectation;
  /** Makes the scenario not applicable when the endpoint does not support the offered version, which it need not. */
  readonly onlyWhereSpoken?: true;
}

/** A scenario of the certificates that the endpoint sends. They are fetched and analysed once for all of these. */
export interface ChainScenario extends ScenarioText {
  readonly chain: ChainExpectation;
}

export type Scenario = ProbeScenario | FlowScenario | ObservationScenario | HandshakeScenario | ChainScenario;

/** A named group of scenarios, in the order in which they run. */
export interface Suite {
  readonly name: string;
  readonly title: string;
  readonly scenarios: readonly Scenario[];
}
