/** Loads the fault dictionary when it is needed: it is large, and only a run with failures and `explain` ask for it. */
import { readFile } from 'node:fs/promises';
import type { FaultDictionary } from './fault-dictionary.ts';

/**
 * Where the file is, seen from the sources, from the compiled library, and from the bundled program. It is read and not imported: an import of
 * JSON prints a warning in Node 20, and takes longer.
 */
const PLACES = ['../../scenarios/', '../../../scenarios/'].map((path) => `${path}fault-dictionary.json`);

const EMPTY: FaultDictionary = { schemaVersion: 1, catalogue: '', faults: [] };

let loading: Promise<FaultDictionary> | undefined;

/** Reads it once in a process. Empty when the file is not there: a run stands without a diagnosis. */
export function loadDictionary(): Promise<FaultDictionary> {
  loading ??= readFirst(PLACES.map((place) => new URL(place, import.meta.url)));
  return loading;
}

async function readFirst(files: readonly URL[]): Promise<FaultDictionary> {
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => null);
    // The shape is that of the generator, which a test holds against the file; checking it again here would cost more than reading it.
    if (text !== null) return JSON.parse(text) as FaultDictionary;
  }
  return EMPTY;
}
