/**
 * The library of mistakes: each thing that a receiver can do wrong is described once, with its consequence and its fix.
 * Reports, `explain`, `verify`, the inspector and MCP print these texts.
 */
import { fixSources, type Stack } from '../stacks.ts';
import { API_KEY_MISTAKES } from './api-key.ts';
import { DELIVERY_MISTAKES } from './delivery.ts';
import { EFFECTS_MISTAKES } from './effects.ts';
import { ENDPOINT_MISTAKES } from './endpoint.ts';
import { HTTP_MISTAKES } from './http.ts';
import { LEAK_MISTAKES } from './leaks.ts';
import { MALFORMED_MISTAKES } from './malformed.ts';
import type { FixByStack, Mistake } from './mistake.ts';
import { MTLS_MISTAKES } from './mtls.ts';
import { RAW_BODY_MISTAKES } from './raw-body.ts';
import { ROTATION_MISTAKES } from './rotation.ts';
import { SCHEME_MISTAKES } from './scheme.ts';
import { SIGNATURE_MISTAKES } from './signature.ts';
import { SKIPPED_VERIFICATION_MISTAKES } from './signature-skipped.ts';
import { TLS_MISTAKES } from './tls.ts';
import { VALID_MISTAKES } from './valid.ts';

export { SAMPLES_PLACE } from './endpoint.ts';
export type { FixByStack, Mistake } from './mistake.ts';
export { CHAIN_MISTAKES } from './tls.ts';

const TABLE = {
  ...RAW_BODY_MISTAKES,
  ...SIGNATURE_MISTAKES,
  ...SKIPPED_VERIFICATION_MISTAKES,
  ...ROTATION_MISTAKES,
  ...SCHEME_MISTAKES,
  ...API_KEY_MISTAKES,
  ...MALFORMED_MISTAKES,
  ...VALID_MISTAKES,
  ...HTTP_MISTAKES,
  ...DELIVERY_MISTAKES,
  ...EFFECTS_MISTAKES,
  ...LEAK_MISTAKES,
  ...TLS_MISTAKES,
  ...MTLS_MISTAKES,
  ...ENDPOINT_MISTAKES,
};

/** Stable id of a mistake, in kebab-case. */
export type MistakeId = keyof typeof TABLE;

/** Every mistake by its id. */
export const MISTAKES: Readonly<Record<MistakeId, Mistake>> = TABLE;

/** Mistakes in reading the content of a notification. A receiver that makes one has already verified the signature. */
export const PAYLOAD_MISTAKES: ReadonlySet<string> = new Set(
  [VALID_MISTAKES, MALFORMED_MISTAKES].flatMap((table) => Object.keys(table)),
);

/**
 * Mistakes in which bytes are verified. A receiver that makes one rejects valid deliveries as if their signatures were
 * invalid.
 */
export const BODY_MISTAKES: ReadonlySet<string> = new Set(Object.keys(RAW_BODY_MISTAKES));

/** Mistakes in TLS and certificates. The recipes serve plain HTTP, so none of them shows how to avoid one. */
export const TLS_LAYER_MISTAKES: ReadonlySet<string> = new Set(
  [TLS_MISTAKES, MTLS_MISTAKES].flatMap((table) => Object.keys(table)),
);

/** How a check, a mutant or a finding refers to a mistake: its id, and at most one sentence about the specific case. */
export interface MistakeReference {
  readonly mistake: MistakeId;
  readonly note?: string;
}

/** Returns the texts that are printed for a finding. `why` is the note and the consequence, `fix` is the rule. */
export function explainMistake({ mistake, note }: MistakeReference): { readonly why: string; readonly fix: string } {
  const { why, fix } = MISTAKES[mistake];
  return { why: note === undefined ? why : `${note} ${why}`, fix: fix.rule };
}

/**
 * Returns the code with which a stack, or else its language, fixes a mistake. Returns undefined where the rule
 * suffices.
 */
export function codeFor(fix: FixByStack, stack: Stack): string | undefined {
  return fixSources(stack).flatMap((source) => fix[source] ?? [])[0];
}

/** Finds a mistake by id. Returns undefined for an unknown id and for null, which stands for no mistake. */
export function findMistake(id: string | null): Mistake | undefined {
  return id !== null && Object.hasOwn(MISTAKES, id) ? MISTAKES[id as MistakeId] : undefined;
}
