/** The committed vectors: one signature for every signing mistake, made by OpenSSL and Python. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Vector {
  readonly mistake: string;
  readonly bodyBase64: string;
  readonly secret: string;
  readonly signature: string;
}

interface Document {
  readonly apiKey: string;
  readonly url: string;
  readonly vectors: readonly Vector[];
}

const DOCUMENT: Document = JSON.parse(readFileSync(join(import.meta.dirname, 'vectors/mistakes.json'), 'utf8'));

export const VECTORS = DOCUMENT.vectors;
export const API_KEY = DOCUMENT.apiKey;
export const URL = DOCUMENT.url;

export function bodyOf({ bodyBase64 }: Vector): Buffer {
  return Buffer.from(bodyBase64, 'base64');
}
