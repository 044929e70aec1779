/** The OpenAPI and the AsyncAPI document: valid by their own schemas, with examples that the receiver accepts. */
import specs from '@asyncapi/specs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv, type AnySchema } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { NotificationExamples } from '../../contract/api-documents.ts';
import { NOTIFICATION_KINDS, readNotification } from '../../contract/index.ts';
import { contractDocuments } from '../../harness/cli/commands/list.ts';
import { createReceiver } from '../../receiver/index.ts';
import { hookproof } from '../cli/hookproof.ts';
import { API_KEY, post, SECRET } from '../receiver/deliveries.ts';

const { asyncapi, openapi } = contractDocuments();
const openApi = JSON.parse(openapi);
const asyncApi = JSON.parse(asyncapi);
const { examples } = openApi.components.requestBodies.Notification.content['application/json'] as {
  examples: Record<string, NotificationExamples['WALLET']>;
};

/** Returns whether a document is valid AsyncAPI 3, by the published schema. */
async function isAsyncApi(document: object): Promise<boolean> {
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false, validateFormats: false, logger: false });
  // The schema contains the schema of JSON Schema, which Ajv would otherwise add a second time.
  const validate = ajv.compile(specs.schemas['3.0.0'] as AnySchema);
  return validate(document) === true;
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(openApi)).toEqual({ valid: true });
    const { valid } = await new Validator().validate({ ...openApi, webhooks: { notification: { post: 'none' } } });
    expect(valid).toBe(false);
  });

  it('has an example of every kind, each of which the receiver accepts', async () => {
    const kinds = Object.values(examples).map(({ value }) => {
      const reading = readNotification(value);
      return reading.ok ? reading.notification.kind : null;
    });
    expect(kinds).toEqual(NOTIFICATION_KINDS);
    const receiver = createReceiver({ signing: { secrets: [SECRET] }, apiKey: { keys: [API_KEY] }, handlers: {} });
    const answers = await Promise.all(
      Object.values(examples).map(({ value }) => post(receiver, JSON.stringify(value))),
    );
    expect(answers.map(({ status }) => status)).toEqual(NOTIFICATION_KINDS.map(() => 200));
  });
});

describe('the AsyncAPI document', () => {
  it('is valid AsyncAPI 3', async () => {
    expect(await isAsyncApi(asyncApi)).toBe(true);
    expect(await isAsyncApi({ ...asyncApi, operations: { receiveNotification: { action: 'get' } } })).toBe(false);
  });

  it('has the schemas and the examples of the OpenAPI document', () => {
    const { Headers: _, ...schemas } = asyncApi.components.schemas;
    expect(schemas).toEqual(openApi.components.schemas);
    const payloads = Object.values<{ examples: { payload: unknown }[] }>(asyncApi.components.messages).map(
      (message) => message.examples[0]?.payload,
    );
    expect(payloads).toEqual(Object.values(examples).map(({ value }) => value));
  });
});

it.each([
  ['--openapi', openapi],
  ['--asyncapi', asyncapi],
])('`list %s` prints the document', async (flag, text) => {
  expect(await hookproof(['list', flag])).toEqual({ code: 0, stdout: text, stderr: '' });
});
