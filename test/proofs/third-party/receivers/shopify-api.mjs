/** The Shopify API library, set up as its documentation shows. */
import '@shopify/shopify-api/adapters/node';
import { LogSeverity, shopifyApi } from '@shopify/shopify-api';
import { secret } from './start.mjs';

export const shopify = shopifyApi({
  apiKey: 'key',
  apiSecretKey: secret,
  apiVersion: '2025-07',
  hostName: 'localhost',
  isEmbeddedApp: false,
  logger: { level: LogSeverity.Error },
});
