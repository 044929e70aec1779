/**
 * Signature schemes of other services. A receiver that uses a library for one of them rejects deliveries of this
 * service, whose own scheme is described in the specification (Authentication, HMAC signature).
 */
import type { HeaderLine } from '../delivery.ts';
import { hmac } from './sign.ts';

/** The inputs of a signature. */
interface SchemeInput {
  readonly body: Uint8Array;
  readonly secret: string;
  readonly url: string;
  /** Message id. */
  readonly id: string;
  /** Time of the message, in epoch seconds. */
  readonly timestamp: number;
}

export interface PublishedScheme {
  /** Stable part of the name of a finding about this scheme. */
  readonly slug: string;
  readonly name: string;
  /** Names of the headers that a receiver reads. */
  readonly headers: readonly string[];
  /** Describes what is signed and how the value is written. */
  readonly description: string;
  /** Signs one delivery. Returns one list of headers for each way in which receivers decode the secret. */
  readonly sign: (input: SchemeInput) => readonly (readonly HeaderLine[])[];
}

const joined = (prefix: string, body: Uint8Array) => Buffer.concat([Buffer.from(prefix), body]);

/**
 * Returns both keys that receivers use: the secret decoded from base64 without its usual prefix, and the secret as
 * text.
 */
function keysOf(secret: string): readonly (string | Uint8Array)[] {
  return [Buffer.from(secret.replace(/^whsec_/, ''), 'base64'), secret];
}

/**
 * The scheme of Standard Webhooks and of Svix, from which Standard Webhooks derives. They differ only in header names.
 */
function standardWebhooks(slug: string, name: string, prefix: string): PublishedScheme {
  return {
    slug,
    name,
    headers: [`${prefix}-id`, `${prefix}-timestamp`, `${prefix}-signature`],
    description: 'Base64 of HMAC-SHA256 over id, timestamp and body, joined by dots, after "v1,"',
    sign: ({ body, secret, id, timestamp }) =>
      keysOf(secret).map((key) => [
        [`${prefix}-id`, id],
        [`${prefix}-timestamp`, `${timestamp}`],
        [`${prefix}-signature`, `v1,${hmac(joined(`${id}.${timestamp}.`, body), key).toString('base64')}`],
      ]),
  };
}

/** Defines a scheme that sends a single header. */
function oneHeader(
  slug: string,
  name: string,
  header: string,
  description: string,
  value: (input: SchemeInput) => string,
): PublishedScheme {
  return { slug, name, headers: [header], description, sign: (input) => [[[header, value(input)]]] };
}

export const PUBLISHED_SCHEMES: readonly PublishedScheme[] = [
  standardWebhooks('standard-webhooks', 'Standard Webhooks', 'webhook'),
  standardWebhooks('svix', 'Svix', 'svix'),
  oneHeader(
    'stripe',
    'Stripe',
    'Stripe-Signature',
    'hex of HMAC-SHA256 over timestamp and body, joined by a dot, as "t=...,v1=..."',
    ({ body, secret, timestamp }) => `t=${timestamp},v1=${hmac(joined(`${timestamp}.`, body), secret).toString('hex')}`,
  ),
  oneHeader(
    'github',
    'GitHub',
    'X-Hub-Signature-256',
    'hex of HMAC-SHA256 over the body, after "sha256="',
    ({ body, secret }) => `sha256=${hmac(body, secret).toString('hex')}`,
  ),
  {
    slug: 'slack',
    name: 'Slack',
    headers: ['X-Slack-Signature', 'X-Slack-Request-Timestamp'],
    description: 'hex of HMAC-SHA256 over "v0", timestamp and body, joined by colons, after "v0="',
    sign: ({ body, secret, timestamp }) => [
      [
        ['X-Slack-Request-Timestamp', `${timestamp}`],
        ['X-Slack-Signature', `v0=${hmac(joined(`v0:${timestamp}:`, body), secret).toString('hex')}`],
      ],
    ],
  },
  oneHeader('shopify', 'Shopify', 'X-Shopify-Hmac-Sha256', 'Base64 of HMAC-SHA256 over the body', ({ body, secret }) =>
    hmac(body, secret).toString('base64'),
  ),
  oneHeader('line', 'LINE', 'X-Line-Signature', 'Base64 of HMAC-SHA256 over the body', ({ body, secret }) =>
    hmac(body, secret).toString('base64'),
  ),
  oneHeader(
    'square',
    'Square',
    'X-Square-HmacSha256-Signature',
    'Base64 of HMAC-SHA256 over the URL followed by the body',
    ({ body, secret, url }) => hmac(joined(url, body), secret).toString('base64'),
  ),
];
