/** Ways to set up mutual TLS, right and wrong: what each lets in that it must not. */
import type { ServerOptions } from 'node:https';
import { type Expected, type Intruder, OF_CERTIFICATES, WITHOUT_CERTIFICATE } from './expected.ts';
import { CLIENT_NAME, type Given, type GivenName, type Spoken } from './material.ts';
import { NODE_SHAPES } from './node-setups.ts';
import type { NodeChecks } from './servers.ts';

interface Base {
  readonly name: string;
  /** What it lets in; nothing more for a right one. */
  readonly letsIn: readonly Intruder[];
  /** What a run says besides. */
  readonly also?: Expected;
  /** The certificates; the usual ones by default. */
  readonly given?: GivenName;
}

/** Node's https server. */
export interface NodeShape extends Base {
  readonly on: 'node';
  readonly options: (given: Given) => ServerOptions;
  /** Made anew for each server, so that it may count. */
  readonly checks: (given: Given) => NodeChecks;
  /**
   * Only these scenarios, of which `also` says everything, with little patience: each would take as long as the time
   * limit.
   */
  readonly scenarios?: readonly string[];
  /** Milliseconds that everything is on the way, there and back; none by default. */
  readonly oneWayMs?: number;
  /** All three by default. */
  readonly spoken?: readonly Spoken[];
}

/** The reference receiver, by itself. */
interface ReceiverShape extends Base {
  readonly on: 'receiver';
  readonly mode: 'required' | 'optional';
  readonly allowed?: readonly string[];
}

/** nginx in front of a receiver, which trusts it or knows nothing of certificates. */
interface NginxShape extends Base {
  readonly on: 'nginx';
  readonly lines: string;
  /** The authority's list of what it revoked is loaded. */
  readonly withList?: true;
  /** The receiver behind it takes its word for certificates. */
  readonly declared?: true;
}

export type ClientShape = NodeShape | ReceiverShape | NginxShape;

const RECEIVER_SHAPES: readonly ReceiverShape[] = [
  { on: 'receiver', name: 'required', letsIn: ['other subject'], mode: 'required' },
  { on: 'receiver', name: 'required, one name allowed', letsIn: [], mode: 'required', allowed: [CLIENT_NAME] },
  {
    on: 'receiver',
    name: 'required, and a certificate was revoked',
    letsIn: ['revoked'],
    mode: 'required',
    given: 'revoked',
  },
  { on: 'receiver', name: 'optional', letsIn: ['other subject'], mode: 'optional' },
  { on: 'receiver', name: 'optional, one name allowed', letsIn: [], mode: 'optional', allowed: [CLIENT_NAME] },
];

const CHECK = 'if ($ssl_client_verify != SUCCESS) { return 403; }';

const NGINX_SHAPES: readonly NginxShape[] = [
  { on: 'nginx', name: 'on', letsIn: ['other subject'], lines: 'ssl_verify_client on;' },
  {
    on: 'nginx',
    name: 'on, and the subject is compared',
    letsIn: [],
    lines: `ssl_verify_client on; if ($ssl_client_s_dn !~ "CN=${CLIENT_NAME}(,|$)") { return 403; }`,
  },
  {
    on: 'nginx',
    name: 'on, with the list of what is revoked',
    letsIn: [],
    lines: 'ssl_verify_client on;',
    given: 'revoked',
    withList: true,
  },
  { on: 'nginx', name: 'on, without the list', letsIn: ['revoked'], lines: 'ssl_verify_client on;', given: 'revoked' },
  {
    on: 'nginx',
    name: 'optional, and 403 without',
    letsIn: ['other subject'],
    lines: `ssl_verify_client optional; ${CHECK}`,
  },
  {
    on: 'nginx',
    name: 'optional, and nothing looks at it',
    letsIn: [...WITHOUT_CERTIFICATE, 'other subject'],
    lines: 'ssl_verify_client optional;',
  },
  {
    on: 'nginx',
    name: 'optional_no_ca, and nothing looks at it',
    // nginx itself refuses what is wrong in another way than by its authority.
    letsIn: OF_CERTIFICATES.filter(
      (intruder) => !['expired', 'not yet valid', 'wrong purpose', 'issued by client'].includes(intruder),
    ),
    lines: 'ssl_verify_client optional_no_ca;',
  },
  {
    on: 'nginx',
    name: 'optional_no_ca, and 403 without a right one',
    letsIn: ['other subject'],
    lines: `ssl_verify_client optional_no_ca; ${CHECK}`,
  },
  {
    on: 'nginx',
    name: 'optional, and the receiver trusts it as its proxy',
    letsIn: ['other subject'],
    lines: 'ssl_verify_client optional; proxy_set_header X-SSL-Client-Verify $ssl_client_verify;',
    declared: true,
  },
  {
    on: 'nginx',
    name: 'the receiver trusts it as its proxy, and it passes the header on from anybody',
    letsIn: ['X-SSL-Client-Verify', 'other subject'],
    lines: `ssl_verify_client optional; set $verified $ssl_client_verify;
      if ($http_x_ssl_client_verify) { set $verified $http_x_ssl_client_verify; }
      proxy_set_header X-SSL-Client-Verify $verified;`,
    declared: true,
  },
];

export const CLIENT_SHAPES: readonly ClientShape[] = [...NODE_SHAPES, ...RECEIVER_SHAPES, ...NGINX_SHAPES];
