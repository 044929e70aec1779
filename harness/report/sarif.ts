/**
 * Renders the document as SARIF 2.1.0 for code scanning. A rule is a mistake from the library with its CWE; a result is
 * a cause with its checks. A sender cannot see the code, so the location of every result is the file that the user
 * names (`code`). GitHub shows only results with a location.
 */
import { createHash } from 'node:crypto';
import { MISTAKES } from '../../contract/mistakes/index.ts';
import { visible } from '../../contract/visible.ts';
import { EVERY_SUITE } from '../../scenarios/index.ts';
import { type Cause, causesOf, titleOf, withFindings } from './causes.ts';
import { visibleJson } from './json.ts';
import type { ResultDocument } from './result-document.ts';
import { exitCodeOf, failsTheRun, isScored } from './verdict.ts';

/** GitHub derives the severity of alerts from this number: from 9.0 critical, from 7.0 high, from 4.0 medium. */
const SECURITY_SEVERITY = { critical: '9.5', high: '8.0', medium: '5.5', low: '2.5' } as const;

/** Maximum number of checks named in a message; the others are counted. */
const MAX_NAMED = 10;

const MISTAKE_OF: ReadonlyMap<string, string> = new Map(
  EVERY_SUITE.flatMap(({ scenarios }) => scenarios.map(({ id, mistake }) => [id, mistake] as const)),
);

/** Returns the rule's id: the mistake, or the first check if no mistake in the library explains the results. */
function ruleIdOf({ diagnosis, members: [first] }: Cause): string {
  const id = diagnosis?.mistake ?? (first === undefined ? undefined : MISTAKE_OF.get(first.id));
  return id ?? first?.id ?? diagnosis?.fault ?? 'not-known';
}

function ruleOf(id: string, cause: Cause) {
  const mistake = Object.hasOwn(MISTAKES, id) ? MISTAKES[id as keyof typeof MISTAKES] : undefined;
  const { fix = '', why = '' } = cause.diagnosis ?? cause.members[0] ?? {};
  const title = mistake?.title ?? titleOf(cause);
  const help = mistake?.fix.rule ?? fix;
  const security = mistake && {
    'security-severity': SECURITY_SEVERITY[mistake.severity],
    tags: ['security', 'webhook', `external/cwe/cwe-${String(mistake.cwe).padStart(3, '0')}`],
  };
  return {
    id,
    shortDescription: { text: `${visible(title)}.` },
    fullDescription: { text: visible(mistake?.why ?? why) || `${visible(title)}.` },
    help: { text: visible(help) || `\`hookproof explain ${id}\` says more.` },
    properties: security ?? { tags: ['webhook'] },
  };
}

function resultOf(cause: Cause, ruleIndex: number, ruleId: string, document: ResultDocument) {
  const { diagnosis, members } = cause;
  const { baseline, code, target, strict } = document;
  const known = members.flatMap((member) => member.known ?? []);
  const deciding = members.filter(({ verdict }) => failsTheRun(verdict, strict));
  // Warnings that the baseline does not contain fail nothing, so they do not keep the alert open.
  const isKnown = (deciding.length > 0 ? deciding : members).every((member) => member.known !== null);
  const reasons = known.map(({ expires, owner, reason }) => `${reason} (owner: ${owner}, until ${expires})`);
  const named = members.slice(0, MAX_NAMED).map(({ id, observed }) => `${id} (${observed || 'no answer'})`);
  const more = members.length > MAX_NAMED ? [`${members.length - MAX_NAMED} more`] : [];
  const text = [
    `${titleOf(cause)}.`,
    ...(members.length === 0 ? [] : [`Shown by: ${[...named, ...more].join(', ')}.`]),
    ...(known.length === 0 ? [] : [`${known.length} known in ${baseline?.file ?? 'the baseline'}.`]),
    ...(diagnosis?.fix ? [`Fix: ${diagnosis.fix}`] : members[0]?.fix ? [`Fix: ${members[0].fix}`] : []),
    `Repeat it: ${members[0]?.reproduce?.command ?? `hookproof explain ${ruleId}`}`,
  ].join('\n');
  const fingerprint = createHash('sha256').update(`${ruleId}\n${target.url}`).digest('hex');
  return {
    ruleId,
    ruleIndex,
    level: deciding.some((member) => member.known === null) || members.length === 0 ? 'error' : 'warning',
    message: { text: text.split('\n').map(visible).join('\n') },
    ...(code !== undefined && {
      locations: [{ physicalLocation: { artifactLocation: { uri: encodeURI(code) }, region: { startLine: 1 } } }],
    }),
    partialFingerprints: { 'hookproofMistake/v1': fingerprint },
    ...(known.length > 0 &&
      isKnown && {
        suppressions: [...new Set(reasons)].map((one) => ({ kind: 'external', justification: visible(one) })),
      }),
    properties: { checks: members.map(({ id, verdict }) => ({ id, verdict })), endpoint: visible(target.url) },
  };
}

/** Renders SARIF as JSON, ending with a newline. */
export function renderSarif(document: ResultDocument): string {
  const { diagnosis, durationMs, profile, results, startedAt, tool } = document;
  const shown = results.filter(
    (result) => isScored(document, result) && (result.verdict === 'fail' || result.verdict === 'warn'),
  );
  const causes = withFindings(causesOf(shown, diagnosis), diagnosis).map((cause) => ({ cause, id: ruleIdOf(cause) }));
  const rules = [...new Map(causes.map(({ cause, id }) => [id, ruleOf(id, cause)])).values()];
  const indexOf = (id: string) => rules.findIndex((rule) => rule.id === id);
  const log = {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: tool.name, version: visible(tool.version), rules } },
        automationDetails: { id: `hookproof/${profile ?? 'run'}/` },
        invocations: [
          {
            executionSuccessful: exitCodeOf(document) < 3,
            startTimeUtc: startedAt,
            endTimeUtc: new Date(Date.parse(startedAt) + durationMs).toISOString(),
          },
        ],
        results: causes.map(({ cause, id }) => resultOf(cause, indexOf(id), id, document)),
      },
    ],
  };
  return `${visibleJson(log, 2)}\n`;
}
