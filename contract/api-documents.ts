/**
 * The delivery endpoint as an OpenAPI 3.1 document and as an AsyncAPI 3 document. Both are generated from the schemas
 * that validate at run time, and describe what a receiver should accept. Specification: Delivery endpoint;
 * Authentication.
 */
import { CONTENT_TYPE, DEFAULT_API_KEY_HEADER, DEFAULT_SIGNATURE_HEADER, LIMITS } from './delivery.ts';
import { type JsonObject, type JsonValue, jsonSchemas } from './json.ts';
import { NOTIFICATION_KINDS, type NotificationKind } from './kinds.ts';

/** One example of each kind of notification as the service sends it, with a one-sentence summary. */
export type NotificationExamples = Readonly<Record<NotificationKind, { summary: string; value: JsonObject }>>;

interface About {
  /** Version of hookproof, which is also the version of the documents. */
  readonly version: string;
  readonly examples: NotificationExamples;
}

const NAMES: Readonly<Record<NotificationKind, string>> = {
  CAAS_BUY: 'Buy',
  CAAS_SELL: 'Sell',
  CAAS_ORDER_TRACKING: 'OrderTracking',
  REFUND: 'Refund',
  PAYMENT_METHOD: 'PaymentMethod',
  WALLET: 'Wallet',
  CAAS_BLOCKCHAIN: 'Deposit',
};

const INFO = {
  title: 'Webhook notifications',
  description:
    'The service POSTs each notification to the URL that the partner has registered. Objects may gain new fields, ' +
    'and lists of statuses and codes may gain new values: a receiver accepts them. It verifies the signature over ' +
    'the bytes of the body as they arrive, before it parses them.',
  license: { name: 'MIT', identifier: 'MIT' },
} as const;

const SIGNATURE =
  'Base64 of the HMAC-SHA256 of the exact bytes of the body, with the UTF-8 bytes of the shared secret as the key. ' +
  `The partner can choose a name other than ${DEFAULT_SIGNATURE_HEADER}.`;
const API_KEY = `The API key. The partner can choose a name other than ${DEFAULT_API_KEY_HEADER}.`;
const CLIENT_CERTIFICATE = `The service presents its client certificate (${LIMITS.minimumTlsVersion} or higher).`;
const ACCEPTED = 'The notification is accepted: it is stored, and a duplicate of it will have no effect.';
const REJECTED = 'The signature or the API key is invalid, or is required but missing.';

/** Returns the schemas of received notifications, by component name. */
function components(): Record<string, JsonValue> {
  const { received } = jsonSchemas();
  return Object.fromEntries(
    NOTIFICATION_KINDS.map((kind) => {
      const { $schema: _, title: __, ...schema } = received[kind];
      return [NAMES[kind], { title: `${NAMES[kind]} notification`, ...schema } as JsonValue];
    }),
  );
}

const refs = (kind: NotificationKind) => ({ $ref: `#/components/schemas/${NAMES[kind]}` });

/**
 * Returns the OpenAPI 3.1 document. The operation is listed twice: as a webhook, and under the example path `/hooks`
 * for tools that support only paths. Each copy is complete, because generators do not follow references between them.
 */
export function openApiDocument({ examples, version }: About): JsonObject {
  const named = NOTIFICATION_KINDS.map((kind) => [NAMES[kind], examples[kind]]);
  const operation = (operationId: string) => ({
    operationId,
    summary: 'Receives one notification.',
    requestBody: { $ref: '#/components/requestBodies/Notification' },
    responses: {
      '200': { $ref: '#/components/responses/Accepted' },
      '401': { $ref: '#/components/responses/Rejected' },
    },
  });
  const content = { schema: { oneOf: NOTIFICATION_KINDS.map(refs) }, examples: Object.fromEntries(named) };
  return {
    openapi: '3.1.1',
    info: { ...INFO, version },
    servers: [{ url: 'https://partner.example', description: "The partner's server." }],
    // A partner can enable any of these combinations, including none.
    security: [
      {},
      { signature: [] },
      { apiKey: [] },
      { signature: [], apiKey: [] },
      { signature: [], clientCertificate: [] },
      { signature: [], apiKey: [], clientCertificate: [] },
    ],
    paths: { '/hooks': { post: operation('deliverNotification') } },
    webhooks: { notification: { post: operation('receiveNotification') } },
    components: {
      requestBodies: { Notification: { required: true, content: { [CONTENT_TYPE]: content } } },
      responses: { Accepted: { description: ACCEPTED }, Rejected: { description: REJECTED } },
      schemas: components(),
      securitySchemes: {
        signature: { type: 'apiKey', in: 'header', name: DEFAULT_SIGNATURE_HEADER, description: SIGNATURE },
        apiKey: { type: 'apiKey', in: 'header', name: DEFAULT_API_KEY_HEADER, description: API_KEY },
        clientCertificate: { type: 'mutualTLS', description: CLIENT_CERTIFICATE },
      },
    },
  };
}

/** Returns the AsyncAPI 3 document: one channel, the partner's URL, with a message for each kind. */
export function asyncApiDocument({ examples, version }: About): JsonObject {
  const messages = NOTIFICATION_KINDS.map((kind) => {
    const { summary, value } = examples[kind];
    const message = {
      name: NAMES[kind],
      title: `${NAMES[kind]} notification`,
      contentType: CONTENT_TYPE,
      headers: { $ref: '#/components/schemas/Headers' },
      payload: refs(kind),
      examples: [{ name: NAMES[kind], summary, payload: value }],
    };
    return [NAMES[kind], message];
  });
  const inChannel = NOTIFICATION_KINDS.map((kind) => [NAMES[kind], { $ref: `#/components/messages/${NAMES[kind]}` }]);
  const inOperation = NOTIFICATION_KINDS.map((kind) => ({ $ref: `#/channels/notifications/messages/${NAMES[kind]}` }));
  const header = (description: string) => ({ type: 'string', description });
  return {
    asyncapi: '3.0.0',
    info: { ...INFO, version, license: { name: INFO.license.name } },
    defaultContentType: CONTENT_TYPE,
    servers: {
      partner: {
        host: 'partner.example',
        protocol: 'https',
        description: "The partner's server.",
        security: [{ $ref: '#/components/securitySchemes/clientCertificate' }],
      },
    },
    channels: {
      notifications: {
        address: '/hooks',
        description: "The path of the partner's URL; `/hooks` stands for it.",
        messages: Object.fromEntries(inChannel),
      },
    },
    operations: {
      receiveNotification: {
        action: 'receive',
        channel: { $ref: '#/channels/notifications' },
        summary: `Receives one notification. 200: ${ACCEPTED} 401: ${REJECTED}`,
        messages: inOperation,
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
    },
    components: {
      messages: Object.fromEntries(messages),
      schemas: {
        Headers: {
          type: 'object',
          properties: {
            [DEFAULT_SIGNATURE_HEADER]: header(`${SIGNATURE} Present when a secret is configured.`),
            [DEFAULT_API_KEY_HEADER]: header(`${API_KEY} Present when a key is configured.`),
          },
        },
        ...components(),
      },
      securitySchemes: { clientCertificate: { type: 'X509', description: CLIENT_CERTIFICATE } },
    },
  };
}
