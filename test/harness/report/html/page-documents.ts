/** Documents of the whole catalogue for the HTML report. */
import { explainMistake } from '../../../../contract/mistakes/index.ts';
import type { Exchange, ResultDocument, ScenarioResult, Verdict } from '../../../../harness/report/result-document.ts';
import { CATALOGUE } from '../../../../scenarios/index.ts';
import { BASELINE, diagnosisWith, documentWith, exchangeWith, KNOWN, textBody } from '../documents.ts';

function bodyOf(id: string, gap = ''): string {
  const padding = 'f'.repeat(380);
  const data = `{"memo":"${padding}","status":"COMPLETED"}`;
  return `{"id":${gap}"7e57ca5e-${id}","type":${gap}"CAAS","at":1795290762,"data":${data}}`;
}

/** Creates the exchanges of a check: control, probe, control. */
function exchanges(answer: string): Exchange[] {
  const request = (body: string): Exchange['request'] => ({
    method: 'POST',
    target: '/hooks',
    headers: [
      ['Host', 'partner.example'],
      ['Content-Type', 'application/json'],
      ['X-Service-Signature', '[right]'],
    ],
    body: textBody(body),
  });
  const control = (label: string, id: string) =>
    exchangeWith({ role: 'control', label, changes: [], request: request(bodyOf(id)) });
  const response = {
    status: 401,
    headers: [['Content-Type', 'text/html'] as [string, string]],
    body: textBody(answer),
  };
  const probe = exchangeWith({
    changes: [{ stage: 'serialise', label: 'other bytes for the body' }],
    request: request(bodyOf('2222', ' ')),
    response,
    timings: { connectMs: 0.4, tlsMs: 3.1, firstByteMs: 8, totalMs: 8.5, reused: false },
  });
  return [control('control before', '1111'), probe, control('control after', '3333')];
}

/**
 * Creates a run of the whole catalogue. `verdictOf` returns the verdict of each check. `answer` is the body of faulty
 * answers.
 */
export function wholeRun(
  verdictOf: (id: string, at: number) => Verdict,
  parts: Partial<ResultDocument> = {},
  answer = '<p>no</p>',
): ResultDocument {
  const results = CATALOGUE.flatMap(({ name, scenarios }) => scenarios.map((scenario) => ({ name, scenario }))).map(
    ({ name, scenario }, at): ScenarioResult => {
      const { id, title, level, requirements } = scenario;
      const verdict = verdictOf(id, at);
      const isWrong = verdict === 'fail' || verdict === 'warn';
      return {
        id,
        suite: name,
        title,
        level,
        requirements: [...requirements],
        verdict,
        expected: '200',
        observed: isWrong ? '401' : '200',
        reason: isWrong ? 'rejected a correctly signed delivery with 401' : '',
        decidedBy: 'answer',
        delivery: null,
        ...explainMistake(scenario),
        known: null,
        durationMs: 3.2,
        reproduce: isWrong
          ? {
              curl: `BODY=$(mktemp)\nprintf '%s' '${bodyOf('2222', ' ')}' > "$BODY"`,
              command: `hookproof run --scenario ${id}`,
            }
          : null,
        exchanges: isWrong ? exchanges(answer) : [],
      };
    },
  );
  return documentWith({ results, ...parts });
}

/** Creates a run in which one fault explains the failures of one suite. */
export function diagnosedRun(parts: Partial<ResultDocument> = {}): ResultDocument {
  const isWrong = (id: string, at: number): boolean => id.startsWith('raw-body/') && at % 2 === 0;
  const run = wholeRun((id, at) => (isWrong(id, at) ? 'fail' : at === 0 ? 'warn' : 'pass'));
  const evidence = run.results.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);
  return {
    ...run,
    diagnosis: [diagnosisWith({ title: 'The signature is verified over re-serialised JSON', evidence })],
    notVerified: [
      { requirement: 'hmac-constant-time', text: 'Compared in constant time.', reason: 'It cannot be seen.' },
    ],
    advice: ['Take a longer secret than `secret`.'],
    ...parts,
  };
}

/**
 * Creates a run of a few checks, with every verdict and a non-empty section everywhere, for tests that are slow on a
 * large page.
 */
export function shortRun(): ResultDocument {
  const { diagnosis, notVerified, advice, results } = diagnosedRun();
  const [first, second, ...others] = results.filter(({ suite }) => suite === 'raw-body').slice(0, 7);
  if (first === undefined || second === undefined) throw new Error('the suite raw-body does not exist');
  const odd = (['warn', 'inconclusive', 'not-applicable', 'harness-error'] as const).map(
    (verdict, at): ScenarioResult => ({
      ...first,
      id: `http/odd-${at}`,
      suite: 'http',
      verdict,
      reason: `it is ${verdict}`,
    }),
  );
  return documentWith({
    advice,
    diagnosis,
    notVerified,
    strict: true,
    interrupted: true,
    planned: 99,
    shard: { index: 1, of: 2 },
    baseline: { ...BASELINE, known: [first.id], unfilled: [first.id], notJudged: ['http/x'] },
    results: [{ ...first, known: KNOWN }, second, ...others, ...odd],
  });
}
