/**
 * What a scenario is: a minimal pair of a delivery that the sender core would make, and the same delivery with one
 * stage of
 * the sending pipeline replaced. The pipeline is
 *
 *     compose -> serialise -> sign -> address -> connect -> transmit
 *
 * and a {@link Change} names the stage that it replaces. Everything here is data and pure functions: the harness sends
 * the
 * deliveries, and judges the answers by the scenario's {@link Expectation}.
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

/** What shows more than the answers: the effects window, a command that restarts the receiver, and its log. */
export const EVIDENCE_SOURCES = ['effects', 'restart', 'log'] as const;
export type EvidenceSource = (typeof EVIDENCE_SOURCES)[number];

/** A feature of the endpoint under test. A scenario that needs a disabled feature is `not-applicable`, by name. */
export type Feature = 'hmac' | 'api-key' | 'https' | 'mtls' | `fixture-${ClientFixture}` | EvidenceSource;

/** Every feature, for schemas. */
export const FEATURES: readonly Feature[] = [
  'hmac',
  'api-key',
  'https',
  'mtls',
  ...CLIENT_FIXTURES.map((name) => `fixture-${name}` as const),
  ...EVIDENCE_SOURCES,
];

/** What an id in a notification identifies. A receiver may look ids up, and reject those that it does not know. */
export const SAMPLE_KINDS = ['transaction', 'customer', 'account', 'payment-method', 'provider'] as const;
export type SampleKind = (typeof SAMPLE_KINDS)[number];

/** The configured samples, for a receiver that looks ids up or needs additional fields. */
export interface KnownSamples {
  readonly ids: Readonly<Partial<Record<SampleKind, readonly string[]>>>;
  /** Fields that every notification has in addition, each as a path and a value. */
  readonly fields: readonly (readonly [path: string, value: JsonValue])[];
}

/** The stages of the sending pipeline, in order. */
export const SENDING_STAGES = ['compose', 'serialise', 'sign', 'address', 'connect', 'transmit'] as const;
export type SendingStage = (typeof SENDING_STAGES)[number];

/**
 * What a changed stage may use. Values come from the seed of the run, so a scenario can be repeated exactly. Only
 * notification ids are always new: a receiver that de-duplicates would answer an old id without processing it.
 */
export interface Kit {
  /** The scenario that it is for, or `controls`. */
  readonly scenario?: string;
  /** The decimals of the assets that the partner supports, by their symbols. */
  readonly decimals?: Readonly<Record<string, number>>;
  /** A new notification id (a UUID) with a prefix by which test notifications can be found and deleted. */
  newId(): string;
  /** Lower-case letters and digits, seeded. */
  nonce(length?: number): string;
  /** A seeded random integer in [0, below). */
  integer(below: number): number;
  /** Seeded random bytes. */
  bytes(length: number): Buffer;
  /** The time of the run. */
  readonly now: Date;
  /** An id that the partner knows; null where none are configured. `own`: no other scenario uses it. */
  knownId?(kind: SampleKind, own: boolean): string | null;
  /** Further fields that the partner's receiver needs. */
  readonly fields?: KnownSamples['fields'];
  /** The plain valid notification of the controls (CAAS BUY, COMPLETED), with a new id at each call. */
  notification(): JsonObject;
  /** The partner's signature secret. Empty when HMAC is off. Scenarios that use it need the feature `hmac`. */
  readonly secret: string;
  /** The partner's API key. Empty when it is off. Scenarios that use it need the feature `api-key`. */
  readonly apiKey: string;
  /** The configured header names. */
  readonly signatureHeader: string;
  readonly apiKeyHeader: string;
  /**
   * The partner's client certificate without its key, PEM. Empty when mutual TLS is off. Scenarios that use it need the
   * feature
   * `mtls`.
   */
  readonly clientCertificate: string;
  /** The valid signature of a body: Base64 of HMAC-SHA256 with the secret. */
  sign(body: Uint8Array): string;
  /** The cookies (`name=value`) that the endpoint has set in its answers to the deliveries of this scenario so far. */
  readonly cookies: readonly string[];
  /** Unusual headers of its answers so far, and tokens in them as the headers that usually return them. */
  readonly returned: readonly HeaderLine[];
}

/** The request line and the headers before they are sent. `target` is path and query. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly HeaderLine[];
}

/**
 * A replacement for the sign stage. Reports show the `label` instead of the value, because a value that is derived from
 * the valid signature must not be shown. `shell` is a pipeline that turns the body on standard input into the value,
 * for the
 * command that repeats the delivery. It may use "$HOOKPROOF_SECRET".
 */
export interface SignChange {
  readonly label: string;
  /** The value of the signature header, or undefined to send no such header. */
  readonly make: (body: Uint8Array, kit: Kit) => string | undefined;
  readonly shell?: string;
  /**
   * Whether the valid signature of a body is suitable, when the change needs certain characters in it. The harness
   * composes
   * the delivery again with another nonce until it is. Absent when every body is suitable.
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
 *   is
 *   not a CA.
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
 * use
 * the same `version`. Reports show the `label`.
 */
export interface ConnectChange {
  readonly label: string;
  /** The only TLS version that is offered. Absent: both. */
  readonly version?: OfferedTlsVersion;
  /** The delivery equals the controls of its version, so the controls around it use whichever version is negotiated. */
  readonly likeControl?: true;
  readonly clientCertificate?: ClientCertificate;
  /** The protocols that are offered instead of `http/1.1`. Empty: no offer. */
  readonly alpn?: readonly string[];
  /** Sends no server name (SNI). */
  readonly serverName?: false;
  /**
   * Makes a first connection with this client certificate, takes the TLS session that the endpoint issues, and resumes
   * it on
   * the second connection, which presents `clientCertificate`. The delivery is sent on the second.
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
 * - `expect-continue`: `Expect: 100-continue`, the body after the 100 or after one second without it.
 * - `held`: sends the head and half of the body, and the rest when the other deliveries of its group have been
 *   answered, at the latest after a second; with `isPatient`, however long they take.
 * - `cut-off`: sends this fraction of the body and closes the connection. There is no answer to judge.
 * - `raw`: sends bytes that no HTTP client would send, on a plain socket. `make` gets the bytes of the well-formed
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
 * in
 * their titles ("broken JSON without a signature").
 */
export interface Change {
  readonly compose?: (kit: Kit) => JsonValue;
  readonly serialise?: (value: JsonValue, kit: Kit) => Uint8Array;
  readonly sign?: SignChange;
  readonly address?: AddressChange;
  readonly connect?: ConnectChange;
  readonly transmit?: Transmission;
}

/** The stages that a change replaces, in pipeline order. */
export function changedStages(change: Change): SendingStage[] {
  return SENDING_STAGES.filter((stage) => stage in change);
}

/**
 * A set of answers: a status, a class of statuses, or an outcome without an answer. `closed` is a connection that was
 * closed
 * or reset without an answer, `alert` one that ended with a TLS alert, and `untrusted` a certificate for which nothing
 * was
 * delivered. `unreadable` is an answer that is not HTTP. `none` is no answer in time; in `pass` it is any missing
 * answer (a
 * delivery that was cut off gets none).
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

/** What an answer must not contain, neither in its headers nor in its body, each with what it is. */
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
 * The allowed answers. An exact status takes precedence over a class. What is in none of the sets fails.
 *
 * `authentic` says whether the credentials of the delivery are valid. An independent oracle verifies every outgoing
 * request
 * against it, so that a faulty probe is a harness error and never a failure of the partner.
 */
export interface Expectation {
  /** The expected answer in words: "200", "401", "any 4xx, without a crash". */
  readonly text: string;
  readonly authentic: boolean;
  readonly pass: readonly AnswerMatch[];
  /** Passes, and the report mentions it. */
  readonly note?: readonly AnswerMatch[];
  /** Warns, at every level. */
  readonly warn?: readonly AnswerMatch[];
  /** Leads to no conclusion. */
  readonly unclear?: readonly AnswerMatch[];
  /** The payload is malformed: a 5xx (including 503), a hang, a reset or an exit is a crash and fails. */
  readonly malformed?: boolean;
  /** What the answer must not contain. */
  readonly absent?: readonly Leak[];
}

/**
 * A request that is sent only after the endpoint has accepted a delivery that must be rejected. Correct receivers never
 * get it.
 *
 * - `narrows`: a part of the delivery, which is judged like it. When it is accepted as well, the report names it.
 * - `compares`: a request that shows how the endpoint treats all requests of this kind, for example one that delivers
 *   nothing. When each of them gets the same answer, the endpoint serves a page to every request, and has accepted
 *   nothing.
 */
export interface FollowUp {
  readonly role: 'narrows' | 'compares';
  readonly label: string;
  readonly change: Change;
}

/**
 * What the receiver has done in the end with the notification of a delivery, by its effects window. Deliveries of one
 * notification state the same.
 */
export interface ExpectedEffect {
  /** How often it was handled. */
  readonly times: 0 | 1;
  /** Of each handling. A value that the receiver does not state is not judged; amounts are compared as numbers. */
  readonly values?: EffectValues;
  /** What its transaction has now. */
  readonly current?: { readonly status?: string; readonly hash?: string };
}

/** One delivery of a scenario that has several. */
export interface Delivery {
  /** What this delivery is, in a few words: "the first copy", "the next event". */
  readonly label: string;
  readonly change: Change;
  readonly expect: Expectation;
  readonly ifAccepted?: readonly FollowUp[];
  /** Judged when the endpoint has answered as expected. */
  readonly effect?: ExpectedEffect;
  /** From a second address of this machine. Left out where the endpoint is not on this machine. */
  readonly fromOtherAddress?: true;
}

/** What an observation can use: everything that the run has seen, as summarised by the harness. */
export interface RunObservations {
  /** Milliseconds that the endpoint took for each accepted control. */
  readonly answerTimesMs: readonly number[];
  /** What answers must not contain and did, with the scenario that provoked it. */
  readonly leaks: readonly { readonly leak: Leak; readonly scenario: string }[];
  /**
   * When the endpoint stopped answering: what was in flight, which delivery caused it, and whether the endpoint
   * recovered; null when the run did not wait for it.
   */
  readonly outages: readonly {
    readonly inFlight: readonly string[];
    readonly culprit: string | null;
    readonly recovered: boolean | null;
    readonly sign: string;
    /** The receiver itself seems to have ended or to hang, as opposed to the network or a gateway. */
    readonly looksDead: boolean;
    /** The sign as a code: `closed` or `silence` without an answer, otherwise the status of the answer. */
    readonly outcome?: string | undefined;
  }[];
  /**
   * Plain valid deliveries that were not accepted at the first attempt, with the answer, and whether the second was
   * accepted.
   */
  readonly failedControls: readonly {
    readonly scenario: string;
    readonly observed: string;
    readonly recovered: boolean;
    /** `observed` as a code, where no answer came. */
    readonly outcome?: string | undefined;
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
    /** Whether these deliveries lacked the credential. */
    readonly isMissing: boolean;
  }[];
  /** What became of the notifications of the other suites; absent without an effects window. */
  readonly effects?: EffectsAudit | undefined;
  /** What the log of the receiver contains; absent where none was given. */
  readonly log?: readonly LogFinding[] | undefined;
  /** What was read of each file of the log. */
  readonly logFiles?: readonly LogFile[] | undefined;
}

/** The notifications of a run, and what the effects window says of them. */
export interface EffectsAudit {
  readonly notifications: readonly {
    readonly id: string;
    /** The scenarios that delivered it. */
    readonly scenarios: readonly string[];
    /** Accepted: with valid credentials and answered 2xx. Rejected: never accepted, and it must be or may be. */
    readonly outcome: 'accepted' | 'rejected';
    /** The plain valid delivery, which no receiver may ignore. */
    readonly isControl: boolean;
    readonly times: number;
  }[];
  /** How many handlings have no notification that was delivered with valid credentials. */
  readonly unexplained: number;
  /** Why the window gave no answer, as a sentence; null when it did. */
  readonly problem: string | null;
}

/** What was read of a file of the log. */
export interface LogFile {
  readonly file: string;
  /** Written during the run, and read. */
  readonly bytes: number;
  /** It did not exist at any time. */
  readonly isMissing: boolean;
  /** The code of the error of the last attempt to read it, or null. */
  readonly problem: string | null;
}

/** The `problem` of a log that was not read to its end when the time of the run was over. */
export const LOG_RUN_OVER = 'run-over';

/** What must not be in a log. */
export const LOG_LEAKS = {
  secret: 'the signature secret',
  'api-key': 'the API key',
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
  /** How many lines have it, and the first of them: its number from the start of the run, and its text, masked. */
  readonly lines: number;
  readonly first: { readonly line: number; readonly text: string };
  /** Only where hookproof itself had sent the value in a wrong place: `?api_key=...` in the target. */
  readonly isEcho: boolean;
}

/** What an observation scenario concludes. */
export interface Observation {
  readonly verdict: 'pass' | 'warn' | 'fail' | 'inconclusive';
  readonly observed: string;
  readonly reason: string;
  /** `observed` as a code that is the same in every run, where there is one. */
  readonly outcome?: string | undefined;
}

interface ScenarioText extends MistakeReference {
  /** Stable: `suite/slug`. Never reused, never renamed. */
  readonly id: string;
  /** What is checked, as a sentence about a correct receiver: "Rejects a delivery without a signature". */
  readonly title: string;
  /** What is wrong when the check fails, where {@link defectOf} cannot derive it from the title. */
  readonly defect?: string;
  readonly level: Level;
  readonly requirements: readonly RequirementId[];
  /** Features without which the scenario does not apply. */
  readonly needs?: readonly Feature[];
  /** Sends the secret itself: not over plain HTTP to another machine, where it could be intercepted. */
  readonly sendsSecret?: true;
}

/** A scenario of one probe: the plain valid delivery with one stage changed. */
export interface ProbeScenario extends ScenarioText {
  readonly change: Change;
  readonly expect: Expectation;
  readonly ifAccepted?: readonly FollowUp[];
}

/**
 * A scenario of several deliveries. Groups are sent one after another, the deliveries of a group concurrently, each on
 * its own connection; next to held deliveries, the others are sent one after another. With `uniform`, the answers must
 * also be indistinguishable (status and body); if they are not, the flow is sent again.
 */
export interface FlowScenario extends ScenarioText {
  readonly flow: (kit: Kit) => readonly (readonly Delivery[])[];
  readonly uniform?: boolean;
  /** Needs ids that no other scenario uses, because a receiver relates the deliveries by them. */
  readonly owns?: readonly SampleKind[];
  /** The only TLS version of the deliveries and of the controls around them. */
  readonly version?: OfferedTlsVersion;
  /**
   * Runs while nothing else is in flight: its answers depend on what the receiver got just before, or its load
   * disturbs other scenarios.
   */
  readonly alone?: boolean;
  /**
   * All deliveries use one kept connection, in sequence. When the endpoint closes it without notice, that is the
   * answer, and nothing is sent again.
   */
  readonly kept?: true;
  /**
   * Runs alone, after all others, because a receiver may accept nothing more from this sender. No control follows: the
   * flow itself ends with a plain valid delivery.
   */
  readonly last?: true;
  /** An asset with these decimals must be configured. */
  readonly decimals?: number;
  /** The receiver is restarted before this group of the flow, counted from 0. Needs `restart`, and runs alone. */
  readonly restartBefore?: number;
}

/** A scenario that sends nothing. It is judged at the end, by what the whole run has seen. */
export interface ObservationScenario extends ScenarioText {
  /** What is expected, in words. Absent: nothing of what is observed. */
  readonly expected?: string;
  readonly observe: (run: RunObservations) => Observation;
}

/** A scenario of the TLS handshake: one ClientHello, between two that the sender would send. */
export interface HandshakeScenario extends ScenarioText {
  readonly hello: HelloOffer;
  readonly expect: HelloExpectation;
  /** Not applicable when the endpoint does not support the version of the offer, which it need not. */
  readonly onlyWhereSpoken?: true;
}

/** A scenario of the certificates that the endpoint sends. They are fetched and analysed once for all of them. */
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
