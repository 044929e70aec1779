/** Whether result documents are the shards of one run. Pure. */
import { HookproofError } from '../../contract/index.ts';
import { CATALOGUE, catalogueDigest } from '../../scenarios/index.ts';
import { visible } from '../report/index.ts';
import type { ResultDocument, ScenarioResult } from '../result/result-document.ts';
import { version } from '../version.ts';

/** A result document and what messages call it. */
export interface NamedDocument {
  readonly name: string;
  readonly document: ResultDocument;
}

type Record = NonNullable<ResultDocument['shardRecord']>;
export type Shard = ResultDocument & { readonly shard: { index: number; of: number }; readonly shardRecord: Record };

function refusal(reason: string, hint: string): HookproofError {
  // What the documents say is anybody's.
  const message = `these are not the shards of one run: ${visible(reason)}`;
  return new HookproofError('SHARDS_DO_NOT_FIT', message, { hint: visible(hint) });
}

/** What all shards of a run have in common, with what to do about it. */
const COMMON: readonly (readonly [what: string, of: (shard: Shard) => unknown, hint: string])[] = [
  ['number of shards', ({ shard }) => shard.of, 'Give each its place among as many: 1/4, 2/4, 3/4, 4/4.'],
  ['seed', ({ seed }) => seed, 'Run every shard with the same --seed, for example the id of the build.'],
  ['version of hookproof', ({ tool }) => tool.version, 'Run every shard with the same version.'],
  ['digest of the catalogue', ({ catalogue }) => catalogue.digest, 'Run every shard with the same version.'],
  ['endpoint', ({ target }) => target.url, 'Run every shard against the same URL.'],
  ['set of features', ({ target }) => target.features, 'Give every shard the same credentials and certificates.'],
  ['profile', ({ profile }) => profile, 'Run every shard with the same --profile.'],
  [
    'revision of the catalogue',
    ({ scoring }) => [scoring?.revision, scoring?.digest],
    'Run every shard with the same --revision.',
  ],
  ['strictness', ({ strict }) => strict, 'Give --strict to every shard, or to none.'],
  [
    'baseline',
    ({ baseline, shardRecord }) => [baseline?.file, shardRecord.entries],
    'Give every shard the same --baseline.',
  ],
  ['stack', ({ shardRecord }) => shardRecord.stackGiven, 'Give every shard the same --stack.'],
];

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function asShard({ name, document }: NamedDocument): { name: string; shard: Shard } {
  const { shard, shardRecord } = document;
  if (shard !== null && shardRecord !== undefined) return { name, shard: { ...document, shard, shardRecord } };
  throw refusal(
    shard === null ? `${name} is a whole run` : `${name} was written by a version whose shards cannot be joined`,
    'Merge what `hookproof run --shard i/n --reporter json=FILE` wrote.',
  );
}

/** Where a scenario stands in the catalogue. */
const PLACES = new Map(CATALOGUE.flatMap(({ scenarios }) => scenarios).map(({ id }, at) => [id, at]));

/** The results as they were dealt out: one of each shard in turn, in the order of the catalogue. */
export function dealtBack(shards: readonly Pick<ResultDocument, 'results'>[]): ScenarioResult[] {
  const longest = Math.max(...shards.map(({ results }) => results.length));
  return Array.from({ length: longest }, (_, at) => shards.flatMap(({ results }) => results[at] ?? [])).flat();
}

function refuseOtherSelections(shards: readonly Shard[]): void {
  const places = dealtBack(shards).map(({ id }) => PLACES.get(id));
  const lengths = shards.map(({ results }) => results.length);
  const ordered = places.every((place, at) => place !== undefined && (at === 0 || place > (places[at - 1] ?? place)));
  const fair = lengths.every((length, at) => length === Math.floor((places.length - at - 1) / shards.length) + 1);
  if (ordered && fair) return;
  throw refusal(
    'their checks were not dealt from one selection',
    'Give every shard the same --suite, --scenario and --grep.',
  );
}

/**
 * The shards in their order.
 *
 * @throws HookproofError SHARDS_DO_NOT_FIT with the first reason and what to do about it
 */
export function shardsOfOneRun(documents: readonly NamedDocument[]): Shard[] {
  const named = documents.map(asShard);
  const [first] = named;
  if (first === undefined) throw refusal('there are none', 'Name the JSON reports of all shards.');
  for (const [what, of, hint] of COMMON) {
    const wanted = JSON.stringify(of(first.shard));
    const other = named.find(({ shard }) => JSON.stringify(of(shard)) !== wanted);
    if (other === undefined) continue;
    const values = `${shown(of(first.shard))} in ${first.name}, ${shown(of(other.shard))} in ${other.name}`;
    throw refusal(`the ${what} is not the same: ${values}`, hint);
  }
  const { catalogue, tool, shard } = first.shard;
  if (tool.version !== version || catalogue.digest !== catalogueDigest()) {
    throw refusal(
      `they were written by hookproof ${shown(tool.version)}, and this is ${version}${tool.version === version ? ' with another catalogue' : ''}`,
      'Merge them with the version that wrote them.',
    );
  }
  const leaves = named.flatMap((one) => {
    const [leaf] = one.shard.target.tls?.chain ?? [];
    return leaf === undefined ? [] : [{ name: one.name, fingerprint: leaf.fingerprint }];
  });
  const changed = leaves.find(({ fingerprint }) => fingerprint !== leaves[0]?.fingerprint);
  if (changed !== undefined) {
    throw refusal(
      `the endpoint served another certificate in ${changed.name} than in ${leaves[0]?.name}`,
      'Run all shards again: the certificate was changed, or several machines answer.',
    );
  }
  const places = Array.from({ length: shard.of }, (_, at) => named.filter((one) => one.shard.shard.index === at + 1));
  const doubled = places.find((some) => some.length > 1);
  if (doubled !== undefined) {
    const place = doubled[0]?.shard.shard.index;
    throw refusal(
      `shard ${place} of ${shard.of} is there twice (${doubled.map(({ name }) => name).join(', ')})`,
      'Name each shard once.',
    );
  }
  const missing = places.flatMap((some, at) => (some.length === 0 ? [at + 1] : []));
  if (missing.length > 0) {
    throw refusal(
      `${missing.length === 1 ? 'shard' : 'shards'} ${missing.slice(0, 10).join(', ')}${missing.length > 10 ? ', ...' : ''} of ${shard.of} ${missing.length === 1 ? 'is' : 'are'} missing`,
      `Run what is missing, with --seed ${shown(first.shard.seed)}, and name all ${shard.of} reports.`,
    );
  }
  const shards = places.flatMap((some) => some.map((one) => one.shard));
  refuseOtherSelections(shards);
  return shards;
}
