/**
 * Attacks the console and what `hookproof operate` reads, on a real PostgreSQL: without a token, from other pages and
 * hosts, through paths, markup and SQL, with forged rows and records, with the files of partners and the URLs for
 * notices. Each attack reports what it tried and what it got. Then each group attacks a build without the defence
 * against it, where it must succeed.
 *
 * Exits with 1 if an attack succeeds, or if one that must succeed does not. `--only GROUP` runs only one group. Run by
 * `npm run proofs -- attack-console`.
 */
import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../../setup/postgres.ts';
import { programIn, sourcesIn, WEAKENINGS, weakenedBuild } from './builds.ts';
import { exchange } from './exchange.ts';
import { attackOperate } from './operate.ts';
import { attacksOn } from './requests.ts';
import { attackFiles, attackNotices, type Tried } from './sources.ts';
import { endProcesses, FORGED_ROWS, FORGERIES, MARKUP, openStage, type Stage } from './stage.ts';

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, verbose: { type: 'boolean', default: false } },
});
const isWanted = (group: string) => values.only === undefined || values.only.includes(group);
const print = (line: string) => process.stdout.write(`${line}\n`);

/** The attacks of one group, in the order in which they are made. */
interface Group {
  readonly group: string;
  readonly tried: readonly Tried[];
}

async function attackOverHttp(stage: Stage, wanted: (group: string) => boolean): Promise<Group[]> {
  const groups = new Map<string, Tried[]>();
  for (const attack of attacksOn(stage.target)) {
    const { got, group, isPublic, name } = attack;
    if (!wanted(group)) continue;
    const answer = await exchange(isPublic === true ? stage.ports.public : stage.ports.local, attack);
    const own = groups.get(group) ?? [];
    own.push({ name, got: got(answer) });
    groups.set(group, own);
  }
  return [...groups].map(([group, tried]) => ({ group, tried }));
}

interface Listed {
  readonly partner: string;
  readonly mayGetTraffic: boolean;
}

/** Checks whether a forgery is trusted: in the answer about its partner, in the list, and in the counts. */
async function attackWithForgeries({ pool, ports }: Stage): Promise<Tried[]> {
  const json = async <T>(target: string): Promise<T> => {
    const { body, status } = await exchange(ports.local, { target });
    if (status !== 200 && status !== 404) throw new Error(`${target}: ${status} ${body}`);
    return JSON.parse(body);
  };
  const { partners } = await json<{ partners: Listed[] }>('/api/partners?limit=200&sort=name');
  const listed = new Map(partners.map(({ mayGetTraffic, partner }) => [partner, mayGetTraffic]));
  const tried: Tried[] = [];
  for (const [partner, how] of [...FORGERIES, ...FORGED_ROWS]) {
    const one = await json<Partial<Listed>>(`/api/partners/${partner}`);
    const isBelieved = one.mayGetTraffic === true || listed.get(partner) !== false;
    tried.push({ name: how, got: isBelieved ? `${partner} may get traffic` : null });
  }
  const totals = await json<Record<string, number>>('/api/totals');
  const counted = (totals.certified ?? 0) + (totals.allowed ?? 0);
  tried.push({ name: 'the number of partners with traffic', got: counted === 1 ? null : `${counted}, expected 1` });
  tried.push({ name: 'the one with a genuine grant', got: listed.get('good') === true ? null : 'it gets no traffic' });
  const rows = await pool.query("SELECT FROM hookproof_register WHERE partner = 'good'");
  tried.push({ name: 'the attacks before have left no record', got: rows.rowCount === 1 ? null : `${rows.rowCount}` });
  const audit = await pool.query('SELECT FROM hookproof_audit WHERE who <> $1', [MARKUP]);
  tried.push({ name: 'the attacks before have left no entry in the audit', got: audit.rowCount === 0 ? null : 'some' });
  return tried;
}

async function attackAll(build: string | null, server: string, wanted: (group: string) => boolean): Promise<Group[]> {
  const groups: Group[] = [];
  if (wanted('file')) groups.push({ group: 'file', tried: await attackFiles(sourcesIn(build)) });
  if (wanted('notice')) groups.push({ group: 'notice', tried: await attackNotices(sourcesIn(build)) });
  const needsConsole = [
    'token',
    'reading',
    'origin',
    'host',
    'proxy',
    'path',
    'script',
    'sql',
    'paging',
    'forgery',
    'operate',
  ];
  if (!needsConsole.some(wanted)) return groups;
  const stage = await openStage(programIn(build), server);
  try {
    groups.push(...(await attackOverHttp(stage, wanted)));
    if (wanted('forgery')) groups.push({ group: 'forgery', tried: await attackWithForgeries(stage) });
    if (wanted('operate')) groups.push({ group: 'operate', tried: await attackOperate(stage, programIn(build)) });
    return groups;
  } finally {
    await stage.close();
    await rm(stage.folder, { recursive: true, force: true });
  }
}

const server = await startPostgres();
if (server === null) throw new Error('PostgreSQL is not installed');
const problems: string[] = [];
try {
  const groups = await attackAll(null, server.url, isWanted);
  for (const { group, tried } of groups) {
    const succeeded = tried.filter(({ got }) => got !== null);
    print(`${succeeded.length === 0 ? '✓' : '✗'} ${group}: ${tried.length} attacks, ${succeeded.length} succeeded`);
    for (const { got, name } of tried) {
      if (got !== null || values.verbose)
        print(`    ${got === null ? 'refused' : `GOT ${got}`}  ${JSON.stringify(name)}`);
    }
    problems.push(...succeeded.map(({ name }) => `${group}: ${name}`));
  }
  for (const weakening of WEAKENINGS.filter(({ group }) => isWanted(group))) {
    const build = await weakenedBuild(weakening);
    try {
      const [only] = await attackAll(build, server.url, (group) => group === weakening.group);
      const succeeded = only?.tried.filter(({ got }) => got !== null) ?? [];
      const [first] = succeeded;
      const shown = first === undefined ? '' : `: ${JSON.stringify(first.name)} got ${first.got}`;
      print(`${first === undefined ? '✗' : '✓'} without ${weakening.without}, ${succeeded.length} succeed${shown}`);
      if (first === undefined) problems.push(`no attack notices a build without ${weakening.without}`);
    } finally {
      await rm(build, { recursive: true, force: true });
    }
  }
} finally {
  endProcesses();
  await server.remove();
}
for (const problem of problems) print(`✗ ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;
