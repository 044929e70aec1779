/** Turns what was sent and answered into the exchanges of the result document, without what must never be shown. */
import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import type { Bytes, Exchange } from '../result/result-document.ts';
import type { Attempt, Partner } from '../sender/index.ts';
import type { Assembled } from './assemble.ts';
import { headerNamesOf } from './header-names.ts';
import type { Shipment } from './shipment.ts';

/** What is kept of a body. Longer ones are cut, and say so. */
const BODY_CAP = 4096;

/** Bytes for reading: text when they are clean UTF-8, else base64. */
export function describeBytes(bytes: Uint8Array, alreadyTruncated = false): Bytes {
  const kept = bytes.subarray(0, BODY_CAP);
  const truncated = alreadyTruncated || bytes.length > BODY_CAP;
  const text = Buffer.from(kept).toString('utf8');
  // A cut may fall inside a character: the last one is then dropped.
  const whole = truncated ? text.replace(/\uFFFD$/, '') : text;
  const clean = Buffer.from(kept).subarray(0, Buffer.byteLength(whole)).equals(Buffer.from(whole, 'utf8'));
  return {
    length: bytes.length,
    text: clean ? whole : null,
    base64: clean ? null : Buffer.from(kept).toString('base64'),
    truncated,
  };
}

/** Credentials are never written down, right or wrong: a wrong one is often made from the right one. */
function maskHeaders(assembled: Assembled, partner: Partner): [string, string][] {
  const { signature: signatureHeader, apiKey: apiKeyHeader } = headerNamesOf(partner);
  const label = assembled.changes.map((change) => change.label).join('; ');
  const mask = (value: string, right: string | null | undefined) =>
    value === right ? '[right]' : `[${label || 'wrong'}]`;
  return assembled.prepared.headers.map(([name, value]: HeaderLine): [string, string] => {
    if (partner.signing !== undefined && sameHeaderName(name, signatureHeader))
      return [name, mask(value, assembled.rightSignature)];
    if (partner.apiKey !== undefined && sameHeaderName(name, apiKeyHeader))
      return [name, mask(value, partner.apiKey.value)];
    return [name, value];
  });
}

function describeResponse({ answer }: Attempt): Exchange['response'] {
  if (answer === null) return null;
  const headers = answer.headers.map(([name, value]): [string, string] => [name, value]);
  return { status: answer.status, headers, body: describeBytes(answer.body, answer.truncated) };
}

export function describeExchange(shipment: Shipment, partner: Partner): Exchange {
  const { assembled, attempt } = shipment;
  const { method, target, body } = assembled.prepared;
  return {
    role: shipment.role,
    label: shipment.label,
    changes: assembled.changes.map(({ stage, label }) => ({ stage, label })),
    request: { method, target, headers: maskHeaders(assembled, partner), body: describeBytes(body) },
    response: describeResponse(attempt),
    error: attempt.error === null ? null : { ...attempt.error },
    timings: { ...attempt.timings },
  };
}
