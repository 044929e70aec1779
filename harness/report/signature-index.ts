/**
 * The right signatures of a run, and finding them in text. A run has one for every delivery, so a text is not searched
 * for each of them: the runs of base64 and hex characters in it are looked up by their first characters.
 */
import { foldCase, type Span } from '../../contract/find-secrets.ts';

/** A base64, base64url or hex character, also percent-encoded or with the slash escaped as in JSON. */
const UNIT = /[A-Za-z0-9+/_-]|%2[bf]|\\\/|\\u002[bf]/gi;
const RUN = /(?:[A-Za-z0-9+/_-]|%2[bf]|\\\/|\\u002[bf]){12,}/gi;
const PADDING = /^(?:=|%3d|\\u003d){1,2}/i;

/** Shorter digests are not signatures, and would match by chance. */
const MIN_DIGEST_BYTES = 12;
/** So many characters identify a signature. */
const HEAD = 12;

/** One spelling for all: lower case, base64url alphabet. */
function canonical(unit: string): string {
  switch (foldCase(unit)) {
    case '+':
    case '%2b':
    case '\\u002b':
      return '-';
    case '/':
    case '%2f':
    case '\\/':
    case '\\u002f':
      return '_';
    default:
      return foldCase(unit);
  }
}

interface Run {
  readonly text: string;
  /** Where the character at this place of the run begins in the original text; where the run ends, for its length. */
  readonly offset: (at: number) => number;
}

function readRun(source: string, start: number): Run {
  if (!/[%\\]/.test(source)) {
    return { text: foldCase(source).replaceAll('+', '-').replaceAll('/', '_'), offset: (at) => start + at };
  }
  const offsets: number[] = [];
  let text = '';
  for (const match of source.matchAll(UNIT)) {
    offsets.push(start + match.index);
    text += canonical(match[0]);
  }
  return { text, offset: (at) => offsets[at] ?? start + source.length };
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

export interface SignatureIndex {
  /** Registers a signature in base64; its base64url, unpadded and hex spellings are found as well. */
  add(base64: string): void;
  /**
   * The positions of signatures in the text, whole or from their beginning: a cut or changed one shows most of the
   * right one.
   */
  find(text: string, name: string): Span[];
}

export function createSignatureIndex(): SignatureIndex {
  /** Canonical spellings by their first characters. */
  const byHead = new Map<string, string[]>();

  const register = (spelling: string): void => {
    const head = spelling.slice(0, HEAD);
    const known = byHead.get(head) ?? [];
    if (!known.includes(spelling)) byHead.set(head, [...known, spelling]);
  };

  const findIn = (run: Run, text: string, name: string): Span[] => {
    const spans: Span[] = [];
    for (let at = 0; at + HEAD <= run.text.length; at += 1) {
      for (const spelling of byHead.get(run.text.slice(at, at + HEAD)) ?? []) {
        const length = commonPrefix(run.text.slice(at, at + spelling.length), spelling);
        const end = run.offset(at + length);
        const padding = PADDING.exec(text.slice(end, end + 12))?.[0].length ?? 0;
        spans.push({ start: run.offset(at), end: end + padding, name });
      }
    }
    return spans;
  };

  return {
    add(base64) {
      const digest = Buffer.from(base64, 'base64');
      if (digest.length < MIN_DIGEST_BYTES) return;
      register(foldCase(digest.toString('base64url')));
      register(digest.toString('hex'));
    },
    find(text, name) {
      if (byHead.size === 0) return [];
      return Array.from(text.matchAll(RUN)).flatMap((match) => findIn(readRun(match[0], match.index), text, name));
    },
  };
}
