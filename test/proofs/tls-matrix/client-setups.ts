/** Correct and faulty setups of mutual TLS, and the invalid clients that each accepts. */
import type { ServerOptions } from 'node:https';
import { CERTIFICATE_CASES, type Expected, type InvalidClient, NO_CERTIFICATE_CASES } from './expected.ts';
import { type CertificateSet, type CertificateSetName, CLIENT_NAME, type TlsVersions } from './material.ts';
import { NODE_SETUPS } from './node-setups.ts';
import type { NodeChecks } from './servers.ts';

interface Base {
  readonly name: string;
  /** The invalid clients that the setup accepts. Empty for a correct setup. */
  readonly accepts: readonly InvalidClient[];
  /** Other expected outcomes. */
  readonly also?: Expected;
  /** The set of certificates. Default: the usual one. */
  readonly certificates?: CertificateSetName;
}

/** A setup with Node's HTTPS server. */
export interface NodeSetup extends Base {
  readonly on: 'node';
  readonly options: (certificates: CertificateSet) => ServerOptions;
  /** Returns the checks. It is called for each server, so that the checks may keep state. */
  readonly checks: (certificates: CertificateSet) => NodeChecks;
  /**
   * Only these scenarios are run, with short time limits, because each lasts until its time limit. `also` contains all
   * their outcomes.
   */
  readonly scenarios?: readonly string[];
  /** Delay of the connection in each direction, in milliseconds. Default: none. */
  readonly oneWayMs?: number;
  /** The choices of TLS versions. Default: all three. */
  readonly tlsVersions?: readonly TlsVersions[];
}

/** The reference receiver without a proxy. */
interface ReceiverSetup extends Base {
  readonly on: 'receiver';
  readonly mode: 'required' | 'optional';
  readonly allowed?: readonly string[];
}

/** nginx in front of a receiver, which trusts it or does not check certificates. */
interface NginxSetup extends Base {
  readonly on: 'nginx';
  readonly lines: string;
  /** Set if nginx loads the revocation list of the CA. */
  readonly withRevocationList?: true;
  /** Set if the receiver trusts the proxy's header about certificates. */
  readonly trustsProxy?: true;
}

export type MutualTlsSetup = NodeSetup | ReceiverSetup | NginxSetup;

const RECEIVER_SETUPS: readonly ReceiverSetup[] = [
  { on: 'receiver', name: 'required', accepts: ['other subject'], mode: 'required' },
  { on: 'receiver', name: 'required, one name allowed', accepts: [], mode: 'required', allowed: [CLIENT_NAME] },
  {
    on: 'receiver',
    name: 'required, and a certificate was revoked',
    accepts: ['revoked'],
    mode: 'required',
    certificates: 'revoked',
  },
  { on: 'receiver', name: 'optional', accepts: ['other subject'], mode: 'optional' },
  { on: 'receiver', name: 'optional, one name allowed', accepts: [], mode: 'optional', allowed: [CLIENT_NAME] },
];

const CHECK = 'if ($ssl_client_verify != SUCCESS) { return 403; }';

const NGINX_SETUPS: readonly NginxSetup[] = [
  { on: 'nginx', name: 'on', accepts: ['other subject'], lines: 'ssl_verify_client on;' },
  {
    on: 'nginx',
    name: 'on, and the subject is compared',
    accepts: [],
    lines: `ssl_verify_client on; if ($ssl_client_s_dn !~ "CN=${CLIENT_NAME}(,|$)") { return 403; }`,
  },
  {
    on: 'nginx',
    name: 'on, with the revocation list',
    accepts: [],
    lines: 'ssl_verify_client on;',
    certificates: 'revoked',
    withRevocationList: true,
  },
  {
    on: 'nginx',
    name: 'on, without the revocation list',
    accepts: ['revoked'],
    lines: 'ssl_verify_client on;',
    certificates: 'revoked',
  },
  {
    on: 'nginx',
    name: 'optional; 403 without one',
    accepts: ['other subject'],
    lines: `ssl_verify_client optional; ${CHECK}`,
  },
  {
    on: 'nginx',
    name: 'optional, and not checked',
    accepts: [...NO_CERTIFICATE_CASES, 'other subject'],
    lines: 'ssl_verify_client optional;',
  },
  {
    on: 'nginx',
    name: 'optional_no_ca, and not checked',
    // nginx itself rejects certificates that are invalid for a reason other than their CA.
    accepts: CERTIFICATE_CASES.filter(
      (invalidClient) => !['expired', 'not yet valid', 'wrong purpose', 'issued by a client'].includes(invalidClient),
    ),
    lines: 'ssl_verify_client optional_no_ca;',
  },
  {
    on: 'nginx',
    name: 'optional_no_ca; 403 without a valid one',
    accepts: ['other subject'],
    lines: `ssl_verify_client optional_no_ca; ${CHECK}`,
  },
  {
    on: 'nginx',
    name: 'optional; the receiver trusts this proxy',
    accepts: ['other subject'],
    lines: 'ssl_verify_client optional; proxy_set_header X-SSL-Client-Verify $ssl_client_verify;',
    trustsProxy: true,
  },
  {
    on: 'nginx',
    name: 'the receiver trusts this proxy, which forwards the header of any client',
    accepts: ['forged headers', 'other subject'],
    lines: `ssl_verify_client optional; set $verified $ssl_client_verify;
      if ($http_x_ssl_client_verify) { set $verified $http_x_ssl_client_verify; }
      proxy_set_header X-SSL-Client-Verify $verified;`,
    trustsProxy: true,
  },
];

export const MUTUAL_TLS_SETUPS: readonly MutualTlsSetup[] = [...NODE_SETUPS, ...RECEIVER_SETUPS, ...NGINX_SETUPS];
