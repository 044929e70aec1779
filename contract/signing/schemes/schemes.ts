/**
 * Every built-in signing scheme, each as a literal. A new one is one literal more: commands, findings and documents
 * take it from here.
 */
import { DEFAULT_SIGNATURE_HEADER } from '../../delivery.ts';
import type { Scheme } from './scheme.ts';

/** The scheme of the specification (Authentication, HMAC signature). */
export const SERVICE_SCHEME: Scheme = {
  name: 'service',
  title: 'the service of the specification',
  headers: { [DEFAULT_SIGNATURE_HEADER]: '{signature}' },
  signed: '{body}',
  algorithm: 'sha256',
  encoding: 'base64',
  secret: { encoding: 'utf8' },
};

const STANDARD_WEBHOOKS: Scheme = {
  name: 'standard-webhooks',
  title: 'Standard Webhooks',
  documentation: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  headers: { 'webhook-id': '{id}', 'webhook-timestamp': '{timestamp}', 'webhook-signature': '{signature}' },
  signed: '{id}.{timestamp}.{body}',
  algorithm: 'sha256',
  encoding: 'base64',
  secret: { prefix: 'whsec_', encoding: 'base64' },
  signature: 'v1,{value}',
  separator: ' ',
  toleranceSeconds: 300,
};

/** The schemes of other services. */
export const FOREIGN_SCHEMES: readonly Scheme[] = [
  STANDARD_WEBHOOKS,
  {
    ...STANDARD_WEBHOOKS,
    name: 'standard-webhooks-ed25519',
    title: 'Standard Webhooks with Ed25519',
    algorithm: 'ed25519',
    secret: { prefix: 'whsk_', encoding: 'base64' },
    signature: 'v1a,{value}',
  },
  {
    ...STANDARD_WEBHOOKS,
    name: 'svix',
    title: 'Svix',
    documentation: 'https://docs.svix.com/receiving/verifying-payloads/how-manual',
    headers: { 'svix-id': '{id}', 'svix-timestamp': '{timestamp}', 'svix-signature': '{signature}' },
  },
  {
    name: 'stripe',
    title: 'Stripe',
    documentation: 'https://docs.stripe.com/webhooks#verify-manually',
    headers: { 'Stripe-Signature': 't={timestamp},{signature}' },
    signed: '{timestamp}.{body}',
    algorithm: 'sha256',
    encoding: 'hex',
    secret: { encoding: 'utf8' },
    signature: 'v1={value}',
    separator: ',',
    toleranceSeconds: 300,
  },
  {
    name: 'github',
    title: 'GitHub',
    documentation: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
    headers: { 'X-Hub-Signature-256': '{signature}' },
    signed: '{body}',
    algorithm: 'sha256',
    encoding: 'hex',
    secret: { encoding: 'utf8' },
    signature: 'sha256={value}',
  },
  {
    name: 'slack',
    title: 'Slack',
    documentation: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
    headers: { 'X-Slack-Request-Timestamp': '{timestamp}', 'X-Slack-Signature': '{signature}' },
    signed: 'v0:{timestamp}:{body}',
    algorithm: 'sha256',
    encoding: 'hex',
    secret: { encoding: 'utf8' },
    signature: 'v0={value}',
    toleranceSeconds: 300,
  },
  {
    name: 'shopify',
    title: 'Shopify',
    documentation: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
    headers: { 'X-Shopify-Hmac-Sha256': '{signature}' },
    signed: '{body}',
    algorithm: 'sha256',
    encoding: 'base64',
    secret: { encoding: 'utf8' },
  },
  {
    name: 'line',
    title: 'LINE',
    documentation: 'https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/',
    headers: { 'X-Line-Signature': '{signature}' },
    signed: '{body}',
    algorithm: 'sha256',
    encoding: 'base64',
    secret: { encoding: 'utf8' },
  },
  {
    name: 'square',
    title: 'Square',
    documentation: 'https://developer.squareup.com/docs/webhooks/step3validate',
    headers: { 'X-Square-HmacSha256-Signature': '{signature}' },
    signed: '{url}{body}',
    algorithm: 'sha256',
    encoding: 'base64',
    secret: { encoding: 'utf8' },
  },
];

export const SCHEMES: readonly Scheme[] = [SERVICE_SCHEME, ...FOREIGN_SCHEMES];
