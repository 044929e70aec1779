/** Valid, complete result documents for tests. The caller can override each part. */
import { Writable } from 'node:stream';
import type {
  Bytes,
  Diagnosis,
  Exchange,
  ResultDocument,
  ScenarioResult,
  Verdict,
} from '../../../harness/report/result-document.ts';

export function textBody(text: string): Bytes {
  return { length: Buffer.byteLength(text), text, base64: null, truncated: false };
}

/** Creates a probe that was answered. */
export function exchangeWith(parts: Partial<Exchange> = {}): Exchange {
  return {
    role: 'probe',
    label: 'probe',
    changes: [{ stage: 'sign', label: 'no signature header' }],
    request: {
      method: 'POST',
      target: '/hooks',
      headers: [['Content-Type', 'application/json']],
      body: textBody('{"id":"1"}'),
    },
    response: { status: 200, headers: [['Content-Type', 'text/plain']], body: textBody('ok') },
    error: null,
    timings: { connectMs: 0.4, tlsMs: null, firstByteMs: 2, totalMs: 2.5, reused: false },
    ...parts,
  };
}

/** Creates a result. By default, `signature/missing` has passed. */
export function resultWith(parts: Partial<ScenarioResult> = {}): ScenarioResult {
  const id = parts.id ?? 'signature/missing';
  const [status] = /^\d{3}/.exec(parts.observed ?? '401') ?? ['seen'];
  return {
    id,
    suite: id.split('/')[0] ?? 'signature',
    title: 'Rejects a delivery without a signature',
    level: 'must',
    requirements: ['hmac-missing'],
    verdict: 'pass',
    expected: '401',
    observed: '401',
    reason: '',
    decidedBy: 'answer',
    delivery: null,
    outcome: status,
    why: 'Anyone who knows the URL could send notifications.',
    fix: 'Treat a missing header like an invalid one: answer 401.',
    known: null,
    durationMs: 12.5,
    reproduce: { curl: null, command: `hookproof run --scenario ${id}` },
    exchanges: [],
    ...parts,
  };
}

export function diagnosisWith(parts: Partial<Diagnosis> = {}): Diagnosis {
  return {
    relation: 'main',
    fault: 'missing-signature-accepted',
    title: 'A missing signature is accepted',
    mistake: 'absent-signature-passes',
    agreement: 1,
    outcomes: 1,
    evidence: ['signature/missing'],
    alike: [],
    seen: 'Middlewares that look only at headers that are there.',
    why: 'A sender that omits the header is accepted.',
    fix: 'Treat a missing header like an invalid one.',
    stack: null,
    ...parts,
  };
}

const COUNT_OF: Readonly<Record<Verdict, keyof ResultDocument['counts']>> = {
  pass: 'pass',
  fail: 'fail',
  warn: 'warn',
  inconclusive: 'inconclusive',
  'not-applicable': 'notApplicable',
  'harness-error': 'harnessError',
};

/** Creates a document. By default, the counts, `planned`, `judged` and the verdict follow from the results. */
export function documentWith(parts: Partial<ResultDocument> = {}): ResultDocument {
  const results = parts.results ?? [resultWith()];
  const counts = { pass: 0, fail: 0, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 };
  for (const result of results) counts[COUNT_OF[result.verdict]] += 1;
  const worst = counts.fail > 0 ? 'nonconformant' : counts.inconclusive > 0 ? 'inconclusive' : 'conformant';
  return {
    schemaVersion: 1,
    tool: { name: 'hookproof', version: '0.1.0' },
    catalogue: { digest: 'sha256:0123456789abcdef', scenarios: results.length },
    target: { url: 'http://127.0.0.1:8080/hooks', features: ['hmac', 'api-key'], tls: null },
    profile: null,
    seed: '7f3a',
    shard: null,
    startedAt: '2026-11-21T10:00:00.000Z',
    durationMs: 840,
    verdict: counts.harnessError > 0 ? 'harness-error' : worst,
    partial: parts.partial ?? (parts.interrupted === true || parts.shard != null),
    strict: false,
    interrupted: false,
    planned: results.length,
    judged: results.length,
    requests: results.length * 2 + 1,
    counts,
    advice: [],
    diagnosis: [],
    baseline: null,
    notVerified: [],
    results,
    ...parts,
  };
}

export const KNOWN = { reason: 'The gateway.', owner: 'payments', expires: '2099-12-31' };

/** A baseline with one stale entry. */
export const BASELINE: NonNullable<ResultDocument['baseline']> = {
  file: 'known.yaml',
  entries: 2,
  known: ['signature/missing'],
  stale: [{ scenario: 'raw-body/tabs', problem: 'passes', message: 'raw-body/tabs passes now.' }],
  unfilled: [],
  notJudged: [],
};

/** Creates a baseline whose entries all pass now. */
export function staleWith(count: number): typeof BASELINE {
  const ids = Array.from({ length: count }, (_, at) => `raw-body/${at}`);
  const stale = ids.map((scenario) => ({ scenario, problem: 'passes' as const, message: `${scenario} passes now.` }));
  return { ...BASELINE, entries: count, known: [], stale };
}

/** Creates a document with this text wherever the endpoint or the author of a document can choose the text. */
export function documentOf(text: string): ResultDocument {
  const body = textBody(text);
  const headers: [string, string][] = [[text, text]];
  const exchange = exchangeWith({
    label: text,
    request: { method: text, target: text, headers, body },
    response: { status: 200, headers, body },
  });
  const verdicts = ['fail', 'warn', 'inconclusive', 'harness-error', 'not-applicable', 'pass', 'fail'] as const;
  const results = verdicts.map((verdict, at) =>
    resultWith({
      id: `signature/${at}${text}`,
      verdict,
      suite: text,
      title: text,
      requirements: [text],
      expected: text,
      observed: text,
      reason: text,
      why: text,
      fix: text,
      known: at === 6 ? { reason: text, owner: text, expires: text } : null,
      reproduce: { curl: text, command: text },
      exchanges: [exchangeWith({ role: 'control', label: text, changes: [] }), exchange],
    }),
  );
  const tls = {
    protocol: text,
    cipher: text,
    versions: [text],
    trustedBy: text,
    clientCertificateRequested: true,
    requestedCas: [],
    chain: [],
  };
  return documentWith({
    results,
    seed: text,
    evidence: { level: 1, statement: text },
    advice: [text],
    target: { url: text, features: [], tls },
    notVerified: [{ requirement: text, text, reason: text }],
    diagnosis: [diagnosisWith({ title: text, why: text, fix: text, seen: text, fault: text, evidence: [text] })],
    baseline: { ...BASELINE, file: text, known: [], stale: [{ scenario: text, problem: 'expired', message: text }] },
  });
}

/** Creates a stream that records what is written to it. */
export function textStream(): { readonly stdout: Writable; text(): string; clear(): void } {
  let written = '';
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  });
  return {
    stdout,
    text: () => written,
    clear: () => {
      written = '';
    },
  };
}
