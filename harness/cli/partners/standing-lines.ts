/** Formats the standing of a partner for a terminal. */
import type { RegisterRecord, Standing } from '../../register/index.ts';
import { certificateInWords, countsInWords, EVENT_SIGNS, type Layout, STATE_SIGNS } from '../../report/index.ts';

/** Formats a standing as one paragraph, and one more for each warning. */
export function standingLines(standing: Standing, layout: Layout, before?: Standing | null): string[] {
  const { partner, state, warnings } = standing;
  const was = before === undefined ? '' : before === null ? ' (new)' : ` (was ${before.state})`;
  const lead = `${layout.sign(STATE_SIGNS[state])} ${layout.safe(partner)}  ${layout.paint(state, 'bold')}${was}  `;
  return [
    ...layout.paragraph(lead, why(standing)),
    ...warnings.flatMap((text) => layout.paragraph(`  ${layout.sign('warn')} `, text)),
  ];
}

function why(standing: Standing): string {
  const { reason, since, until } = standing;
  const reasons = reason === null ? [] : [reason];
  if (until !== null) {
    return [`until ${dayOf(until)}`, ...certificateInWords(standing), ...reasons].join('; ');
  }
  return [...(since === null ? [] : [`since ${dayOf(since)}`]), ...reasons].join(': ');
}

/** Formats the standing, the certificate and the last records, newest first. */
export function historyLines(standing: Standing, layout: Layout): string[] {
  const { certificate, last } = standing;
  const field = (label: string, text: string) => layout.paragraph(`  ${layout.paint(label.padEnd(13), 'dim')}`, text);
  return [
    ...standingLines(standing, layout),
    ...(certificate === null
      ? []
      : [
          ...field('endpoint', certificate.url),
          ...field('certificate', `sha256 ${certificate.certificate}`),
          ...field('issued', `${certificate.issuedAt}, expires ${certificate.expiresAt}`),
          ...field('key id', certificate.keyId),
        ]),
    ...nextOf(standing).flatMap((text, at) => field(at === 0 ? 'next' : '', text)),
    '',
    ...last.flatMap((record) => eventLines(record, layout)),
  ];
}

const AFTER_DRIFT: Readonly<Record<NonNullable<RegisterRecord['drift']>, string>> = {
  'endpoint-key-changed':
    'Ask the partner. After a renewal with a new key, certify again, or have it renewed with the old key.',
  'not-publicly-trusted': 'Ask the partner for a certificate from a public CA, sent with its full chain.',
  'canary-failed': 'Ask the partner what was changed: the secret, or the receiver.',
};

/** Returns what the operator can do about a partner whose certificate was ended. */
function nextOf({ last, partner, state }: Standing): string[] {
  if (state !== 'failing' && state !== 'drifted' && state !== 'revoked') return [];
  const drift = state === 'drifted' ? last.find(({ event }) => event === 'drifted')?.drift : null;
  const cause = last.find(({ event }) => event === 'failed')?.cause;
  return [
    ...(drift == null ? [] : [AFTER_DRIFT[drift]]),
    ...(cause == null
      ? []
      : [`The fix: \`hookproof explain ${cause.fault}\`, and report.html in the folder of the partner.`]),
    `Afterwards: \`hookproof certify --partners FOLDER --only ${partner}\` with the usual flags.`,
  ];
}

function eventLines(record: RegisterRecord, layout: Layout): string[] {
  const { at, catalogue, event, cause, reason, suites, version } = record;
  const failed = countsInWords(suites, 'fail');
  const warned = event === 'certified' ? countsInWords(suites, 'warn') : '';
  const text = [
    ...(cause === null || event === 'certified' ? [] : [cause.title]),
    ...(warned === '' ? [] : [`with warnings: ${cause === null ? '' : `${cause.title}: `}${warned}`]),
    ...(reason === null || cause !== null ? [] : [reason.replace(/\.$/, '')]),
    ...(failed === '' ? [] : [`failed: ${failed}`]),
    ...(event === 'revoked' || event === 'override'
      ? []
      : [`hookproof ${version}, catalogue ${catalogue.slice(0, 19)}`]),
  ];
  return layout.paragraph(`  ${layout.sign(EVENT_SIGNS[event])} ${timeOf(at)}  ${event.padEnd(13)} `, text.join('; '));
}

const dayOf = (time: string) => time.slice(0, 10);
const timeOf = (time: string) => `${time.slice(0, 10)} ${time.slice(11, 16)}Z`;
