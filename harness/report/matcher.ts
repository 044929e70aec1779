/** Finding secrets in text: every occurrence of every form, overlapping ones included. */

/** A form of a secret. `weak` forms come from values that may be ordinary words and are not looked for in our own wording. */
export interface Form {
  readonly text: string;
  readonly name: string;
  readonly weak: boolean;
}

/** A part of a text that must not be shown: from `start` up to and without `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** So many characters are searched for; the rest of a form is compared where they are found. */
const HEAD = 8;

const ASCII = /^[\x00-\x7f]*$/;

/** Folds ASCII letters and nothing else, so that positions stay what they are. */
export function foldCase(text: string): string {
  // Nearly every text, and several times as fast.
  if (ASCII.test(text)) return text.toLowerCase();
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** How many characters of the form stand at this place, from its beginning. */
function prefixAt(text: string, at: number, form: string): number {
  let length = 0;
  while (length < form.length && text[at + length] === form[length]) length += 1;
  return length;
}

/** Whether the text ends here, or is cut off with an ellipsis. */
function isCut(text: string, at: number): boolean {
  return at === text.length || text[at] === '…' || text.startsWith('...', at);
}

/**
 * Spans of the forms in the text, ignoring the case of ASCII letters. A part of a form counts too when it shows most of the
 * secret: its first three quarters (a key with one character changed), or eight characters where the text was cut.
 */
export function findForms(text: string, forms: readonly Form[], wording: boolean): Span[] {
  const folded = foldCase(text);
  const spans: Span[] = [];
  for (const form of forms) {
    if (wording && form.weak) continue;
    const head = form.text.slice(0, HEAD);
    for (let at = folded.indexOf(head); at >= 0; at = folded.indexOf(head, at + 1)) {
      const length = prefixAt(folded, at, form.text);
      if (length >= form.text.length * 0.75 || (!wording && isCut(folded, at + length))) {
        spans.push({ start: at, end: at + length, name: form.name });
      }
    }
  }
  return spans;
}

/** Overlapping spans become one, under the name of the longest of them. In order of position. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: { start: number; end: number; name: string; longest: number }[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    const length = span.end - span.start;
    if (last === undefined || span.start >= last.end) {
      merged.push({ ...span, longest: length });
      continue;
    }
    last.end = Math.max(last.end, span.end);
    if (length > last.longest) {
      last.longest = length;
      last.name = span.name;
    }
  }
  return merged;
}

/** The text with every span replaced by the marker for its name. */
export function replaceSpans(text: string, spans: readonly Span[], markerFor: (name: string) => string): string {
  let result = '';
  let from = 0;
  for (const span of mergeSpans(spans)) {
    result += text.slice(from, span.start) + markerFor(span.name);
    from = span.end;
  }
  return result + text.slice(from);
}
