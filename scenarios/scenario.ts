/**
 * A scenario is a minimal pair: a delivery as the production sender would make it, and the same delivery with one stage
 * of the sending pipeline replaced. The pipeline is
 *
 *     compose -> serialise -> sign -> address -> connect -> transmit
 *
 * and a {@link Change} states which stage is replaced. This module contains only data and pure functions. The harness
 * sends the deliveries, and judges the answers by the scenario's {@link Expectation}.
 */
import type { EffectValues } from '../contract/effects.ts';
import type { HeaderLine, JsonObject, JsonValue, OfferedTlsVersion } from '../contract/index.ts';
import type { MistakeReference } from '../contract/mistakes/index.ts';
import type { Scheme, SchemeInput, SchemeSample } from '../contract/signing/index.ts';
import type { ChainExpectation, HelloExpectation, HelloOffer } from './handshake.ts';
import type { Level, RequirementId } from './requirements.ts';

/**
 * Client certificates that only the partner's own CA can issue. Scenarios that use them run only if the partner
 * supplies them (`mtls.fixtures` in the configuration).
 */
export const CLIENT_FIXTURES = ['expired', 'not-yet-valid', 'wrong-purpose', 'revoked', 'other-subject'] as const;
export type ClientFixture = (typeof CLIENT_FIXTURES)[number];

/**
 * Sources of evidence in addition to the answers: the effects window, a command that restarts the receiver, and the
 * receiver's log.
 */
export const EVIDENCE_SOURCES = ['effects', 'restart', 'log'] as const;
export type EvidenceSource = (typeof EVIDENCE_SOURCES)[number];

/** The steps of a rotation, named after the secrets that are valid in them. */
export const ROTATION_STEPS = ['old', 'both', 'new'] as const;
export type RotationStep = (typeof ROTATION_STEPS)[number];

/** One of the two secrets of a rotation. */
export type RotatedSecret = 'old' | 'next';

/**
 * A feature of the endpoint under test. A scenario is `not-applicable` if it needs a feature that is not configured.
 * The result names the feature.
 */
export type Feature = 'hmac' | 'api-key' | 'https' | 'mtls' | 'rotation' | `fixture-${ClientFixture}` | EvidenceSource;

/** All features, for schemas. */
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

/** Configured samples, for a receiver that looks up ids or requires additional fields. */
export interface KnownSamples {
  readonly ids: Readonly<Partial<Record<SampleKind, readonly string[]>>>;
  /** Fields to add to every notification, each as a path and a value. */
  readonly fields: readonly (readonly [path: string, value: JsonValue])[];
}

/** The stages of the sending pipeline, in order. */
export const SENDING_STAGES = ['compose', 'serialise', 'sign', 'address', 'connect', 'transmit'] as const;
export type SendingStage = (typeof SENDING_STAGES)[number];

/**
 * What a changed stage may use. Values come from the seed of the run, so a scenario can be repeated exactly. Only
 * notification ids are always new, because a receiver would answer a known id without processing the notification.
 */
export interface Kit {
  /** The id of the scenario that uses the kit, or `controls`. */
  readonly scenario?: string;
  /** The number of decimals of each supported asset, by symbol. */
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
  /**
   * Returns an id that the partner knows, or null if none are configured. With `own`, no other scenario uses the id.
   */
  knownId?(kind: SampleKind, own: boolean): string | null;
  /** Additional fields that the partner's receiver requires. */
  readonly fields?: KnownSamples['fields'];
  /**
   * Creates the plain valid notification of the controls (by default CAAS BUY, COMPLETED). Every call returns a new id.
   */
  notification(): JsonObject;
  /** The partner's signature secret. Empty if HMAC is off. Scenarios that use it need the feature `hmac`. */
  readonly secret: string;
  /** The partner's API key. Empty if none is configured. Scenarios that use it need the feature `api-key`. */
  readonly apiKey: string;
  /** The names of the credential headers. */
  readonly signatureHeader: string;
  readonly apiKeyHeader: string;
  /**
   * The partner's client certificate in PEM, without its key. Empty if mutual TLS is off. Scenarios that use it need
   * the feature `mtls`.
   */
  readonly clientCertificate: string;
  /**
   * A self-signed certificate, in PEM, with the same subject as {@link clientCertificate}. It is created on first use.
   */
  readonly selfSignedCertificate?: string;
  /**
   * Other host names that the endpoint's server may answer for: the names in its certificate, and a sibling of its
   * host.
   */
  readonly otherServerNames?: readonly string[];
  /** Returns the valid signature of a body: HMAC-SHA256 with the secret, in base64, or in the form of the scheme. */
  sign(body: Uint8Array): string;
  /** Set if the sender signs in a scheme other than that of the specification. */
  readonly scheme?: KitScheme;
  /** Set for a scenario in the steps of a rotation. Such a scenario needs the feature `rotation`. */
  readonly rotation?: {
    /** Returns the valid signature of a body under one of the two secrets. */
    sign(body: Uint8Array, secret: RotatedSecret): string;
    /**
     * A notification that was accepted with a signature under the old secret, while that secret was valid. Absent if
     * there was none.
     */
    readonly delivered?: JsonObject;
  };
  /** Cookies (`name=value`) that the endpoint has set in its answers to the previous deliveries of this scenario. */
  readonly cookies: readonly string[];
  /** Non-standard headers of the previous answers, and tokens found in these answers, as request headers. */
  readonly returned: readonly HeaderLine[];
}

/** The scheme of a sender, and what it signs with the body of one delivery. */
export interface KitScheme extends Omit<SchemeInput, 'body'> {
  readonly literal: Scheme;
  /** Deliveries of the sender. The first is the plain valid one. */
  readonly samples: readonly SchemeSample[];
  /** Returns the value of the signature header that contains these signatures. */
  header(...signatures: readonly string[]): string;
}

/** The request line and the headers before they are sent. `target` contains path and query. */
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
  /** Returns the value of the signature header. Undefined omits the header. */
  readonly make: (body: Uint8Array, kit: Kit) => string | undefined;
  /** In a scheme: an id or a time to use instead of the current ones. The valid signature then covers them. */
  readonly message?: (scheme: KitScheme) => Partial<Pick<SchemeInput, 'id' | 'timestamp'>>;
  /** In a scheme: returns all headers of the scheme, instead of only the signature. */
  readonly headers?: (body: Uint8Array, kit: Kit, scheme: KitScheme) => readonly HeaderLine[];
  /** In a scheme: sends valid older signatures. They are otherwise changed as the signature of the scheme is. */
  readonly keepsOlder?: true;
  readonly shell?: string;
  /**
   * Decides whether a valid signature suits a change that needs certain characters in it. Until one does, the harness
   * composes the delivery again with other values. Default: every signature suits.
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
 * - `none`: no certificate.
 * - `self-signed`: a self-signed certificate with the subject of the partner's certificate.
 * - `unknown-authority`: a certificate of an unknown CA.
 * - `same-names`: a certificate of an unknown CA with the issuer and subject of the partner's certificate.
 * - `issued-by-client`: a certificate with the common name of the partner's certificate, and signed by that
 *   certificate, although it is not a CA.
 * - The name of a fixture: a certificate that the partner supplies.
 */
export type ClientCertificate =
  | 'none'
  | 'self-signed'
  | 'unknown-authority'
  | 'same-names'
  | 'issued-by-client'
  | ClientFixture;

/**
 * A replacement for the connect stage. The delivery gets its own connection. So do the controls around it, which use
 * the same `version`. Reports show the `label`.
 */
export interface ConnectChange {
  readonly label: string;
  /** The only TLS version that is offered. Default: TLS 1.2 and 1.3. */
  readonly version?: OfferedTlsVersion;
  /**
   * Set if the delivery would be the same as its controls if they used its version. The controls then use the
   * negotiated version.
   */
  readonly likeControl?: true;
  readonly clientCertificate?: ClientCertificate;
  /** The protocols that are offered (ALPN) instead of `http/1.1`. An empty list disables ALPN. */
  readonly alpn?: readonly string[];
  /** The server name (SNI) that is sent instead of the host of the URL. False sends no server name. */
  readonly serverName?: false | string;
  /**
   * Resumes a TLS session. A first connection presents this client certificate and obtains the session. A second
   * connection resumes the session, presents `clientCertificate`, and carries the delivery.
   */
  readonly resumeFrom?: 'own' | ClientCertificate;
  /** Sends plain HTTP to the port of the TLS endpoint. */
  readonly plain?: true;
}

/**
 * A replacement for the transmit stage, which writes the bytes of the request.
 *
 * - `chunked`: sends `Transfer-Encoding: chunked` instead of `Content-Length`, and this many chunks.
 * - `pieces`: sends `Content-Length`, and writes the body in pieces of the given sizes (in bytes; the last size
 *   repeats), each in its own packet.
 * - `expect-continue`: sends `Expect: 100-continue`. The body follows after the 100, or after one second without it.
 * - `held`: sends the head and half of the body. The rest follows when the other deliveries of the group have been
 *   answered, or after a second; with `isPatient`, however long they take.
 * - `cut-off`: sends this fraction of the body, and closes the connection. There is no answer to judge.
 * - `raw`: sends bytes that no HTTP client would send, on a plain socket. `make` receives the bytes of the well-formed
 *   request. With `end`, the sending side of the connection is closed (FIN) afterwards.
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
 * The stages that a delivery replaces. Nearly every scenario replaces one. The few scenarios that replace two or three
 * say so in their titles ("broken JSON without a signature").
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
 * - `none`: there was no answer in time. In `pass`, it matches any missing answer, for deliveries that are cut off.
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

/** What neither the headers nor the body of an answer may contain, with a description. */
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
 * `authentic` states whether the credentials of the delivery are valid. An independent oracle verifies this for every
 * outgoing request, so that a faulty probe is a harness error and never a failure of the partner.
 */
export interface Expectation {
  /** The expected answer in words: "200", "401", "any 4xx". */
  readonly text: string;
  readonly authentic: boolean;
  readonly pass: readonly AnswerMatch[];
  /** Answers that pass, and that the report mentions. */
  readonly note?: readonly AnswerMatch[];
  /** Answers that warn at every level. */
  readonly warn?: readonly AnswerMatch[];
  /** Answers that fail at every level. */
  readonly fail?: readonly AnswerMatch[];
  /** Answers that allow no conclusion. */
  readonly unclear?: readonly AnswerMatch[];
  /** True if the payload is malformed. A 5xx then shows how the receiver handles payloads. */
  readonly malformed?: boolean;
  /** Accepts a missing answer after a short wait, because the production sender never sends such a request. */
  readonly isBrief?: true;
  /** What the answer must not contain. */
  readonly absent?: readonly Leak[];
}

/**
 * A request that is sent only after the endpoint has accepted a delivery that it must reject, or has answered 5xx to a
 * delivery with valid credentials.
 *
 * - `narrows`: a part of the delivery, which is judged like the whole. If the part is accepted, too, the report names
 *   it, and no further parts are sent.
 * - `compares`: a request that shows how the endpoint treats all requests of this kind, for example one that delivers
 *   nothing. If all these requests get the same answer as the delivery, the answer shows nothing about the delivery.
 */
export interface FollowUp {
  readonly role: 'narrows' | 'compares';
  readonly label: string;
  readonly change: Change;
}

/**
 * The effect that the notification of a delivery must have in the end, as reported by the receiver's effects window.
 * All deliveries of one notification state the same effect.
 */
export interface ExpectedEffect {
  /** How many times the notification must be handled. */
  readonly times: 0 | 1;
  /** The values of each handling. Values that the receiver omits are not judged. Amounts are compared as numbers. */
  readonly values?: EffectValues;
  /** The current state of the transaction. */
  readonly current?: { readonly status?: string; readonly hash?: string };
}

/** One of several deliveries of a scenario. */
export interface Delivery {
  /** A short name: "the first copy", "the next event". */
  readonly label: string;
  readonly change: Change;
  readonly expect: Expectation;
  readonly followUps?: readonly FollowUp[];
  /** The expected effect. It is judged if the endpoint has answered as expected. */
  readonly effect?: ExpectedEffect;
  /** Sends from a second address of this machine. The delivery is skipped if the endpoint is not on this machine. */
  readonly fromOtherAddress?: true;
}

/** The evidence for an observation: what the harness has seen during the whole run. */
export interface RunObservations {
  /** Response time of each accepted control, in milliseconds. */
  readonly answerTimesMs: readonly number[];
  /** Leaks that were found in answers, each with the scenario that provoked it. */
  readonly leaks: readonly { readonly leak: Leak; readonly scenario: string }[];
  /**
   * Periods in which the endpoint did not answer: what was in flight, which delivery caused the outage, and whether the
   * endpoint recovered (null if the run did not wait for it).
   */
  readonly outages: readonly {
    readonly inFlight: readonly string[];
    /** If the endpoint stayed down: what was answered shortly before, and whose work may have gone on. */
    readonly recent?: readonly string[] | undefined;
    readonly culprit: string | null;
    readonly recovered: boolean | null;
    readonly sign: string;
    /**
     * True if the receiver itself seems to have exited or to hang. False if the network or a gateway may be the cause.
     */
    readonly looksDead: boolean;
    /** The symptom as a code: `closed` or `silence` if there was no answer, otherwise the status of the answer. */
    readonly outcome?: string | undefined;
  }[];
  /**
   * Valid deliveries that were rejected at the first attempt, with the answer to it, and whether the second attempt was
   * accepted.
   */
  readonly failedControls: readonly {
    readonly scenario: string;
    readonly observed: string;
    readonly recovered: boolean;
    /** The content of `observed` as a code: the status, or why there was no answer. */
    readonly outcome?: string | undefined;
    /** True for a delivery of the scenario, false for a control before or after it. */
    readonly isProbe?: boolean | undefined;
  }[];
  /**
   * How forged deliveries in the sender's own shape were rejected: for each credential and status, whether the endpoint
   * usually rejects with this status, and how many deliveries got it.
   */
  readonly rejections?: readonly {
    readonly credential: 'signature' | 'api-key';
    readonly status: number;
    readonly isUsual: boolean;
    readonly deliveries: number;
    /** True if these deliveries lacked the credential. */
    readonly isMissing: boolean;
  }[];
  /** The effects of the notifications that the run has delivered. Absent without an effects window. */
  readonly effects?: EffectsAudit | undefined;
  /** What was found in the receiver's log. Absent if no log was given. */
  readonly log?: readonly LogFinding[] | undefined;
  /** How much of each log file was read. */
  readonly logFiles?: readonly LogFile[] | undefined;
  /** The kinds of leaks for which the run could search the log. */
  readonly logSought?: ReadonlySet<LogLeak> | undefined;
  /** Deliveries that were sent while the receiver's secrets were switched. Absent if they were not switched. */
  readonly switches?: readonly SecretSwitch[] | undefined;
}

/**
 * The deliveries during a switch to the next step of a rotation. All of them are valid both before and after the
 * switch.
 */
export interface SecretSwitch {
  readonly step: RotationStep;
  readonly sent: number;
  /** The answers to the rejected deliveries: "answered 401". */
  readonly rejected: readonly string[];
  /** Number of deliveries that did not reach the receiver because it restarted. */
  readonly unreached: number;
  /** True if such deliveries are accepted after the switch. Otherwise the switch is not the reason for a rejection. */
  readonly isAcceptedAfter: boolean;
}

/** The notifications of a run, in the order of their first answers, and what the effects window reports about them. */
export interface EffectsAudit {
  readonly notifications: readonly {
    readonly id: string;
    /** The scenarios that delivered the notification. */
    readonly scenarios: readonly string[];
    /**
     * `accepted`: sent with valid credentials and answered with a 2xx at least once. `rejected`: rejected every time.
     * `unknown`: anything else.
     */
    readonly outcome: 'accepted' | 'rejected' | 'unknown';
    /** True for the plain valid delivery, which no receiver may ignore. */
    readonly isControl: boolean;
    readonly deliveries: number;
    /** How often it was handled. */
    readonly times: number;
    /**
     * The fields of the notification as JSON, by path (`data.transactionId`). Empty if the body is not one of the
     * sender's.
     */
    readonly fields: Readonly<Record<string, string>>;
  }[];
  /** Number of handlings that no delivery of the run explains. */
  readonly unexplained: number;
  /** Why the window did not answer, as a sentence. Null if it did. */
  readonly problem: string | null;
}

/** How much of a log file was read. */
export interface LogFile {
  readonly file: string;
  /** Number of bytes that were written to the file during the run and were read. */
  readonly bytes: number;
  /** True if the file never existed. */
  readonly isMissing: boolean;
  /** The error code of the last attempt to read the file, or null. */
  readonly problem: string | null;
}

/** The `problem` of a log that had not been read to its end when the time of the run was up. */
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
  /** Number of lines with such a leak, and the first of these lines. */
  readonly lines: number;
  readonly first: LogLine;
  /** True if hookproof itself had sent the value in a wrong place, such as `?api_key=...` in the target. */
  readonly isEcho: boolean;
}

/** A line of a log that contains a value. */
interface LogLine {
  /** Line number, counted from the start of the run. */
  readonly line: number;
  /** The line, with credentials masked. */
  readonly text: string;
  /**
   * The name of the variable, setting or key before the value, and the location in source code that the line mentions.
   */
  readonly name: string | null;
  readonly source: string | null;
}

/** The conclusion of an observation scenario. */
export interface Observation {
  /** `not-applicable` if the run had nothing to examine. A pass would then mean nothing. */
  readonly verdict: 'pass' | 'warn' | 'fail' | 'inconclusive' | 'not-applicable';
  readonly observed: string;
  readonly reason: string;
  /** A code for `observed` that is the same in every run, if there is one. */
  readonly outcome?: string | undefined;
  /** The checks that were observed. A run that repeats the observation must repeat these checks, too. */
  readonly repeats?: readonly string[];
}

interface ScenarioText extends MistakeReference {
  /** Stable id: `suite/slug`. It is never renamed, and never reused. */
  readonly id: string;
  /** What is checked, as a sentence about a correct receiver: "Rejects a delivery without a signature". */
  readonly title: string;
  /**
   * What is wrong with a receiver that fails the check. Set only if {@link defectOf} cannot derive it from the title.
   */
  readonly defect?: string;
  readonly level: Level;
  readonly requirements: readonly RequirementId[];
  /** Features that the scenario needs. Without them, it does not apply. */
  readonly needs?: readonly Feature[];
  /** Returns why the scenario does not apply to a scheme, or null. Without a scheme, it applies. */
  readonly inScheme?: (scheme: KitScheme) => string | null;
  /** Set if nobody without the secret can make its deliveries, so that accepting them permits no forgery. */
  readonly needsSecret?: true;
  /** The step of a rotation in which the scenario is sent. Needs `rotation`. */
  readonly step?: RotationStep;
  /** Set if the scenario sends a notification again that was accepted in the first step of a rotation. */
  readonly replays?: true;
  /**
   * Set if the scenario sends the secret itself. It is then not sent over plain HTTP to another machine, because the
   * secret could be intercepted.
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
 * A scenario of several deliveries. Groups are sent one after another. The deliveries of a group are sent concurrently,
 * each on its own connection. If a group contains held deliveries, the others are sent one after another. With
 * `uniform`, the answers must also be indistinguishable; if they are not, the flow is sent again. If only the `status`
 * must be uniform, other differences are recorded.
 */
export interface FlowScenario extends ScenarioText {
  readonly flow: (kit: Kit) => readonly (readonly Delivery[])[];
  readonly uniform?: 'status' | 'answer';
  /**
   * Kinds of ids for which the scenario needs ids that no other scenario uses, because a receiver relates deliveries by
   * these ids.
   */
  readonly owns?: readonly SampleKind[];
  /** The only TLS version of the deliveries and of the controls around them. */
  readonly version?: OfferedTlsVersion;
  /**
   * Runs while nothing else is in flight, because the answers depend on earlier deliveries, or because the load would
   * disturb other scenarios.
   */
  readonly alone?: boolean;
  /**
   * Sends all deliveries in sequence on one kept connection. If the endpoint closes it without notice, this is the
   * result, and nothing is sent again.
   */
  readonly kept?: true;
  /**
   * Runs alone and after all other scenarios, because a receiver may then accept nothing more from this sender. No
   * control follows; instead, the flow itself ends with a plain valid delivery.
   */
  readonly last?: true;
  /**
   * Ends the scenario when the handshake of a delivery is rejected, because the other requests would not be read
   * either.
   */
  readonly endsInHandshake?: true;
  /** Makes the scenario not applicable unless an asset with this number of decimals is configured. */
  readonly decimals?: number;
  /**
   * Restarts the receiver before this group of the flow, counted from 0. Such a scenario needs `restart`, and runs
   * alone.
   */
  readonly restartBefore?: number;
  /** Uses a new connection for each delivery. A load balancer may give it to another process. */
  readonly onNewConnections?: true;
  /**
   * Waits, before this group of the flow (counted from 0), until all earlier notifications are handled. Needs
   * `effects`.
   */
  readonly handledBefore?: number;
}

/** A scenario that sends nothing. It is judged at the end of the run, from what the whole run has seen. */
export interface ObservationScenario extends ScenarioText {
  /** The expected observation, in words. Default: that nothing is observed. */
  readonly expected?: string;
  readonly observe: (run: RunObservations) => Observation;
}

/** A scenario of the TLS handshake: one changed ClientHello, between two like those of the production sender. */
export interface HandshakeScenario extends ScenarioText {
  readonly hello: HelloOffer;
  readonly expect: HelloExpectation;
  /**
   * Makes the scenario not applicable if the endpoint does not support the offered version. Support for it is not
   * required.
   */
  readonly onlyWhereSpoken?: true;
}

/**
 * A scenario of the certificates that the endpoint sends. They are fetched and analysed once for all these scenarios.
 */
export interface ChainScenario extends ScenarioText {
  readonly chain: ChainExpectation;
}

export type Scenario = ProbeScenario | FlowScenario | ObservationScenario | HandshakeScenario | ChainScenario;

export type SuiteName =
  | 'valid'
  | 'tls'
  | 'mtls'
  | 'typo-key'
  | 'signature'
  | 'api-key'
  | 'combination'
  | 'raw-body'
  | 'malformed'
  | 'http'
  | 'leaks'
  | 'delivery'
  | 'effects'
  | 'rotation'
  | 'scheme';

/** A named group of scenarios, in the order in which they run. */
export interface Suite {
  readonly name: SuiteName;
  readonly title: string;
  readonly scenarios: readonly Scenario[];
}
