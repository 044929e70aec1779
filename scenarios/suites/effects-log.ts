/** What the log of the receiver contains after the run. */
import {
  LOG_RUN_OVER,
  type LogFile,
  type LogFinding,
  type LogLeak,
  type Observation,
  type ObservationScenario,
  type RunObservations,
} from '../scenario.ts';

const linesText = (count: number) => `${count} ${count === 1 ? 'line' : 'lines'}`;
const sumOf = (findings: readonly LogFinding[]) => findings.reduce((sum, { lines }) => sum + lines, 0);

const inconclusive = (observed: string, reason: string): Observation => ({ verdict: 'inconclusive', observed, reason });

/** Why the absence of a value proves nothing; null when it does. An error log may stay empty next to another one. */
function unreadReason(files: readonly LogFile[]): string | null {
  const broken = files.find(({ problem }) => problem !== null);
  if (broken !== undefined) {
    const why =
      broken.problem === LOG_RUN_OVER
        ? 'it grew faster than it is searched, and the run was over: log less, or raise `--max-time`'
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

function judgeLog({ log, logFiles = [] }: RunObservations, leak: LogLeak, verdict: 'fail' | 'warn'): Observation {
  if (log === undefined) return inconclusive('no log', 'the log of the receiver was not read');
  const findings = log.filter((finding) => finding.leak === leak);
  const echoes = sumOf(findings.filter(({ isEcho }) => isEcho));
  const [first, ...more] = findings.filter(({ isEcho }) => !isEcho);
  if (first === undefined) {
    const unread = unreadReason(logFiles);
    if (unread !== null) return inconclusive('nothing', unread);
    const empty = logFiles.filter(({ bytes }) => bytes === 0).map(({ file }) => file);
    const repeats = `${linesText(echoes)} only ${echoes === 1 ? 'repeats' : 'repeat'}`;
    const notes = [
      ...(echoes === 0 ? [] : [`${repeats} what hookproof itself sent in a wrong place`]),
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

const observed = (leak: LogLeak, verdict: 'fail' | 'warn') => (run: RunObservations) => judgeLog(run, leak, verdict);

/** Logs are read by more people than secrets are meant for. */
export const effectsLog: readonly ObservationScenario[] = [
  {
    id: 'effects/log-secret',
    title: 'Does not write the signature secret to its log',
    level: 'must',
    requirements: ['hmac-secret-custody'],
    needs: ['hmac', 'log'],
    observe: observed('secret', 'fail'),
    why: 'Everyone who can read the log, its backups and its search index can forge every notification.',
    fix: 'Remove the settings from what is logged, and rotate a secret that was ever in a log.',
  },
  {
    id: 'effects/log-api-key',
    title: 'Does not write the API key to its log',
    level: 'must',
    requirements: ['hmac-secret-custody'],
    needs: ['api-key', 'log'],
    observe: observed('api-key', 'fail'),
    why: 'Loggers of requests print all headers by default, so the key is in the log of each delivery.',
    fix: 'Mask the header in the settings of the logger (`redact`), and rotate the key.',
  },
  {
    id: 'effects/log-signature',
    title: 'Does not write expected signatures to its log',
    level: 'must',
    requirements: ['hmac-secret-custody'],
    needs: ['hmac', 'log'],
    observe: observed('signature', 'fail'),
    why: 'A line such as "expected X, got Y" gives its reader the valid signature of a forged body.',
    fix: 'Log that the verification failed, without the computed value.',
  },
  {
    id: 'effects/log-sent-signature',
    title: 'Does not write the signatures of deliveries to its log',
    level: 'should',
    requirements: ['hmac-secret-custody'],
    needs: ['hmac', 'log'],
    observe: observed('sent-signature', 'warn'),
    why: 'A signature with its body is a delivery that can be sent again by everyone who reads the log.',
    fix: 'Mask the signature header in the settings of the logger, like the API key.',
  },
  {
    id: 'effects/log-private-key',
    title: 'Does not write a private key to its log',
    level: 'must',
    requirements: ['hmac-secret-custody'],
    needs: ['log'],
    observe: observed('private-key', 'fail'),
    why: 'Everyone who reads the log can then pretend to be the server.',
    fix: 'Remove TLS settings from what is logged, and replace the key and its certificate.',
  },
  {
    id: 'effects/log-bodies',
    title: 'Does not write whole notifications to its log',
    level: 'should',
    requirements: ['log-privacy'],
    needs: ['log'],
    observe: observed('body', 'warn'),
    why: 'Notifications contain wallet addresses, ids of customers and amounts, and logs are kept and shared.',
    fix: 'Log the id, the type and the status of a notification, and nothing else of it.',
  },
  {
    id: 'effects/log-personal',
    title: 'Does not write wallet addresses or ids of customers to its log',
    level: 'should',
    requirements: ['log-privacy'],
    needs: ['log'],
    observe: observed('personal', 'warn'),
    why: 'An address together with an id shows which payments a person made.',
    fix: 'Log the id of the notification, which leads to the rest in the database.',
  },
];
