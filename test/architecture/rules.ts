/** The architecture as data, and the rules that check the imports. */
import type { Import } from './imports.ts';

interface Module {
  /** The other modules that the module may import. */
  readonly imports: readonly string[];
  /**
   * The files that other modules may import. All of them except `index.ts` are small, and load neither zod nor yaml.
   */
  readonly entryPoints: readonly string[];
}

const INDEX = ['index.ts'];
const HARNESS = ['contract', 'scenarios', 'certs'];

/** The modules. All modules of harness/ share the files that are directly in it. */
export const MODULES: Readonly<Record<string, Module>> = {
  contract: {
    imports: [],
    entryPoints: [
      ...INDEX,
      'amounts.ts',
      'api-documents.ts',
      'browser-requests.ts',
      'decoded-texts.ts',
      'delivery-reasons.ts',
      'effects.ts',
      'find-secrets.ts',
      'hookproof-error.ts',
      'hosts.ts',
      'masked-url.ts',
      'mistakes/index.ts',
      'optional-package.ts',
      'parse-json.ts',
      'package-file.ts',
      'secret-spellings.ts',
      'shell-word.ts',
      'signing/index.ts',
      'signing/schemes/check-scheme.ts',
      'signing/schemes/parse-scheme.ts',
      'signing/schemes/scheme.ts',
      'signing/schemes/schemes.ts',
      'signing/schemes/sign-scheme.ts',
      'stacks.ts',
      'visible.ts',
    ],
  },
  receiver: { imports: ['contract'], entryPoints: [...INDEX, 'inbox/index.ts'] },
  mutants: { imports: ['contract', 'receiver', 'scenarios'], entryPoints: INDEX },
  scenarios: { imports: ['contract'], entryPoints: [...INDEX, 'profiles.ts'] },
  certs: { imports: ['contract'], entryPoints: INDEX },
  harness: {
    imports: HARNESS,
    entryPoints: [
      'fleet.ts',
      'library.ts',
      'nearest-name.ts',
      'partner.ts',
      'start-command.ts',
      'state-folder.ts',
      'to-json-schema.ts',
      'version.ts',
      'writable.ts',
      'yaml-text.ts',
    ],
  },
  'harness/certify': {
    imports: HARNESS,
    entryPoints: [...INDEX, 'canonical-json.ts', 'dsse.ts', 'keys.ts', 'revision.ts'],
  },
  'harness/cli': { imports: HARNESS, entryPoints: [] },
  'harness/config': {
    imports: HARNESS,
    entryPoints: [...INDEX, 'read-baseline.ts', 'read-file.ts', 'selection.ts', 'settings.ts'],
  },
  'harness/console': { imports: HARNESS, entryPoints: INDEX },
  'harness/diagnose': { imports: HARNESS, entryPoints: INDEX },
  'harness/doctor': { imports: HARNESS, entryPoints: INDEX },
  'harness/effects': { imports: HARNESS, entryPoints: INDEX },
  'harness/judge': { imports: HARNESS, entryPoints: INDEX },
  'harness/log': { imports: HARNESS, entryPoints: INDEX },
  'harness/mcp': { imports: HARNESS, entryPoints: INDEX },
  'harness/operate': { imports: HARNESS, entryPoints: INDEX },
  'harness/probe': { imports: HARNESS, entryPoints: INDEX },
  'harness/proxy': { imports: HARNESS, entryPoints: INDEX },
  'harness/register': { imports: HARNESS, entryPoints: [...INDEX, 'record.ts', 'standing.ts'] },
  'harness/report': {
    imports: HARNESS,
    entryPoints: [...INDEX, 'html/index.ts', 'reporters.ts', 'result-document.ts', 'shown-causes.ts', 'verdict.ts'],
  },
  'harness/run': { imports: HARNESS, entryPoints: INDEX },
  'harness/sender': { imports: HARNESS, entryPoints: INDEX },
  'harness/vitest': { imports: HARNESS, entryPoints: INDEX },
  'harness/transport': { imports: HARNESS, entryPoints: INDEX },
};

/** The only file of the harness that imports the receiver and the mutants, for commands that serve them. */
export const RECEIVER_ENTRY = 'harness/cli/receiver-entry.ts';

const isOurs = (path: string) => /\.(?:ts|json)$/.test(path);
const areaOf = (path: string) => path.split('/')[0] ?? '';

/** Returns the module of a file: its top-level folder, or its folder within harness/. */
export function moduleOf(path: string): string {
  const [top = '', inner = '', ...rest] = path.split('/');
  return top === 'harness' && rest.length > 0 ? `${top}/${inner}` : top;
}

/** Returns whether an import violates the direction of the architecture. */
export function isWrongWay({ from, to }: Import): boolean {
  if (!isOurs(to) || areaOf(from) === areaOf(to)) return false;
  if (from === RECEIVER_ENTRY && ['receiver', 'mutants'].includes(areaOf(to))) return false;
  return MODULES[moduleOf(from)]?.imports.includes(areaOf(to)) !== true;
}

/** Returns whether the judge, which is pure, imports the configuration of a run. */
export function readsConfiguration({ from, to }: Import): boolean {
  return moduleOf(from) === 'harness/judge' && moduleOf(to) === 'harness/config';
}

/** Returns whether an import reaches into another module. */
export function bypassesEntryPoint({ from, to }: Import): boolean {
  // The public API of the harness is what its index re-exports from its modules.
  if (!isOurs(to) || moduleOf(from) === moduleOf(to) || from === 'harness/index.ts') return false;
  // A mutant replaces a stage inside the receiver.
  if (moduleOf(from) === 'mutants' && moduleOf(to) === 'receiver') return false;
  const module = moduleOf(to);
  return MODULES[module]?.entryPoints.includes(to.slice(module.length + 1)) !== true;
}

/** Returns the entry points, except index.ts, that no other module imports. */
export function unusedEntryPoints(imports: readonly Import[]): string[] {
  const used = new Set(imports.filter(({ from, to }) => moduleOf(from) !== moduleOf(to)).map(({ to }) => to));
  return Object.entries(MODULES)
    .flatMap(([name, { entryPoints }]) => entryPoints.map((file) => `${name}/${file}`))
    .filter((path) => !path.endsWith('/index.ts') && !used.has(path));
}

/** Returns the files of the first import cycle, in order. Empty if there is none. */
export function findCycle(imports: readonly Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) if (isOurs(to)) targets.set(from, [...(targets.get(from) ?? []), to]);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const target of targets.get(file) ?? []) {
      const cycle = visit(target, [...path, file]);
      if (cycle.length > 0) return cycle;
    }
    done.add(file);
    return [];
  };
  for (const file of targets.keys()) {
    const cycle = visit(file, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

const MAX_LINE = 120;
const CODE = /\.(?:ts|mjs|js|css|html|py|java|php|rb|go|pl|sh|ya?ml)$|^\.ci\/|(?:Docker|Jenkins)file$/;
/** The inputs of test vectors, each on one line. */
const DATA = 'scenarios/vectors/';

/** Returns the lines of a code file that are too long, with their numbers. */
export function longLines(path: string, source: string): string[] {
  if (!CODE.test(path) || path.startsWith(DATA)) return [];
  return source.split('\n').flatMap((line, at) => ([...line].length > MAX_LINE ? [`${path}:${at + 1}`] : []));
}

export function isKebabCase(path: string): boolean {
  const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:(?:\.(?:slow|sampled|proof))?\.test)?(?:\.d)?(?:\.[a-z]+)?$/;
  return path.split('/').every((part) => kebabCase.test(part));
}

export function isCatchAll(path: string): boolean {
  return /(?:^|[/-])(?:utils?|helpers?|common|misc)(?:[.-]|$)/.test(path.split('/').at(-1) ?? '');
}

export function hasDefaultExport(source: string): boolean {
  return /^export\s+default\b|\bas\s+default\b\s*[,}]/m.test(source);
}
