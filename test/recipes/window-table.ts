/**
 * Creates the part of docs/recipes.md about the effects windows: their numbers of lines, and the ones that no test
 * runs.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { filesOf, recipeOf, type Stack, titleOfStack } from '../../contract/index.ts';
import { markdownTable } from '../setup/markdown-table.ts';

const ROOT = fileURLToPath(new URL('../../recipes/', import.meta.url));

/** The first recipe with each window. */
export const WINDOWS = ['express', 'python', 'go', 'java', 'spring', 'php', 'ruby', 'dotnet', 'rust'] as const;

const linesOf = (file: string): number =>
  readFileSync(ROOT + file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length;

/** Returns the file of the window among the files of a recipe, as a path in `recipes/`. */
function windowFileOf(stack: Stack): string {
  return filesOf(recipeOf(stack)).find(({ from }) => /\beffects\.\w+$/i.test(from))?.from ?? '';
}

export function windowTable(): string {
  const rows = WINDOWS.map((stack) => {
    const { effects, notRun } = recipeOf(stack);
    const file = windowFileOf(stack);
    const tested = notRun === undefined ? 'yes' : `no: ${notRun}`;
    return [titleOfStack(stack).language, `\`${file}\``, linesOf(file), `\`${effects}\``, tested];
  });
  const lines = (file: string) => `\`${file}\` (${linesOf(file)} lines)`;
  return `## The effects window

A command prints what the receiver stored for a query; \`npm run test:slow\` runs those whose toolchain is installed.
The lines are those that are not blank, with comments. Two programs serve any of the commands as an endpoint:
${lines('effects-server.mjs')} and ${lines('effects-server.py')}.

${markdownTable(['language', 'file', 'lines', 'command', 'run by the tests'], rows)}
`;
}
