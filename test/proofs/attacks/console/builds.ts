/**
 * Weakened builds: copies of the sources, each without one defence. The attacks of its group must succeed against it.
 */
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Program } from './stage.ts';

export interface Weakening {
  /** The group of attacks that the build does not stop. */
  readonly group: string;
  readonly without: string;
  readonly file: string;
  /** The text that is replaced. It must occur in the file. */
  readonly from: string | RegExp;
  readonly to: string;
}

export const WEAKENINGS: readonly Weakening[] = [
  {
    group: 'host',
    without: 'the check of the host',
    file: 'contract/browser-requests.ts',
    from: /(export function isAnsweredHost\([^{]*\{)/,
    to: '$1 if (Date.now() > 0) return true;',
  },
  {
    group: 'origin',
    without: 'the check of the origin',
    file: 'contract/browser-requests.ts',
    from: /(export function isForeignRequest\([^{]*\{)/,
    to: '$1 if (Date.now() > 0) return false;',
  },
  {
    group: 'token',
    without: 'the comparison of the token',
    file: 'harness/console/tokens.ts',
    from: 'if (isSameText(token, given)) found = name;',
    to: 'if (given !== token.repeat(9)) found = name;',
  },
  {
    group: 'reading',
    without: 'a token for reading',
    file: 'harness/console/access.ts',
    from: /this\.#isClosed = [^;]+;/,
    to: 'this.#isClosed = false;',
  },
  {
    group: 'proxy',
    without: 'its own headers only: it trusts those of a proxy',
    file: 'harness/console/server.ts',
    from: `\`\${req.protocol}://\${req.headers.host}\``,
    to: `\`\${req.protocol}://\${req.headers["x-forwarded-host"] ?? req.headers.host}\``,
  },
  {
    group: 'path',
    without: 'the check where a link leads',
    file: 'harness/console/runs.ts',
    from: 'return path.startsWith(root + sep) ? path : null;',
    to: 'return path.startsWith(root + sep) || true ? path : null;',
  },
  {
    group: 'script',
    without: 'escaping',
    file: 'harness/report/html/markup.ts',
    from: "(character) => ENTITIES[character] ?? ''",
    to: '(character) => character',
  },
  {
    group: 'sql',
    without: 'parameters in the search',
    file: 'harness/console/standings.ts',
    from: `lower(\${param(q)})`,
    to: `lower('\${q}')`,
  },
  {
    group: 'paging',
    without: 'a limit of the page',
    file: 'harness/console/schemas.ts',
    from: 'z.coerce.number().int().min(1).max(200).default(50)',
    to: 'z.coerce.number().default(50)',
  },
  {
    group: 'forgery',
    without: 'the check of the signature',
    file: 'harness/register/record.ts',
    from: '|| !isSignedBy(envelope, key)',
    to: '|| (!isSignedBy(envelope, key) && Date.now() === 0)',
  },
  {
    group: 'forgery',
    without: 'the check of the name in a grant',
    file: 'harness/register/record.ts',
    from: 'if (data.partner !== partner)',
    to: 'if (data.partner !== partner && Date.now() === 0)',
  },
  {
    group: 'operate',
    without: 'the check of the name in a job',
    file: 'harness/cli/operate/partner-job.ts',
    from: 'partner: fleetPartner.shape.name',
    to: 'partner: z.string()',
  },
  {
    group: 'file',
    without: 'the scope of variables',
    file: 'harness/config/secrets.ts',
    from: 'if (name.startsWith(prefix)) return null;',
    to: 'if (name.startsWith(prefix) || Date.now() > 0) return null;',
  },
  {
    group: 'file',
    without: 'the scope of files',
    file: 'harness/config/secrets.ts',
    from: 'if (scope?.partner == null) return null;\n  const { partner, folder',
    to: 'if (scope?.partner == null || Date.now() > 0) return null;\n  const { partner, folder',
  },
  {
    group: 'file',
    without: 'the list of what a partner may set',
    file: 'harness/config/config-file.ts',
    from: "if (isSetBy(partner === null ? 'defaults' : 'partner', setting)) return true;",
    to: 'if (setting !== undefined) return true;',
  },
  {
    group: 'notice',
    without: 'the check of the address',
    file: 'harness/operate/send-notice.ts',
    from: /pinEndpoint\(url, \{ policy, /,
    to: 'pinEndpoint(url, { ',
  },
  {
    group: 'notice',
    without: 'refusing redirects',
    file: 'harness/transport/pinned-fetch.ts',
    from: "redirect: 'manual'",
    to: "redirect: 'follow'",
  },
];

const ROOT = new URL('../../../../', import.meta.url).pathname;
const SOURCES = ['certs', 'contract', 'harness', 'mutants', 'receiver', 'scenarios', 'package.json', 'tsconfig.json'];

/** Copies the sources and removes the defence. Returns the folder of the copy. */
export async function weakenedBuild({ file, from, to, without }: Weakening): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-weakened-'));
  for (const source of SOURCES) await cp(join(ROOT, source), join(folder, source), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const text = await readFile(join(folder, file), 'utf8');
  const weak = text.replace(from, to);
  if (weak === text) throw new Error(`${file} has nothing to remove for a build without ${without}`);
  await writeFile(join(folder, file), weak);
  return folder;
}

/** Returns the command that runs the sources in a folder, or the compiled program if `folder` is null. */
export function programIn(folder: string | null): Program {
  if (folder === null) return [process.execPath, join(ROOT, 'dist/bin/hookproof.js')];
  return [
    process.execPath,
    '--import',
    join(ROOT, 'node_modules/tsx/dist/loader.mjs'),
    join(folder, 'harness/cli/main.ts'),
  ];
}

/** Returns the folder from which modules are imported. */
export function sourcesIn(folder: string | null): string {
  return folder ?? ROOT;
}
