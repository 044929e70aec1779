import type { Suite } from '../scenario.ts';
import { mtlsByways } from './mtls-byways.ts';
import { mtlsCertificates } from './mtls-certificates.ts';
import { mtlsCredentials } from './mtls-credentials.ts';
import { mtlsForgedHeaders } from './mtls-forged-headers.ts';
import { mtlsResumption } from './mtls-resumption.ts';

/** Who may connect. Specification: TLS (mutual TLS). */
export const mtlsSuite: Suite = {
  name: 'mtls',
  title: 'Mutual TLS: the client certificate is verified',
  scenarios: [...mtlsCertificates, ...mtlsResumption, ...mtlsForgedHeaders, ...mtlsByways, ...mtlsCredentials],
};
