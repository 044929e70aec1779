/** Every parser of foreign input, with its properties. A new parser gets a row in one of these files. */
import { CERTIFICATE_TARGETS } from './certificates.ts';
import { CONFIGURATION_TARGETS } from './configuration.ts';
import { ENVELOPE_TARGETS } from './envelopes.ts';
import { HTTP_TARGETS } from './http.ts';
import { NOTIFICATION_TARGETS } from './notifications.ts';
import { REPORT_TARGETS } from './reports.ts';
import { SENDER_TARGETS } from './sender.ts';
import type { FuzzTarget } from './target.ts';
import { TLS_TARGETS } from './tls.ts';

export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  ...HTTP_TARGETS,
  ...NOTIFICATION_TARGETS,
  ...CONFIGURATION_TARGETS,
  ...CERTIFICATE_TARGETS,
  ...TLS_TARGETS,
  ...ENVELOPE_TARGETS,
  ...REPORT_TARGETS,
  ...SENDER_TARGETS,
];
