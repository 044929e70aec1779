/** Renders the answers about a run: its causes, all checks of one cause, or one check in full. */

import * as z from 'zod';
import { CHAIN_FAULTS, HookproofError, type JsonObject, type Stack } from '../../contract/index.ts';
import { codeFor, explainMistake, MISTAKES } from '../../contract/mistakes/index.ts';
import { visible } from '../../contract/visible.ts';
import { findScenario } from '../../scenarios/index.ts';
import { guessStack, loadDictionary, namedFindings } from '../diagnose/index.ts';
import type { DecidedBy } from '../judge/index.ts';
import {
  type Cause,
  causesIn,
  causesOf,
  caveats,
  changesInWords,
  closeness,
  counted,
  decisiveProbe,
  describeBytes,
  gotOf,
  headline,
  judgedLine,
  numbers,
  titleOf,
} from '../report/index.ts';
import type { Exchange, ResultDocument, ScenarioResult } from '../report/result-document.ts';
import { failsTheRun, idsStillToRepeat, withVerdict } from '../report/verdict.ts';
import { answerFields, type Contents, type Entry, MAX_ADVICE, type Marker, maybeUntrusted } from './answer.ts';
import { asCalls } from './as-calls.ts';

/** A run of this server. Its document is redacted. */
export interface PastRun {
  readonly id: string;
  readonly document: ResultDocument;
  /** The checks that `run_failed` repeats after this run: these or, if there are none, those with warnings. */
  readonly failed: readonly string[];
  readonly warned: readonly string[];
  /** For a partial run, the last full run of the endpoint, whose causes still explain checks that fail as before. */
  readonly full?: PastRun;
}

const check = z.strictObject({ id: z.string(), expected: z.string(), got: z.string() });

export const summarySchema = z.strictObject({
  run: z.string(),
  url: z.string(),
  /** Null for a partial run, because only the whole catalogue gives a verdict. */
  verdict: z.enum(['conformant', 'nonconformant', 'inconclusive', 'harness-error']).nullable(),
  headline: z.string(),
  partial: z.boolean(),
  planned: z.number(),
  counts: z.record(z.string(), z.number()),
  caveats: z.array(z.string()),
  causes: z.array(
    z.strictObject({
      cause: z.number(),
      kind: z.enum(['failure', 'warning', 'known failure', 'inconclusive', 'harness-error']),
      title: maybeUntrusted,
      /** The name for `explain`; null if no known fault explains the checks. */
      fault: z.string().nullable().optional(),
      /** The id of the mistake in the library, also for `explain`; null if none is known. */
      mistake: z.string().nullable().optional(),
      seen: maybeUntrusted.optional(),
      fix: maybeUntrusted.optional(),
      checks: z.array(check).optional(),
      moreChecks: z.number(),
    }),
  ),
  ...answerFields,
});

export const detailsSchema = z.looseObject({ run: z.string(), ...answerFields });

/**
 * Returns the ids of the checks that `run_failed` repeats after this run: its failures and warnings, what they observe,
 * and earlier ones that got no verdict in it. Warnings alone do not count.
 */
export function failedAfter(before: readonly string[], { results, strict }: ResultDocument): string[] {
  const fails = results.some(({ verdict }) => failsTheRun(verdict, strict));
  const failed = results.filter(({ verdict }) => fails && (verdict === 'fail' || verdict === 'warn'));
  return idsStillToRepeat(before, results, failed);
}

/** Returns the ids of the checks with warnings after this run, and earlier ones that got no verdict in it. */
export function warnedAfter(before: readonly string[], { results }: ResultDocument): string[] {
  return idsStillToRepeat(before, results, withVerdict(results, 'warn'));
}

/** Checks that share a cause. Groups are numbered in answers. */
interface Group extends Cause {
  readonly kind: z.infer<typeof summarySchema>['causes'][number]['kind'];
}

/** Returns the groups: first the causes, numbered as in other reports. */
function groupsOf({ document, full }: PastRun): Group[] {
  const { results } = document;
  const diagnosis = full === undefined ? document.diagnosis : carriedOver(document, full);
  const having = (verdict: string, known = false) =>
    results.filter((result) => result.verdict === verdict && (result.known !== null) === known);
  const shown = causesIn({ ...document, diagnosis });
  const causes = [...shown.causes, ...shown.warnings].map((cause): Group => {
    // A cause without failed checks, such as that nothing is listening on the port, explains why there is no verdict.
    if (cause.members.length === 0) return { ...cause, kind: 'inconclusive' };
    const fails = cause.members.some(({ verdict }) => verdict === 'fail');
    return { ...cause, kind: fails ? 'failure' : 'warning' };
  });
  const group = (kind: Group['kind'], members: readonly ScenarioResult[]) =>
    causesOf(members, []).map((cause): Group => ({ ...cause, kind }));
  return [
    ...causes,
    ...group('harness-error', having('harness-error')),
    ...group('inconclusive', having('inconclusive')),
    ...group('known failure', [...having('fail', true), ...having('warn', true)]),
  ];
}

/**
 * Returns the full run's causes of the checks that fail as before, and the run's own causes of the others. A partial
 * run has too few outcomes to name a fault as well as the full run.
 */
function carriedOver({ diagnosis, results }: ResultDocument, { document, id }: PastRun): ResultDocument['diagnosis'] {
  const before = new Map(document.results.map((result) => [result.id, result]));
  const isAsBefore = (result: ScenarioResult) => {
    const other = before.get(result.id);
    return other !== undefined && other.verdict === result.verdict && gotOf(other) === gotOf(result);
  };
  const same = new Set(results.filter(isAsBefore).map((result) => result.id));
  const kept = document.diagnosis.flatMap((one) => {
    const now = diagnosis.find(({ fault }) => fault === one.fault) ?? one;
    const evidence = [...one.evidence.filter((evidence) => same.has(evidence)), ...(now === one ? [] : now.evidence)];
    return evidence.length === 0 ? [] : [{ ...now, title: `${now.title}, as in run ${id}`, evidence }];
  });
  const explained = new Set(kept.flatMap(({ evidence }) => evidence));
  const others = diagnosis
    .filter(({ fault }) => kept.every((one) => one.fault !== fault))
    .filter(({ evidence }) => evidence.length === 0 || evidence.some((id) => !explained.has(id)));
  return [...kept, ...others];
}

/** Maximum number of checks of a cause that the summary lists. */
const MAX_CHECKS = 5;

/** Renders verdict, counts and causes; `more` are additional caveats. */
export async function summaryOf(past: PastRun, marker: Marker, more: readonly string[] = []): Promise<Contents> {
  const { id, document, failed, warned } = past;
  const groups = groupsOf(past);
  const own = await createOwnTexts(document, marker);
  const { counts, planned, requests, target } = document;
  const at = groups.findIndex(({ members }) => members.length > 0);
  const first = groups[at]?.members[0]?.id;
  const partial = document.partial;
  const url = shortened(target.url);
  const notes = [...more, ...caveats(document)].map(shortened);
  return {
    head: [
      `${headline(document)}: ${url}`,
      `run ${id}: ${numbers(document)}; ${judgedLine(document)}, ${counted(requests, 'request')}`,
      ...notes,
    ],
    data: {
      run: id,
      url,
      verdict: partial ? null : document.verdict,
      headline: headline(document),
      partial,
      planned,
      counts: { ...counts },
      caveats: notes,
    },
    list: 'causes',
    entries: groups.map((group, at) => (at === 0 ? causeEntry : namedCause)(group, at + 1, own)),
    again: `details with run "${id}" and`,
    tail: [
      ...(first === undefined
        ? []
        : [`More: details with run "${id}" and a check ("${first}") or a cause (${at + 1}).`]),
      ...(groups.some(({ kind }) => kind === 'inconclusive') ? ['`doctor` examines the connection.'] : []),
      ...(failed.length === 0 ? [] : [`After a fix: run_failed repeats ${counted(failed.length, 'check')}.`]),
      ...(failed.length > 0 || warned.length === 0
        ? []
        : [`No check failed: run_failed repeats ${counted(warned.length, 'check')}, those with warnings.`]),
    ],
  };
}

function causeEntry(group: Group, number: number, own: OwnTexts): Entry {
  const { diagnosis, kind, members } = group;
  const title = titleIn(group, own);
  const fix = fixOf(group, own);
  const seen = seenIn(group, own);
  const shown = members.slice(0, MAX_CHECKS).map(checkFields);
  const more = members.length - shown.length;
  const fault = diagnosis?.fault ?? null;
  return {
    name: `cause ${number}`,
    text: [
      `${number}. ${kind}: ${asText(title)}${diagnosis === null ? '' : ` (${closeness(diagnosis)})`}`,
      ...(diagnosis === null || diagnosis.why === ''
        ? []
        : [`   why: ${asText(own.of(diagnosis.fault, diagnosis.why))}`]),
      ...(seen === '' ? [] : [`   seen: ${asText(seen)}`]),
      ...(fix === '' ? [] : [`   fix: ${asText(fix)}`]),
      ...shown.map((one) => `   ${one.id}: expected ${one.expected}, got ${one.got}`),
      ...(more === 0 ? [] : [`   and ${more} more: details with cause ${number}`]),
    ].join('\n'),
    data: {
      cause: number,
      kind,
      title: asData(title),
      fault,
      mistake: diagnosis?.mistake ?? null,
      ...(seen !== '' && { seen: asData(seen) }),
      ...(fix !== '' && { fix: asData(fix) }),
      checks: shown,
      moreChecks: more,
    },
  };
}

/** Renders a cause after the first: only its title, so that all causes fit in one answer. */
function namedCause(group: Group, number: number, own: OwnTexts): Entry {
  const { diagnosis, kind, members } = group;
  const title = titleIn(group, own);
  const mistake = diagnosis?.mistake;
  const seen = isWithoutVerdict(group) ? seenIn(group, own) : '';
  const count = seen === '' ? ` (${counted(members.length, 'check')})` : `: ${asText(seen)}`;
  return {
    name: `cause ${number}`,
    text: `${number}. ${kind}: ${asText(title)}${count}`,
    data: {
      ...{ cause: number, kind, title: asData(title), ...(mistake && { mistake }) },
      ...(seen !== '' && { seen: asData(seen) }),
      moreChecks: members.length,
    },
  };
}

function isWithoutVerdict({ kind }: Group): boolean {
  return kind === 'inconclusive' || kind === 'harness-error';
}

/** Whether the title of a group says what was observed, as that of several checks does. */
function saysWhatWasSeen(group: Group): boolean {
  return group.diagnosis === null && group.members.length > 1 && !isWithoutVerdict(group);
}

function titleIn(group: Group, own: OwnTexts): Text {
  const { diagnosis, kind, members } = group;
  const [first] = members;
  if (diagnosis !== null) return own.of(diagnosis.fault, diagnosis.title);
  if (first === undefined) return kind;
  if (isWithoutVerdict(group)) return `${counted(members.length, 'check')} without a verdict`;
  return saysWhatWasSeen(group) ? own.reasonOf(first, titleOf(group)) : titleOf(group);
}

/** Returns what was observed, unless the title or a diagnosis says it. */
function seenIn(group: Group, own: OwnTexts): Text {
  const [first] = group.members;
  if (group.diagnosis !== null || first === undefined || saysWhatWasSeen(group)) return '';
  return own.reasonOf(first, first.cause ?? (first.reason || first.observed));
}

function fixOf(group: Group, own: OwnTexts): Text {
  const { diagnosis, members } = group;
  const [first] = members;
  if (diagnosis !== null) return own.of(diagnosis.fault, diagnosis.fix);
  return first === undefined || isWithoutVerdict(group) ? '' : own.fixOf(first);
}

function checkFields(result: ScenarioResult) {
  return { id: result.id, expected: result.expected, got: gotOf(result) };
}

/** Returns the error of `run_failed` after a run without a verdict: why it had none, and what to do. Otherwise null. */
export async function withoutVerdict(past: PastRun, marker: Marker): Promise<HookproofError | null> {
  const { document, id } = past;
  const [first] = groupsOf(past).filter((group) => isWithoutVerdict(group) || group.kind === 'failure');
  if (first === undefined || (document.verdict !== 'inconclusive' && document.verdict !== 'harness-error')) return null;
  const own = await createOwnTexts(document, marker);
  const why = [titleIn(first, own), seenIn(first, own)].filter((text) => text !== '').map(asText);
  const fix = asText(fixOf(first, own));
  return new HookproofError(
    'MCP_NO_VERDICT',
    `run ${id} of ${shortened(document.target.url)} had no verdict, so no failed checks are known: ${why.join(': ')}`,
    { hint: `${fix === '' ? '' : `${fix} `}\`doctor\` examines the connection. Then call \`run\` again.` },
  );
}

/** Renders one cause: the reason, the fix and all its checks. */
export async function causeOf(past: PastRun, number: number, marker: Marker): Promise<Contents> {
  const { id } = past;
  const groups = groupsOf(past);
  const group = groups[number - 1];
  if (group === undefined) {
    throw new HookproofError('MCP_UNKNOWN_CAUSE', `run ${id} has no cause ${number}, only ${groups.length}`, {
      hint: '`details` without `cause` lists them.',
    });
  }
  const { diagnosis, kind, members } = group;
  const own = await createOwnTexts(past.document, marker);
  const of = (text: string) => (diagnosis === null ? text : own.of(diagnosis.fault, text));
  const facts: Readonly<Record<string, Text>> = {
    title: titleIn(group, own),
    seen: seenIn(group, own),
    why: of(diagnosis?.why ?? ''),
    fix: fixOf(group, own),
  };
  const filled = Object.entries(facts).filter(([, text]) => text !== '');
  return {
    head: [
      `Cause ${number} of run ${id}, ${kind}: ${counted(members.length, 'check')}`,
      ...filled.map(([label, text]) => `${label}: ${asText(text)}`),
    ],
    data: {
      ...{ run: id, cause: number, kind, count: members.length },
      ...Object.fromEntries(filled.map(([label, text]) => [label, asData(text)])),
    },
    list: 'checks',
    entries: members.flatMap((member) => [checkEntry(member), ...suspectEntries(member, members, own)]),
  };
}

function checkEntry(member: ScenarioResult): Entry {
  const fields = checkFields(member);
  return { name: member.id, text: `${fields.id}: expected ${fields.expected}, got ${fields.got}`, data: fields };
}

const MAX_SUSPECTS = 20;

/** For a check of the whole run: what it observed, and which deliveries may have caused it, unless they failed, too. */
function suspectEntries(
  { id, observed, repeats = [] }: ScenarioResult,
  members: readonly ScenarioResult[],
  own: OwnTexts,
) {
  const suspects = repeats.filter((one) => members.every((other) => other.id !== one));
  if (suspects.length === 0) return [];
  const seen = own.sent(observed);
  const entries: Entry[] = [
    { name: `${id}, observed`, text: `   observed: ${asText(seen)}`, data: { id, observed: asData(seen) } },
  ];
  for (let at = 0; at < suspects.length; at += MAX_SUSPECTS) {
    const some = suspects.slice(at, at + MAX_SUSPECTS);
    entries.push({
      name: `${id}, suspects`,
      text: `   suspects: ${some.join(', ')}`,
      data: { id, suspects: some },
    });
  }
  return entries;
}

/** Renders one check: verdict, exchanges, and how to repeat it. Bodies are cut at `maxBody`. */
export async function checkOf({ id, document }: PastRun, wanted: string, marker: Marker, maxBody: number) {
  const result = document.results.find((one) => one.id === wanted);
  if (result === undefined) {
    const known = findScenario(wanted) === undefined ? 'there is no such check' : 'it was not part of this run';
    throw new HookproofError('MCP_UNKNOWN_CHECK', `run ${id} has no result of "${wanted}": ${known}`, {
      hint: '`details` without `check` lists the failed ones; `list` lists all.',
    });
  }
  const own = await createOwnTexts(document, marker);
  const { exchanges, reproduce } = result;
  const decisive = decisiveProbe(result);
  const sorted = [...exchanges].sort((one, other) => rank(one, decisive) - rank(other, decisive));
  // The boundary turns the command into a call.
  const again = reproduce === null ? '' : `\`${visible(reproduce.command)}\``;
  const curl = reproduce?.curl ?? null;
  const { verdict, level, expected, observed, reason, why, requirements } = result;
  const fix = own.fixOf(result);
  // A reason may list the ids of many checks: it is cut only if it fills more than half of the answer.
  const isRepeated = reason.includes(observed.replace(/^[^:]*: /, ''));
  const seen = own.sent(reason === '' ? observed : isRepeated ? reason : `${observed}; ${reason}`, 2 * maxBody);
  const facts: readonly (readonly [string, Text])[] = [
    ['expected', expected],
    ['observed', seen],
    ['why', why],
    ['fix', fix],
    ['requirements', requirements.join(', ')],
    ['again', again],
  ];
  const filled = facts.filter(([, text]) => text !== '');
  const contents: Contents = {
    head: [`${result.id}: ${verdict} (${level}), run ${id}: ${result.defect ?? result.title}`],
    data: { run: id, check: result.id, verdict, level, title: result.defect ?? result.title },
    list: 'parts',
    // The exchanges come first, so that the decisive one is on the first page.
    entries: [
      ...sorted.slice(0, 1).map((one) => exchangeEntry(result, one, marker, maxBody)),
      {
        name: 'the facts',
        text: filled.map(([label, text]) => `${label}: ${asText(text)}`).join('\n'),
        data: { part: 'facts', ...Object.fromEntries(filled.map(([label, text]) => [label, asData(text)])) },
      },
      ...(curl === null ? [] : [curlEntry(curl)]),
      ...sorted.slice(1).map((one) => exchangeEntry(result, one, marker, maxBody)),
    ],
    ...(exchanges.length === 0 && {
      tail: ['No exchanges were kept: passed checks keep none, and some checks send no delivery.'],
    }),
  };
  return contents;
}

/** Orders exchanges: the decisive probe first, then the other probes, then the controls. */
function rank(exchange: Exchange, decisive: Exchange | undefined): number {
  if (exchange === decisive) return 0;
  return exchange.role === 'probe' ? 1 : 2;
}

function exchangeEntry(result: ScenarioResult, exchange: Exchange, marker: Marker, maxBody: number): Entry {
  const { error, label, request, response, role, timings } = exchange;
  const line = `${request.method} ${visible(request.target)}`;
  const headers = request.headers.map(([name, value]) => visible(`${name}: ${value}`));
  const body = describeBytes(request.body, maxBody);
  const maxAnswer = Math.floor(maxBody / 2);
  const changed = visible(changesInWords(result, exchange).join('; ')) || 'nothing';
  const failure = error === null ? '' : `${error.message} (${error.code})`;
  const answer = response && {
    status: response.status,
    headers: response.headers.map(([name, value]) => `${name}: ${value}`).join('\n'),
    body: describeBytes(response.body, maxAnswer),
  };
  return {
    isVerbatim: true,
    name: `exchange "${visible(label)}"`,
    text: [
      `--- ${role} "${visible(label)}", changed: ${changed}; ${Math.round(timings.totalMs)} ms`,
      line,
      ...headers,
      body,
      ...(answer === null
        ? []
        : [`answer ${answer.status}: ${marker.text(answer.headers, maxAnswer)}`, marker.text(answer.body, maxBody)]),
      ...(error === null ? [] : [`no answer: ${error.phase === 'connect' ? failure : marker.text(failure)}`]),
    ].join('\n'),
    data: {
      part: role,
      label: visible(label),
      changed,
      request: { line, headers, body },
      ...(answer !== null && {
        response: {
          status: answer.status,
          headers: marker.data(answer.headers, maxAnswer),
          body: marker.data(answer.body, maxBody),
        },
      }),
      ...(error !== null && { error: error.phase === 'connect' ? failure : marker.data(failure) }),
    },
  };
}

/** Renders the curl script, which takes secrets from the environment. */
function curlEntry(curl: string): Entry {
  const script = curl.trimEnd().split('\n').map(visible).join('\n');
  return { isVerbatim: true, name: 'the curl script', text: `--- curl\n${script}`, data: { part: 'curl', script } };
}

const MAX_OWN = 200;

function shortened(text: string): string {
  const shown = visible(text);
  return shown.length > MAX_OWN ? `${shown.slice(0, MAX_OWN)}…` : shown;
}

/** The decisions whose reason contains only hookproof's own words. */
const IN_OWN_WORDS: ReadonlySet<string> = new Set<DecidedBy>([
  ...(['discouraged-answer', 'wrong-status', 'other-2xx', 'redirect', 'crash', 'forgery-accepted'] as const),
  ...(['valid-rejected', 'connection-closed', 'no-answer', 'statuses-alike'] as const),
]);

/** Text from hookproof; or text that may quote the endpoint, marked for text and for structured content. */
type Text = string | { readonly text: string; readonly data: JsonObject };
const asText = (text: Text) => (typeof text === 'string' ? text : text.text);
const asData = (text: Text) => (typeof text === 'string' ? text : text.data);

interface OwnTexts {
  /** Marks the text of a finding if it may quote the endpoint: its certificates, or its answer. */
  of(fault: string, text: string): Text;
  fixOf(result: ScenarioResult): Text;
  /** Marks the reason for a verdict, or a text that contains it, unless it consists of hookproof's own words. */
  reasonOf(result: ScenarioResult, text: string): Text;
  /** Marks a text that may quote the endpoint, unless the endpoint never answered. */
  sent(text: string, maxCharacters?: number): Text;
}

/** Findings that quote an answer. */
const QUOTING: ReadonlySet<string> = new Set(['answers-by-timeout', 'rate-limits', 'finds-no-signature']);
/** Findings that may quote a certificate if the endpoint uses TLS. */
const QUOTING_CERTIFICATES: ReadonlySet<string> = new Set([
  ...Object.keys(CHAIN_FAULTS).map((code) => `certificate-${code}`),
  ...['valid-deliveries-stay-refused', 'valid-deliveries-refused-for-a-while'],
]);

async function createOwnTexts(document: ResultDocument, marker: Marker): Promise<OwnTexts> {
  const { target } = document;
  const silent = wasNeverReached(document);
  const stack = document.diagnosis.find((one) => one.stack !== null)?.stack ?? guessStack(document.results);
  const names = new Set([
    ...(await loadDictionary()).faults.map(({ name }) => name),
    ...namedFindings().map(({ fault }) => fault),
  ]);
  const isOwn = (fault: string) =>
    !QUOTING.has(fault) && (target.tls === null || (names.has(fault) && !QUOTING_CERTIFICATES.has(fault)));
  const sent = (text: string, max?: number): Text =>
    text === '' || silent
      ? visible(text)
      : { text: marker.text(asCalls(text), max), data: marker.data(asCalls(text), max) };
  return {
    sent,
    of: (fault, text) => (isOwn(fault) ? text : sent(text, MAX_ADVICE)),
    reasonOf: ({ decidedBy, reason }, text) => (reason !== '' && IN_OWN_WORDS.has(decidedBy) ? text : sent(text)),
    fixOf: ({ id, fix }) => {
      const known = findScenario(id);
      if (known === undefined || explainMistake(known).fix !== fix) return sent(fix, MAX_ADVICE);
      const code = stack === null ? undefined : codeFor(MISTAKES[known.mistake].fix, stack.name as Stack);
      return code === undefined ? fix : `${fix} For ${stack?.name}: ${code}`;
    },
  };
}

/** Whether no connection was established on which the endpoint could have sent anything. */
function wasNeverReached({ counts, results, target }: ResultDocument): boolean {
  if (target.tls !== null || counts.pass + counts.fail + counts.warn > 0) return false;
  const attempts = results.flatMap(({ exchanges }) => exchanges);
  const failed = attempts.every(({ error, response }) => response === null && error?.phase === 'connect');
  return attempts.length > 0 && failed;
}
