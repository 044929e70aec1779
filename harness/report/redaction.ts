/**
 * The output boundary: removes secrets from documents, events and errors. The schema of a field decides how it is
 * redacted: see `text`, `wording` and `base64` of the result document. Values without a schema are untrusted text.
 */
import * as z from 'zod';
import { HookproofError } from '../../contract/index.ts';
import type { Redactor } from './redactor.ts';
import {
  base64,
  type ResultDocument,
  type RunEvent,
  resultDocument,
  wording,
  writtenEvent,
} from './result-document.ts';

/** How a value is redacted. `closed`: a number, a boolean or one of a list of values, which are never changed. */
export type Plan =
  | 'closed'
  | 'untrusted'
  | 'wording'
  | 'base64'
  | { readonly item: Plan }
  | { readonly fields: ReadonlyMap<string, Plan> };

/** Returns how values of this schema are redacted. */
export function planOf(schema: z.core.$ZodType): Plan {
  if (schema === wording) return 'wording';
  if (schema === base64) return 'base64';
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return planOf(schema.unwrap());
  if (schema instanceof z.ZodDefault) return planOf(schema.unwrap());
  if (schema instanceof z.ZodArray) return { item: planOf(schema.element) };
  if (schema instanceof z.ZodObject) {
    return { fields: new Map(Object.entries(schema.shape).map(([name, field]) => [name, planOf(field)])) };
  }
  const isClosed = [z.ZodEnum, z.ZodLiteral, z.ZodNumber, z.ZodBoolean].some((kind) => schema instanceof kind);
  return isClosed ? 'closed' : 'untrusted';
}

let documentPlan: Plan | undefined;
let eventPlans: ReadonlyMap<string, Plan> | undefined;

/** Returns the plans of the events by type. */
function plansOfEvents(): ReadonlyMap<string, Plan> {
  return new Map(writtenEvent.options.map((option) => [option.shape.type.value, planOf(option)]));
}

/**
 * Removes secrets and valid signatures from every string of the document, including bodies in base64. Keys, numbers and
 * enumerated fields are unchanged, so the result is a valid document. Redacting is idempotent.
 */
export function redactDocument(document: ResultDocument, redactor: Redactor): ResultDocument {
  documentPlan ??= planOf(resultDocument);
  return redactValue(document, documentPlan, remembering(redactor, document, documentPlan)) as ResultDocument;
}

/** Separates joined texts. It occurs in no encoding, escape or line break, so no match can span two texts. */
const SEPARATOR = '\x01';
/** Matches text that may be a list of numbers or hexadecimal bytes. Such text is searched separately. */
const MAY_BE_LIST = /(?:[0-9a-f]{1,3}[\s:.,;_=-]{1,12}(?:0x)?){9}/i;

/**
 * Returns a caching redactor for one document. Most catalogue texts occur several times and rarely contain a secret, so
 * all texts are first searched together, which is much faster than separate searches.
 */
function remembering(redactor: Redactor, document: ResultDocument, plan: Plan): Redactor {
  const wordings = new Set<string>();
  collectWording(document, plan, wordings);
  const joined = [...wordings].filter((text) => !MAY_BE_LIST.test(text)).join(SEPARATOR);
  const isClean = redactor.wording(joined) === joined;
  const text = remembered(redactor.text);
  const wording = remembered((input) => (isClean && !MAY_BE_LIST.test(input) ? input : redactor.wording(input)));
  return { ...redactor, text, wording };
}

function remembered(redact: (input: string) => string): (input: string) => string {
  const known = new Map<string, string>();
  return (input) => {
    let redacted = known.get(input);
    if (redacted === undefined) {
      redacted = redact(input);
      known.set(input, redacted);
    }
    return redacted;
  };
}

function collectWording(value: unknown, plan: Plan, into: Set<string>): void {
  if (typeof value === 'string') {
    if (plan === 'wording') into.add(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collectWording(item, itemOf(plan), into);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) collectWording(item, fieldOf(plan, name), into);
  }
}

function itemOf(plan: Plan): Plan {
  return typeof plan === 'object' && 'item' in plan ? plan.item : 'untrusted';
}

function fieldOf(plan: Plan, name: string): Plan {
  return (typeof plan === 'object' && 'fields' in plan ? plan.fields.get(name) : undefined) ?? 'untrusted';
}

/** Redacts an event for the progress display and the ndjson reporter. */
export function redactEvent(event: RunEvent, redactor: Redactor): RunEvent {
  eventPlans ??= plansOfEvents();
  return redactValue(event, eventPlans.get(event.type) ?? 'untrusted', redactor) as RunEvent;
}

/**
 * Returns a copy of the error that may be shown. A {@link HookproofError} keeps its code and kind. Any other error
 * keeps its name, code, causes and the errors of an AggregateError; other properties are dropped, because they may
 * contain anything. A value that is not an error becomes one.
 */
export function redactError(error: unknown, redactor: Redactor): Error {
  return redactDeep(error, redactor, 0);
}

/** Redacts a value; parts without secrets are not copied. */
export function redactValue(value: unknown, plan: Plan, redactor: Redactor): unknown {
  if (plan === 'closed') return value;
  if (typeof value === 'string') {
    if (plan === 'wording') return redactor.wording(value);
    if (plan === 'base64') return Buffer.from(redactor.bytes(Buffer.from(value, 'base64'))).toString('base64');
    return redactor.text(value);
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, itemOf(plan), redactor));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (typeof value === 'object' && value !== null) {
    let copy: Record<string, unknown> | undefined;
    for (const [name, item] of Object.entries(value)) {
      const redacted = redactValue(item, fieldOf(plan, name), redactor);
      if (redacted === item) continue;
      copy ??= { ...value };
      copy[name] = redacted;
    }
    return copy ?? value;
  }
  return value;
}

/** Longer chains of causes are cut, which also ends a circular chain. */
const MAX_CAUSES = 8;

function redactOther(error: Error, cause: { cause?: unknown }, redactor: Redactor, depth: number): Error {
  const message = redactor.text(error.message);
  const copy =
    error instanceof AggregateError
      ? new AggregateError(
          error.errors.map((inner: unknown) => redactDeep(inner, redactor, depth + 1)),
          message,
          cause,
        )
      : new Error(message, cause);
  copy.name = redactor.text(error.name);
  if ('code' in error && typeof error.code === 'string') Object.assign(copy, { code: redactor.text(error.code) });
  return copy;
}

function redactDeep(error: unknown, redactor: Redactor, depth: number): Error {
  if (!(error instanceof Error)) return new Error(redactor.text(String(error)));
  const inner =
    error.cause === undefined || depth >= MAX_CAUSES ? undefined : redactDeep(error.cause, redactor, depth + 1);
  const cause = inner === undefined ? {} : { cause: inner };
  const copy =
    error instanceof HookproofError
      ? new HookproofError(error.code, redactor.text(error.message), {
          hint: redactor.text(error.hint),
          kind: error.kind,
          ...cause,
        })
      : redactOther(error, cause, redactor, depth);
  copy.stack = redactor.text(error.stack ?? '');
  return copy;
}
