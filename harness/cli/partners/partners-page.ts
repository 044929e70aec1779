/** Generates the page and the table of all partners in the output folder from the register. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Changed, Standing } from '../../register/index.ts';
import { renderFleetCsv, renderFleetHtml, replaceFile } from '../../report/index.ts';
import { FLEET_FOLDER, type RegisterFlags } from './register-input.ts';

const FILES = { csv: 'fleet.csv', html: 'fleet.html' } as const;

interface PageParts {
  readonly changes?: { readonly since: string; readonly changed: readonly Changed[] } | null;
  readonly caveats?: readonly string[];
}

/** Writes `fleet.html` and `fleet.csv`, unless there is no output folder. */
export async function writePartnersPage(
  { outputDir = FLEET_FOLDER }: RegisterFlags,
  standings: readonly Standing[],
  { changes = null, caveats = [] }: PageParts = {},
): Promise<void> {
  const folders = await readdir(outputDir, { withFileTypes: true }).catch(() => null);
  if (folders === null) return;
  const known = new Set(standings.map(({ partner }) => partner));
  const files = new Map<string, readonly string[]>();
  for (const entry of folders) {
    if (entry.isDirectory() && known.has(entry.name)) files.set(entry.name, await readdir(join(outputDir, entry.name)));
  }
  const view = { at: new Date().toISOString(), standings, changes, files, caveats };
  await replaceFile(join(outputDir, FILES.csv), await renderFleetCsv(standings));
  await replaceFile(join(outputDir, FILES.html), await renderFleetHtml(view));
}
