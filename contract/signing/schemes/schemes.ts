/**
 * Every built-in signing scheme, each as a literal. To add one, add a literal: commands, findings and documents take it
 * from here. The samples are written from the documentation of each service.
 */
import { CONTENT_TYPE, DEFAULT_SIGNATURE_HEADER } from '../../delivery.ts';
import type { Scheme, SchemeSample } from './scheme.ts';

/** HMAC-SHA256 with the secret as text: what most schemes have in common. */
const TEXT_KEY = {
  algorithm: 'sha256',
  secret: { encoding: 'utf8' },
  signature: '{value}',
  accepts: ['2xx'],
  rejects: ['4xx'],
} as const;

/** The scheme of the specification (Authentication, HMAC signature). */
export const SERVICE_SCHEME: Scheme = {
  ...TEXT_KEY,
  name: 'service',
  title: 'the service of the specification',
  headers: { [DEFAULT_SIGNATURE_HEADER]: '{signature}' },
  signed: '{body}',
  encoding: 'base64',
  accepts: [200],
  rejects: [401],
  samples: [],
};

/** A sample with a JSON body. `headers` is a line for each header in addition to the Content-Type. */
function sample(name: string, body: object, headers: Readonly<Record<string, string>> = {}): SchemeSample {
  return {
    name,
    headers: Object.entries({ 'Content-Type': CONTENT_TYPE, ...headers }),
    body: JSON.stringify(body),
  };
}

/** A sample whose body is a form. */
function formSample(name: string, body: string, headers: Readonly<Record<string, string>> = {}): SchemeSample {
  return { name, headers: Object.entries({ 'Content-Type': 'application/x-www-form-urlencoded', ...headers }), body };
}

const STANDARD_WEBHOOKS: Scheme = {
  ...TEXT_KEY,
  name: 'standard-webhooks',
  title: 'Standard Webhooks',
  documentation: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  headers: { 'webhook-id': '{id}', 'webhook-timestamp': '{timestamp}', 'webhook-signature': '{signature}' },
  signed: '{id}.{timestamp}.{body}',
  encoding: 'base64',
  secret: { prefix: 'whsec_', encoding: 'base64' },
  signature: 'v1,{value}',
  separator: ' ',
  toleranceSeconds: 300,
  samples: [
    sample('user.created', {
      type: 'user.created',
      timestamp: '2026-01-02T03:04:05.000000Z',
      data: { id: 'user_1f81eb52', email: 'ada@example.com', name: 'Ada' },
    }),
    sample('invoice.paid', {
      type: 'invoice.paid',
      timestamp: '2026-01-02T03:04:06.000000Z',
      data: { id: 'inv_8b3c0a11', amount: 1250, currency: 'EUR' },
    }),
  ],
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
    aliases: ['webhook-signature'],
  },
  {
    ...TEXT_KEY,
    name: 'stripe',
    title: 'Stripe',
    documentation: 'https://docs.stripe.com/webhooks#verify-manually',
    headers: { 'Stripe-Signature': 't={timestamp},{signature}' },
    signed: '{timestamp}.{body}',
    encoding: 'hex',
    signature: 'v1={value}',
    separator: ',',
    toleranceSeconds: 300,
    isFutureUnlimited: true,
    samples: [
      sample('payment_intent.succeeded', {
        id: 'evt_1PgafmB7WZ01zgkWt',
        object: 'event',
        api_version: '2025-03-31.basil',
        created: 1767323045,
        data: {
          object: {
            id: 'pi_1PgafiB7WZ01zgkW',
            object: 'payment_intent',
            amount: 1999,
            currency: 'usd',
            status: 'succeeded',
          },
        },
        livemode: false,
        pending_webhooks: 1,
        request: { id: 'req_a1B2c3D4', idempotency_key: null },
        type: 'payment_intent.succeeded',
      }),
      sample('customer.created', {
        id: 'evt_1PgagqB7WZ01zgkWu',
        object: 'event',
        api_version: '2025-03-31.basil',
        created: 1767323046,
        data: { object: { id: 'cus_QXg1o8vcGmoR32', object: 'customer', email: 'ada@example.com', name: 'Ada' } },
        livemode: false,
        pending_webhooks: 1,
        request: { id: null, idempotency_key: null },
        type: 'customer.created',
      }),
    ],
  },
  {
    ...TEXT_KEY,
    name: 'github',
    title: 'GitHub',
    documentation: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
    headers: { 'X-Hub-Signature-256': '{signature}' },
    olderSignatures: { 'X-Hub-Signature': { algorithm: 'sha1', signature: 'sha1={value}' } },
    signed: '{body}',
    encoding: 'hex',
    signature: 'sha256={value}',
    samples: [
      sample(
        'ping',
        {
          zen: 'Keep it logically awesome.',
          hook_id: 4711,
          hook: { type: 'Repository', id: 4711, events: ['push'], active: true },
          repository: { id: 1296269, full_name: 'octocat/Hello-World' },
          sender: { login: 'octocat', id: 1 },
        },
        {
          'User-Agent': 'GitHub-Hookshot/044aadd',
          'X-GitHub-Event': 'ping',
          'X-GitHub-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
          'X-GitHub-Hook-ID': '4711',
        },
      ),
      sample(
        'issues',
        {
          action: 'opened',
          issue: { number: 1347, title: 'Found a bug', state: 'open' },
          repository: { id: 1296269, full_name: 'octocat/Hello-World' },
          sender: { login: 'octocat', id: 1 },
        },
        {
          'User-Agent': 'GitHub-Hookshot/044aadd',
          'X-GitHub-Event': 'issues',
          'X-GitHub-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0959',
          'X-GitHub-Hook-ID': '4711',
        },
      ),
      formSample(
        'ping as a form',
        'payload=%7B%22zen%22%3A%22Keep+it+logically+awesome.%22%2C%22hook_id%22%3A4711%7D',
        {
          'X-GitHub-Event': 'ping',
          'X-GitHub-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0960',
        },
      ),
    ],
  },
  {
    ...TEXT_KEY,
    name: 'slack',
    title: 'Slack',
    documentation: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
    headers: { 'X-Slack-Request-Timestamp': '{timestamp}', 'X-Slack-Signature': '{signature}' },
    signed: 'v0:{timestamp}:{body}',
    encoding: 'hex',
    signature: 'v0={value}',
    toleranceSeconds: 300,
    handshakes: ['ssl_check'],
    samples: [
      sample('app_mention', {
        token: 'ZZZZZZWSxiZZZ2yIvs3peJ',
        team_id: 'T123ABC456',
        api_app_id: 'A123ABC456',
        event: {
          type: 'app_mention',
          user: 'U123ABC456',
          text: 'Hello',
          ts: '1767323045.000200',
          channel: 'C123ABC456',
        },
        type: 'event_callback',
        event_id: 'Ev123ABC456',
        event_time: 1767323045,
      }),
      formSample(
        '/webhook-collect',
        'token=ZZZZZZWSxiZZZ2yIvs3peJ&team_id=T123ABC456&team_domain=example&channel_id=C123ABC456&channel_name=all' +
          '&user_id=U123ABC456&user_name=ada&command=%2Fwebhook-collect&text=Gr%C3%BC%C3%9Fe&trigger_id=1.2.abc' +
          '&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT123ABC456%2F1%2Fabc',
      ),
    ],
  },
  {
    ...TEXT_KEY,
    name: 'shopify',
    title: 'Shopify',
    documentation: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
    headers: { 'X-Shopify-Hmac-Sha256': '{signature}' },
    signed: '{body}',
    encoding: 'base64',
    samples: [
      sample(
        'orders/create',
        { id: 820982911946, email: 'jon@example.com', created_at: '2026-01-02T03:04:05-05:00', total_price: '403.00' },
        shopifyHeaders('orders/create', 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043'),
      ),
      sample(
        'app/uninstalled',
        { id: 548380009, name: 'Super Toys', domain: 'example.myshopify.com', country: 'US' },
        shopifyHeaders('app/uninstalled', 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd044'),
      ),
    ],
  },
  {
    ...TEXT_KEY,
    name: 'line',
    title: 'LINE',
    documentation: 'https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/',
    headers: { 'X-Line-Signature': '{signature}' },
    signed: '{body}',
    encoding: 'base64',
    samples: [
      sample('follow', {
        destination: 'xxxxxxxxxx',
        events: [
          {
            type: 'follow',
            mode: 'active',
            timestamp: 1767323045000,
            source: { type: 'user', userId: 'U4af4980629' },
            webhookEventId: '01FZ74A0TDDPYRVKNK77XKC3ZR',
            deliveryContext: { isRedelivery: false },
            replyToken: 'nHuyWiB7yP5Zw52FIkcQobQuGDXCTA',
            follow: { isUnblocked: false },
          },
        ],
      }),
      sample('no events', { destination: 'xxxxxxxxxx', events: [] }),
    ],
  },
  {
    ...TEXT_KEY,
    name: 'square',
    title: 'Square',
    documentation: 'https://developer.squareup.com/docs/webhooks/step3validate',
    headers: { 'X-Square-HmacSha256-Signature': '{signature}' },
    signed: '{url}{body}',
    encoding: 'base64',
    samples: [
      sample('customer.created', {
        merchant_id: 'MLEFBHHSJGVHD',
        type: 'customer.created',
        event_id: '1ff60d28-7e5d-4a3d-9a1e-5f1e8e7f7c01',
        created_at: '2026-01-02T03:04:05.000Z',
        data: { type: 'customer', id: 'EA0A3TBZ', object: { customer: { id: 'EA0A3TBZ', given_name: 'Ada' } } },
      }),
      sample('payment.updated', {
        merchant_id: 'MLEFBHHSJGVHD',
        type: 'payment.updated',
        event_id: '1ff60d28-7e5d-4a3d-9a1e-5f1e8e7f7c02',
        created_at: '2026-01-02T03:04:06.000Z',
        data: {
          type: 'payment',
          id: 'KkAkhdMsgzn59SM8A89WgKwekxLZY',
          object: { payment: { id: 'KkAkhdMsgzn59SM8A89WgKwekxLZY', status: 'COMPLETED' } },
        },
      }),
    ],
  },
];

function shopifyHeaders(topic: string, id: string): Readonly<Record<string, string>> {
  return {
    'X-Shopify-Topic': topic,
    'X-Shopify-Shop-Domain': 'example.myshopify.com',
    'X-Shopify-API-Version': '2026-01',
    'X-Shopify-Webhook-Id': id,
  };
}

export const SCHEMES: readonly Scheme[] = [SERVICE_SCHEME, ...FOREIGN_SCHEMES];
