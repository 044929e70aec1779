/** Checks what the log of the receiver contains after the run. */
import {
  LOG_RUN_OVER,
  type LogFile,
  type LogFinding,
  type LogLeak,
  type Observation,
  type ObservationScenario,
  type RunObservations,
} from '../scenario.ts';
import { family } from './family.ts';

const linesText = (count: number) => `${count} ${count === 1 ? 'line' : 'lines'}`;
const sumOf = (findings: readonly LogFinding[]) => findings.reduce((sum, { lines }) => sum + lines, 0);

const inconclusive = (observed: string, reason: string): Observation => ({ verdict: 'inconclusive', observed, reason });

/**
 * Explains why the absence of a value in the log is not evidence. Null if it is. An error log may stay empty if there
 * is another log.
 */
function unreadReason(files: readonly LogFile[]): string | null {
  const broken = files.find(({ problem }) => problem !== null);
  if (broken !== undefined) {
    const why =
      broken.problem === LOG_RUN_OVER
        ? 'it grew faster than it could be searched during the run: log less, or raise `--max-time`'
        : `check its permissions (${broken.problem})`;
    return `\`--log ${broken.file}\`: could not be read to its end: ${why}`;
  }
  const missing = files.find(({ isMissing }) => isMissing);
  if (missing !== undefined) {
    return `\`--log ${missing.file}\`: there was no such file during the run: check the path`;
  }
  const [empty] = files;
  if (empty === undefined || files.some(({ bytes }) => bytes > 0)) return null;
  const names = files.map(({ file }) => `\`--log ${file}\``).join(', ');
  return (
    `${names}: nothing was written during the run, expected at least one line: check that this receiver writes ` +
    'there, and without a buffer (`PYTHONUNBUFFERED=1` for Python). A receiver that logs nothing can log the id and ' +
    'the status of each delivery'
  );
}

const NOTHING_SOUGHT: Observation = {
  verdict: 'not-applicable',
  observed: '',
  reason: 'the run had no such value to search the log for, or only one that is too short',
};

function judgeLog(
  { log, logFiles = [], logSought }: RunObservations,
  leak: LogLeak,
  verdict: 'fail' | 'warn',
): Observation {
  if (log === undefined) return inconclusive('no log', 'the log of the receiver was not read');
  const findings = log.filter((finding) => finding.leak === leak);
  const echoes = sumOf(findings.filter(({ isEcho }) => isEcho));
  const [first, ...more] = findings.filter(({ isEcho }) => !isEcho);
  if (first === undefined) {
    const unread = unreadReason(logFiles);
    if (unread !== null) return inconclusive('nothing', unread);
    if (logSought?.has(leak) === false) return NOTHING_SOUGHT;
    const empty = logFiles.filter(({ bytes }) => bytes === 0).map(({ file }) => file);
    const repeats = `${linesText(echoes)} only ${echoes === 1 ? 'repeats' : 'repeat'}`;
    const notes = [
      ...(echoes === 0 ? [] : [`${repeats} what hookproof itself sent in the wrong place`]),
      ...(empty.length === 0 ? [] : [`nothing was written to ${empty.join(', ')} during the run`]),
    ];
    return { verdict: 'pass', observed: 'none in the log', reason: notes.join('; ') };
  }
  const count = linesText(sumOf([first, ...more]));
  const place = `${first.file}, line ${first.first.line} of the run: ${first.first.text}`;
  return {
    verdict,
    observed: `in ${count} of the log`,
    reason: `in ${count} of the log; the first is ${place}`,
    outcome: leak,
  };
}

const observed = (leak: LogLeak, verdict: 'fail' | 'warn' = 'fail') => ({
  observe: (run: RunObservations) => judgeLog(run, leak, verdict),
});

const log = { suite: 'effects', verb: 'Does not write' } as const;

/** What the receiver writes to its log. More people read logs than should know the secrets. */
export const effectsLog = [
  ...family(
    { ...log, level: 'must', requirements: ['hmac-secret-custody'], needs: ['hmac', 'log'], mistake: 'secret-in-log' },
    {
      'log-secret': ['the signature secret to its log', observed('secret')],
      'log-secret-part': [
        'a part of the signature secret to its log',
        observed('secret-part', 'warn'),
        {
          level: 'should',
          note: 'At least eight characters, but less than half of the secret. They shorten a search for the rest.',
        },
      ],
      'log-api-key': [
        'the API key to its log',
        observed('api-key'),
        'request-headers-in-log',
        { needs: ['api-key', 'log'] },
      ],
      'log-api-key-part': [
        'a part of the API key to its log',
        observed('api-key-part', 'warn'),
        { level: 'should', needs: ['api-key', 'log'], note: 'A name or a digest identifies the key just as well.' },
      ],
      'log-signature': [
        'expected signatures to its log',
        observed('signature'),
        { note: '"Expected X, got Y" gives its reader the valid signature of a forged body.' },
      ],
      'log-sent-signature': [
        'the signatures of deliveries to its log',
        observed('sent-signature', 'warn'),
        'request-headers-in-log',
        {
          level: 'should',
          note: 'A signature with its body is a delivery that a reader of the log can send again.',
        },
      ],
      'log-private-key': [
        'a private key to its log',
        observed('private-key'),
        { needs: ['log'], note: 'A reader of the log can pretend to be the server.' },
      ],
    },
  ),
  ...family(
    { ...log, level: 'should', requirements: ['log-privacy'], needs: ['log'], mistake: 'personal-data-in-log' },
    {
      'log-bodies': ['whole notifications to its log', observed('body', 'warn')],
      'log-personal': ['wallet addresses or ids of customers to its log', observed('personal', 'warn')],
    },
  ),
] as readonly ObservationScenario[];
