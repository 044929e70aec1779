/** Formats the standing of a partner for a terminal. */
import type { RegisterRecord, Standing } from '../../register/index.ts';
import { certificateInWords, EVENT_SIGNS, type Layout, STATE_SIGNS } from '../../report/index.ts';

/** Formats a standing as one paragraph, and one more for each warning. */
export function standingLines(standing: Standing, layout: Layout, before?: Standing | null): string[] {
  const { partner, state, warnings } = standing;
  const was = before === undefined ? '' : ` (was ${before?.state ?? 'unknown'})`;
  const lead = `${layout.sign(STATE_SIGNS[state])} ${layout.safe(partner)}  ${layout.paint(state, 'bold')}${was}  `;
  return [
    ...layout.paragraph(lead, why(standing)),
    ...warnings.flatMap((text) => layout.paragraph(`  ${layout.sign('warn')} `, text)),
  ];
}

function why(standing: Standing): string {
  const { reason, since, until } = standing;
  const reasons = reason === null ? [] : [reason];
  if (until !== null) return [`until ${dayOf(until)}`, ...certificateInWords(standing), ...reasons].join('; ');
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
    '',
    ...last.flatMap((record) => eventLines(record, layout)),
  ];
}

function eventLines(record: RegisterRecord, layout: Layout): string[] {
  const { at, catalogue, event, cause, reason, suites, version } = record;
  const failed = Object.entries(suites).filter(([, { fail }]) => fail > 0);
  const counts = failed.map(([suite, { fail }]) => `${fail} in ${suite}`).join(', ');
  const text = [
    ...(cause === null ? [] : [cause.title]),
    ...(reason === null || cause !== null ? [] : [reason]),
    ...(counts === '' ? [] : [`failed: ${counts}`]),
    ...(event === 'revoked' || event === 'override'
      ? []
      : [`hookproof ${version}, catalogue ${catalogue.slice(0, 19)}`]),
  ];
  return layout.paragraph(`  ${layout.sign(EVENT_SIGNS[event])} ${timeOf(at)}  ${event.padEnd(13)} `, text.join('; '));
}

const dayOf = (time: string) => time.slice(0, 10);
const timeOf = (time: string) => `${time.slice(0, 10)} ${time.slice(11, 16)}Z`;
