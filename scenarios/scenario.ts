/**
 * What a scenario is. A scenario is a minimal pair: a delivery that the real sender core would make, and the same
 * delivery with one stage of the sending pipeline replaced. The pipeline is
 *
 *     compose -> serialise -> sign -> address -> connect -> transmit
 *
 * and a {@link Change} names the stage that it replaces. Everything here is data and pure functions: the harness
 * does the sending, and judges the answer with the scenario's {@link Expectation}.
 */
import type { HeaderLine, JsonObject, JsonValue, OfferedTlsVersion } from '../contract/index.ts';
import type { ChainExpectation, HelloExpectation, HelloOffer } from './handshake.ts';
import type { Level, RequirementId } from './requirements.ts';

/**
 * Client certificates that only the partner's own authority can issue. Their scenarios run when the partner supplies
 * them (`mtls.fixtures` in the configuration).
 */
export const CLIENT_FIXTURES = ['expired', 'not-yet-valid', 'wrong-purpose', 'revoked', 'other-subject'] as const;
export type ClientFixture = (typeof CLIENT_FIXTURES)[number];

/** A feature of the endpoint under test. A scenario that needs one that is off is `not-applicable`, by name. */
export type Feature = 'hmac' | 'api-key' | 'https' | 'mtls' | `fixture-${ClientFixture}`;

/** Every feature, for schemas. */
export const FEATURES: readonly Feature[] = [
  'hmac',
  'api-key',
  'https',
  'mtls',
  ...CLIENT_FIXTURES.map((name) => `fixture-${name}` as const),
];

/** The stages of the sending pipeline, in order. */
export const SENDING_STAGES = ['compose', 'serialise', 'sign', 'address', 'connect', 'transmit'] as const;
export type SendingStage = (typeof SENDING_STAGES)[number];

/**
 * What a changed stage may use. Values come from the run's seed, so a scenario can be repeated exactly; only
 * notification ids are always new, because a receiver that de-duplicates would answer an old id from memory.
 */
export interface Kit {
  /** A new notification id (UUID form) with the prefix by which test notifications can be found and purged. */
  newId(): string;
  /** Lower-case letters and digits, seeded. */
  nonce(length?: number): string;
  /** A seeded random integer in [0, below). */
  integer(below: number): number;
  /** Seeded random bytes. */
  bytes(length: number): Buffer;
  /** The time of the run. */
  readonly now: Date;
  /** The plain valid notification that the controls also send (CAAS BUY, COMPLETED), with a fresh id at each call. */
  notification(): JsonObject;
  /** The partner's signature secret. Empty when HMAC is off; scenarios that use it need the feature `hmac`. */
  readonly secret: string;
  /** The partner's API key. Empty when it is off; scenarios that use it need the feature `api-key`. */
  readonly apiKey: string;
  /** The configured header names. */
  readonly signatureHeader: string;
  readonly apiKeyHeader: string;
  /**
   * The partner's client certificate without its key, PEM. Empty when mutual TLS is off; scenarios that use it need the
   * feature `mtls`.
   */
  readonly clientCertificate: string;
  /** The right signature of a body: base64 of HMAC-SHA256 under the secret. */
  sign(body: Uint8Array): string;
}

/** The request line and the headers, before they are put on the wire. `target` is path and query. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly HeaderLine[];
}

/**
 * A replacement for the sign stage. `label` says what is sent in place of the right signature: it is what reports
 * show, because a value derived from the right signature must not be shown. `shell`, when given, is a pipeline that
 * turns the body on standard input into the value, for the reproduction line; it may use "$HOOKPROOF_SECRET".
 */
export interface SignChange {
  readonly label: string;
  /** The value of the signature header, or undefined to send no such header. */
  readonly make: (body: Uint8Array, kit: Kit) => string | undefined;
  readonly shell?: string;
  /**
   * Whether a body with this right signature serves the change, when the change needs certain characters in it. The
   * harness composes the delivery again, with another nonce, until it does. Absent when every body serves.
   */
  readonly suits?: (right: string) => boolean;
}

/** A replacement for the address stage: method, target and headers. `label` is what reports show. */
export interface AddressChange {
  readonly label: string;
  readonly make: (head: RequestHead, kit: Kit, body: Uint8Array) => RequestHead;
}

/**
 * What a client presents in place of the partner's client certificate.
 *
 * - `none`: nothing.
 * - `self-signed`: a certificate that nobody vouches for, with the subject of the partner's.
 * - `unknown-authority`: one of an authority that nobody knows.
 * - `same-names`: one of an unknown authority that bears the names of the partner's own, issuer and subject.
 * - `issued-by-client`: one with the common name of the partner's, which the partner's own certificate has signed
 *   although it is no authority.
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
 * A replacement for the connect stage. The delivery has a connection of its own, and so have the controls around it,
 * which are made with the same `version`. `label` is what reports show.
 */
export interface ConnectChange {
  readonly label: string;
  /** The one TLS version that is offered. Absent: both. */
  readonly version?: OfferedTlsVersion;
  /**
   * The delivery is what the controls of its version are: the ones around it go over whichever version is agreed on.
   */
  readonly likeControl?: true;
  readonly clientCertificate?: ClientCertificate;
  /** The protocols that are offered in place of `http/1.1`; empty for no such offer. */
  readonly alpn?: readonly string[];
  /** Leaves out the name of the server (SNI). */
  readonly serverName?: false;
  /**
   * Makes a first connection, with this client certificate, takes the TLS session that the endpoint gives, and resumes
   * it on the second, which presents what `clientCertificate` says. The delivery goes over the second.
   */
  readonly resumeFrom?: 'own' | ClientCertificate;
  /** Speaks plain HTTP on the port of the TLS endpoint. */
  readonly plain?: true;
}

/**
 * A replacement for the transmit stage: how the bytes of the body reach the wire.
 *
 * - `chunked`: `Transfer-Encoding: chunked` in place of `Content-Length`, in this many pieces.
 * - `pieces`: with `Content-Length`, in TCP writes of the given sizes (bytes; the last size repeats), each its own
 *   packet.
 * - `expect-continue`: `Expect: 100-continue`, the body after the 100 or after one second without it.
 * - `cut-off`: sends this fraction of the body and then closes the connection; there is no answer to judge.
 * - `raw`: sends bytes that no HTTP client would send, on a plain socket; `make` gets the well-formed request's bytes.
 */
export type Transmission =
  | { readonly kind: 'chunked'; readonly pieces: number }
  | { readonly kind: 'pieces'; readonly sizes: readonly number[] }
  | { readonly kind: 'expect-continue' }
  | { readonly kind: 'cut-off'; readonly fraction: number }
  | { readonly kind: 'raw'; readonly label: string; readonly make: (request: Buffer, kit: Kit) => Buffer };

/**
 * The stages that a delivery replaces. One, in nearly every scenario: the few that replace two say so in their title
 * ("unsigned malformed", "wrong key and missing signature"), and a test lists them.
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
 * A set of answers: a status, a class of statuses, or what came in place of an answer. `closed` is a connection that
 * was closed or reset with no answer, and `alert` one that was ended with a TLS alert; `untrusted` is a certificate to
 * which nothing was delivered. `unreadable` is an answer that is no HTTP. `none` is no answer in time, and in `pass`
 * any lack of one (a cut-off delivery has none to expect).
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

/** Something that must not stand in an answer, in its headers or body. */
export type Leak =
  | 'signature'
  | 'secret'
  | 'api-key'
  | 'stack-trace'
  | 'parser-detail'
  | 'error-message'
  | 'database-message'
  | 'debug-page';

/**
 * Which answers are right. An exact status beats a class. What is in none of the sets fails.
 *
 * `authentic` says whether the credentials of the delivery are right: an independent oracle checks every outgoing
 * request against it, so that a wrong probe is a harness error and never a partner's failure.
 */
export interface Expectation {
  /** The right answer in words: "200", "401", "any 4xx, alive". */
  readonly text: string;
  readonly authentic: boolean;
  readonly pass: readonly AnswerMatch[];
  /** Passes, and the report says what was noticed. */
  readonly note?: readonly AnswerMatch[];
  /** Warns, whatever the level. */
  readonly warn?: readonly AnswerMatch[];
  /** Proves nothing either way. */
  readonly unclear?: readonly AnswerMatch[];
  /** What a 5xx, a hang, a reset or an exit means here: on a malformed payload it is a crash and fails (503 too). */
  readonly malformed?: boolean;
  /** What must not stand in the answer. */
  readonly absent?: readonly Leak[];
}

/** One delivery of a scenario that has several. */
export interface Delivery {
  /** What this delivery is, in a few words: "the first copy", "the event that follows". */
  readonly label: string;
  readonly change: Change;
  readonly expect: Expectation;
}

/**
 * What an observation scenario may look at: everything that the run has seen. Shapes are the harness's summary of it.
 */
export interface RunObservations {
  /** Milliseconds that the endpoint took for each accepted control. */
  readonly answerTimesMs: readonly number[];
  /** What was found in any answer that must not be there, with the scenario that provoked it. */
  readonly leaks: readonly { readonly leak: Leak; readonly scenario: string }[];
  /**
   * When the endpoint stopped answering, what was in flight then, whether one of them did it, and whether it came back.
   */
  readonly outages: readonly {
    readonly inFlight: readonly string[];
    readonly culprit: string | null;
    readonly recovered: boolean;
    readonly sign: string;
  }[];
  /**
   * Plain valid deliveries that were not accepted at first, with what came instead, and whether the second try was
   * accepted.
   */
  readonly failedControls: readonly { readonly scenario: string; readonly observed: string; readonly again: boolean }[];
}

/** What an observation scenario concludes. */
export interface Observation {
  readonly verdict: 'pass' | 'warn' | 'fail' | 'inconclusive';
  readonly observed: string;
  readonly reason: string;
}

interface ScenarioText {
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
  /** Sends the secret itself: not over plain HTTP to another machine, where anybody on the way could read it. */
  readonly sendsSecret?: true;
  /** Why it matters: what goes wrong in production, in a sentence or two. */
  readonly why: string;
  /** How to fix a receiver that fails, in a sentence or two. Names the usual cause. */
  readonly fix: string;
}

/** A scenario of one probe: the plain valid delivery with one stage changed. */
export interface ProbeScenario extends ScenarioText {
  readonly change: Change;
  readonly expect: Expectation;
}

/**
 * A scenario of several deliveries. The groups go one after another, the deliveries of one group at the same time, each
 * on a connection of its own. `uniform` asks for one more thing: that the answers cannot be told apart (status and
 * body).
 */
export interface FlowScenario extends ScenarioText {
  readonly flow: (kit: Kit) => readonly (readonly Delivery[])[];
  readonly uniform?: boolean;
  /** The one TLS version that the deliveries, and so the controls around them, go over. */
  readonly version?: OfferedTlsVersion;
  /** Runs when nothing else is in flight, so that its load disturbs no other scenario. */
  readonly alone?: boolean;
}

/** A scenario that sends nothing: it is judged at the end, by what the whole run has seen. */
export interface ObservationScenario extends ScenarioText {
  readonly observe: (run: RunObservations) => Observation;
}

/** A scenario of the TLS handshake: one ClientHello, between two that a right sender would send. */
export interface HandshakeScenario extends ScenarioText {
  readonly hello: HelloOffer;
  readonly expect: HelloExpectation;
  /** Says nothing where the endpoint does not speak the version of the offer, which it need not. */
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
