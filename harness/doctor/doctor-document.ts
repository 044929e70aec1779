/**
 * The doctor's document, schema version 1: everything that it reports, redacted and safe to print. It contains facts
 * and findings but no verdict. The JSON Schema is generated from this schema.
 */
import * as z from 'zod';
import { CHAIN_FAULTS, type ChainFaultCode, type JsonObject, TLS_VERSIONS } from '../../contract/index.ts';
import { wording } from '../report/result-document.ts';
import { toJSONSchema } from '../to-json-schema.ts';

/** Text that the endpoint may have sent. `wording`: text that hookproof or OpenSSL writes. */
const text = z.string();
const milliseconds = z.number().nonnegative();
const count = z.int().nonnegative();
const family = z.union([z.literal(4), z.literal(6)]);

/** `problem`: deliveries fail or are unsafe. `advice`: they work, but something should be fixed. `info`: neither. */
const finding = z.strictObject({
  severity: z.enum(['problem', 'advice', 'info']),
  /** A stable code in kebab-case. */
  code: text,
  title: text,
  /** Details; empty if the title says everything. */
  detail: text,
  /** What to do; null if nothing. */
  fix: text.nullable(),
});

const transportError = z.strictObject({
  kind: wording,
  phase: wording,
  code: wording,
  message: text,
  alert: text.nullable(),
});

const timings = z.strictObject({
  connectMs: milliseconds.nullable(),
  tlsMs: milliseconds.nullable(),
  firstByteMs: milliseconds.nullable(),
  totalMs: milliseconds,
});

const dns = z.strictObject({
  host: text,
  /** Whether the URL has an IP address instead of a name. */
  literal: z.boolean(),
  addresses: z.array(
    z.strictObject({
      address: text,
      family,
      scope: z.enum(['public', 'loopback', 'private', 'link-local', 'special']),
    }),
  ),
  ms: milliseconds,
  error: z.strictObject({ code: wording, message: text }).nullable(),
});

const connection = z.strictObject({
  port: count,
  addresses: z.array(
    z.strictObject({
      address: text,
      family,
      outcome: z.enum(['connected', 'refused', 'unreachable', 'timeout', 'failed']),
      ms: milliseconds,
      /** Node's error code; null if connected. */
      code: wording.nullable(),
    }),
  ),
  /** The number of addresses that were not tried because there are too many. */
  notTried: count,
});

const key = z.strictObject({
  kind: z.enum(['rsa', 'ec', 'ed25519', 'ed448', 'dsa', 'other']),
  bits: count.nullable(),
  curve: text.nullable(),
});

const certificate = z.strictObject({
  subject: text,
  issuer: text,
  hosts: z.array(text),
  commonName: text.nullable(),
  notBefore: wording,
  notAfter: wording,
  key,
  signature: wording,
  authority: z.boolean(),
  pathLength: z.int().nullable(),
  usages: z.array(wording).nullable(),
  /** SHA-256 of the certificate, in hexadecimal. */
  fingerprint: wording,
  keyFingerprint: wording,
  issuerUrl: text.nullable(),
  selfIssued: z.boolean(),
  mustStaple: z.boolean(),
});

const faultCode = z.enum(Object.keys(CHAIN_FAULTS) as [ChainFaultCode, ...ChainFaultCode[]]);

/** The certificates as they were sent, and their analysis. */
const chain = z.strictObject({
  certificates: z.array(certificate.extend({ role: z.enum(['leaf', 'intermediate', 'root', 'extra']) })),
  /** The path from the leaf to the root, as indexes in `certificates`. */
  path: z.array(count),
  /** The trusted root at the end of the path. */
  anchor: text.nullable(),
  /**
   * Whether the list is exactly what was sent. False over TLS 1.3 alone, where order, repetitions and extra
   * certificates are invisible.
   */
  exact: z.boolean(),
  faults: z.array(z.strictObject({ code: faultCode, at: count.nullable(), text })),
  daysLeft: z.int().nullable(),
  checkedAt: wording,
});

const tls = z.strictObject({
  /** The answer to the ClientHello of a correct sender, in each version. */
  hellos: z.array(
    z.strictObject({
      version: z.enum(TLS_VERSIONS),
      outcome: z.enum(['granted', 'declined', 'alert', 'closed', 'reset', 'timeout', 'not-tls', 'connect-error']),
      /** The name of the alert, or the beginning of an answer that is not TLS. */
      detail: text.nullable(),
    }),
  ),
  negotiated: z.strictObject({ version: wording, cipher: wording, alpn: text.nullable() }).nullable(),
  /** Whether Node trusts the chain and the name; null if its handshake failed earlier. */
  trusted: z.boolean().nullable(),
  trustCode: text.nullable(),
  /** Whether the chain ends at a CA that was given in addition to the system's. */
  privateCa: z.boolean(),
  chain: chain.nullable(),
  /** Null if unknown: over TLS 1.3 the request is encrypted. */
  clientCertificateRequested: z.boolean().nullable(),
  /** The names of the CAs that the endpoint's request lists. */
  requestedCas: z.array(text),
  error: transportError.nullable(),
});

const reception = z.strictObject({
  outcome: z.enum(['answered', 'refused', 'closed', 'unclear']),
  /** The status, alert or error that shows the outcome. */
  evidence: text,
});

const clientCertificate = z.strictObject({
  /** Where the files were given: `--client-cert`, `HOOKPROOF_CLIENT_CERT`, `hookproof.yaml:3:16: tls.client-cert`. */
  certificateFrom: text.nullable(),
  keyFrom: text.nullable(),
  /** The client certificate followed by its chain as it is sent; empty if it cannot be read. */
  certificates: z.array(certificate),
  /** Whether certificate and key belong together; null if one of them cannot be read. */
  pair: z.boolean().nullable(),
  requested: z.boolean().nullable(),
  /** Whether the endpoint names a CA of the chain; null if it names none. */
  caNamed: z.boolean().nullable(),
  /** How the endpoint treated a request with the certificate and without one; null if it was not sent. */
  with: reception.nullable(),
  without: reception.nullable(),
});

const extraCas = z.strictObject({ from: text, certificates: z.array(certificate) });

const http = z.strictObject({
  method: wording,
  answer: z
    .strictObject({ status: z.int(), server: text.nullable(), allow: text.nullable(), location: text.nullable() })
    .nullable(),
  error: transportError.nullable(),
  timings,
  /**
   * Whether the endpoint's certificate is trusted, or there is none. The request has no credentials and is sent in
   * either case.
   */
  verified: z.boolean(),
});

const clock = z.strictObject({
  /** Milliseconds by which this machine's clock is ahead of the endpoint's; negative if it is behind. */
  aheadMs: z.int(),
  /** The largest possible error: half the round trip, and the rounding of the header to seconds. */
  uncertaintyMs: milliseconds,
  endpointTime: wording,
  localTime: wording,
});

const delivery = z.strictObject({
  id: text,
  type: text,
  status: z.int().nullable(),
  /** The beginning of the response body. */
  body: text,
  error: transportError.nullable(),
  timings,
});

/** The shape of a credential; never the value or a part of it. */
const credential = z.strictObject({
  from: text,
  /** The length in code points; `bytes` is the length in UTF-8. */
  characters: count,
  bytes: count,
  looksLike: z.array(z.enum(['base64', 'base64url', 'hex', 'uuid'])),
  /** The number of bytes after decoding. */
  decodedBytes: count.nullable(),
});

function section<Id extends string, Facts extends z.ZodType>(id: Id, facts: Facts) {
  return z.strictObject({
    id: z.literal(id),
    title: text,
    state: z.enum(['examined', 'skipped']),
    /** Why the section was not examined; empty if it was. */
    reason: text,
    facts: facts.nullable(),
    findings: z.array(finding),
  });
}

export const anySection = z.discriminatedUnion('id', [
  section('dns', dns),
  section('connection', connection),
  section('tls', tls),
  section('client-certificate', clientCertificate),
  section('extra-cas', extraCas),
  section('http', http),
  section('clock', clock),
  section('delivery', delivery),
  section('secret', credential),
  section('api-key', credential),
  section('configuration', z.null()),
]);

export const doctorDocument = z.strictObject({
  schemaVersion: z.literal(1),
  tool: z.strictObject({ name: z.literal('hookproof'), version: text }),
  /** The URL; null if only secrets and certificates were examined. */
  url: text.nullable(),
  /** Whether a connection was established; null if none was tried or it was aborted. */
  reached: z.boolean().nullable(),
  interrupted: z.boolean(),
  startedAt: text,
  durationMs: milliseconds,
  counts: z.strictObject({ problem: count, advice: count, info: count }),
  sections: z.array(anySection),
});

export type DoctorDocument = z.infer<typeof doctorDocument>;
export type DoctorSection = z.infer<typeof anySection>;
export type SectionId = DoctorSection['id'];
type SectionOf<Id extends SectionId> = Extract<DoctorSection, { id: Id }>;
export type FactsOf<Id extends SectionId> = NonNullable<SectionOf<Id>['facts']>;
export type DoctorFinding = z.infer<typeof finding>;
export type Severity = DoctorFinding['severity'];
export type TransportFacts = z.infer<typeof transportError>;
export type TimingFacts = z.infer<typeof timings>;
export type Reception = z.infer<typeof reception>;

/** Returns the JSON Schema of the document (draft 2020-12). */
export function doctorSchema(): JsonObject {
  const { $schema, ...schema } = toJSONSchema(doctorDocument) as JsonObject;
  return {
    $schema: $schema ?? 'https://json-schema.org/draft/2020-12/schema',
    title: 'hookproof doctor document, schemaVersion 1',
    ...schema,
  };
}
