/**
 * A digest of what a scenario sends and expects: level, features, bytes on the wire, allowed answers. Texts (title,
 * labels, why, fix) do not count. Neither do values that differ between runs: ids, times and random values come from a
 * fixed kit.
 */
import { createHash, createHmac } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { HeaderLine } from '../../contract/index.ts';
import type { Partner } from '../../harness/partner.ts';
import { assemble } from '../../harness/run/assemble.ts';
import {
  type Delivery,
  type Expectation,
  type Kit,
  type RunObservations,
  type Scenario,
  samples,
  TEST_ID_PREFIX,
} from '../../scenarios/index.ts';

const SECRET = 'a-secret-that-every-specimen-is-signed-with';
const API_KEY = 'an-api-key-that-every-specimen-carries';
const PARTNER: Partner = {
  url: 'https://partner.example/hooks?tenant=1',
  signing: { secret: SECRET },
  apiKey: { value: API_KEY },
};
/** This text need not be a valid certificate, because it is used only in headers. */
const CERTIFICATE =
  '-----BEGIN CERTIFICATE-----\nc3BlY2ltZW4gc3BlY2ltZW4gc3BlY2ltZW4gc3BlY2ltZW4=\n-----END CERTIFICATE-----\n';
const NOW = new Date('2026-01-02T03:04:05.000Z');

/** Length of a digest in hexadecimal characters. Half of a SHA-256 is enough here. */
const DIGEST_CHARACTERS = 32;

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex').slice(0, DIGEST_CHARACTERS);
}

/** Returns the content of a body. Compressed bytes differ between versions of zlib, but their content does not. */
function substance(body: Uint8Array): Uint8Array {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
  try {
    return Buffer.concat([Buffer.from('gzip of '), gunzipSync(body)]);
  } catch {
    return Buffer.from(`the first ${body.length} bytes of a gzip`);
  }
}

function specimenKit(id: string): Kit {
  let counter = 0;
  let ids = 0;
  const bytes = (length: number): Buffer => {
    const blocks: Buffer[] = [];
    for (let have = 0; have < length; have += 32) {
      blocks.push(createHash('sha256').update(`${id} ${counter++}`).digest());
    }
    return Buffer.concat(blocks).subarray(0, length);
  };
  const kit: Kit = {
    newId: () => `${TEST_ID_PREFIX}-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
    nonce: (length = 12) => Array.from(bytes(length), (byte) => (byte % 36).toString(36)).join(''),
    integer: (below) => bytes(6).readUIntBE(0, 6) % below,
    bytes,
    now: NOW,
    notification: () => samples.plainNotification(kit),
    secret: SECRET,
    apiKey: API_KEY,
    signatureHeader: 'X-Service-Signature',
    apiKeyHeader: 'X-API-Key',
    clientCertificate: CERTIFICATE,
    sign: (body) => createHmac('sha256', SECRET).update(substance(body)).digest('base64'),
    cookies: [],
    returned: [],
  };
  return kit;
}

/** Replaces the length of the body, which may be compressed. */
function headersOf(headers: readonly HeaderLine[], body: Uint8Array): HeaderLine[] {
  return headers.map(([name, value]) => [name, value === String(body.length) ? 'its length' : value]);
}

/** Returns the sets of an expectation. At level `must`, `fail` makes no difference and is left out. */
function allowedAnswers({ text: _, fail, ...sets }: Expectation, level: Scenario['level']) {
  return { ...sets, ...(level !== 'must' && { fail }) };
}

function delivered({ change, expect }: Pick<Delivery, 'change' | 'expect'>, kit: Kit, level: Scenario['level']) {
  const { prepared, raw, transmission } = assemble(change, kit, PARTNER);
  const { method, target, headers, body } = prepared;
  const { label: _, ...connect } = change.connect ?? { label: '' };
  return {
    head: [method, target, headersOf(headers, body)],
    body: sha256(substance(body)),
    connect,
    transmit: raw === null ? transmission : sha256(raw),
    expect: allowedAnswers(expect, level),
  };
}

/**
 * Runs that an observation distinguishes: good and slow ones, one with each kind of leak, and ones with outages and
 * failures.
 */
const GOOD: RunObservations = { answerTimesMs: [10, 20, 30], leaks: [], outages: [], failedControls: [] };
const OUTAGE = {
  inFlight: ['valid/plain'],
  culprit: null,
  recovered: true,
  sign: 'the connection was reset',
  looksDead: true,
};
const FAILED = { scenario: 'valid/plain', observed: '500', recovered: true };
const LEAKS = [
  'signature',
  'secret',
  'api-key',
  'credential-part',
  'stack-trace',
  'parser-detail',
  'error-message',
  'database-message',
  'debug-page',
  'internal-page',
] as const;
const RUNS: readonly RunObservations[] = [
  GOOD,
  { ...GOOD, answerTimesMs: [] },
  ...[4000, 5001, 9000, 20_000].map((slow) => ({ ...GOOD, answerTimesMs: [slow, slow, slow] })),
  ...LEAKS.map((leak) => ({ ...GOOD, leaks: [{ leak, scenario: 'valid/plain' }] })),
  { ...GOOD, outages: [OUTAGE] },
  { ...GOOD, outages: [{ ...OUTAGE, culprit: 'valid/plain' }] },
  { ...GOOD, outages: [{ ...OUTAGE, recovered: false }] },
  { ...GOOD, failedControls: [FAILED] },
  { ...GOOD, failedControls: [{ ...FAILED, recovered: false }] },
];

function demands(scenario: Scenario): unknown {
  const { level } = scenario;
  if ('change' in scenario) return delivered(scenario, specimenKit(scenario.id), level);
  if ('flow' in scenario) {
    const kit = specimenKit(scenario.id);
    const groups = scenario
      .flow(kit)
      .map((group) =>
        group.map((delivery) => ({ ...delivered(delivery, kit, level), fromOtherAddress: delivery.fromOtherAddress })),
      );
    const { uniform, version, alone, kept, last } = scenario;
    return { groups, uniform, version, alone, kept, last };
  }
  if ('hello' in scenario) {
    const { text: _, ...expect } = scenario.expect;
    return { hello: scenario.hello, expect, onlyWhereSpoken: scenario.onlyWhereSpoken };
  }
  if ('chain' in scenario) {
    const { text: _, ...chain } = scenario.chain;
    return { chain };
  }
  return RUNS.map((run) => scenario.observe(run).verdict);
}

/** Sorts the keys of objects, whose order has no meaning. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export function scenarioDigest(scenario: Scenario): string {
  const { level, needs = [], sendsSecret = false } = scenario;
  return sha256(JSON.stringify([level, [...needs].toSorted(), sendsSecret, demands(scenario)], inOrder));
}
