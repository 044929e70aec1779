import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsOf, createProgram } from '../../harness/cli/program.ts';
import { CATALOGUE, REQUIREMENTS } from '../../scenarios/index.ts';
import { ROOT } from './imports.ts';

const FOLDER = join(ROOT, 'docs/reference');
const page = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

// `npm run check:docs` compares the pages with the tables in the code.
describe('the reference pages', () => {
  it('have a heading for every scenario, requirement and command', () => {
    const headings = new Set(readdirSync(FOLDER).flatMap((name) => page(name).match(/^#{2,3} .*$/gm) ?? []));
    const commands = commandsOf(createProgram(() => {})).map(({ name }) => name);
    const due = [
      ...CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => `### \`${id}\``)),
      ...REQUIREMENTS.map(({ id }) => `### ${id}`),
      ...commands.map((name) => `## hookproof ${name}`),
    ];
    expect(due.filter((heading) => !headings.has(heading))).toEqual([]);
  });

  it('have valid links, and no raw markup', () => {
    const anchors = new Set(REQUIREMENTS.map(({ id }) => `requirements.md#${id}`));
    const suites = new Set(CATALOGUE.map(({ name }) => `#${name}`));
    const links = [...page('scenarios.md').matchAll(/\]\(([^)\s]+\.md#[^)\s]+|#[^)\s]+)\)/g)].map(
      ([, link = '']) => link,
    );
    expect(links.length).toBeGreaterThan(500);
    expect(links.filter((link) => !anchors.has(link) && !suites.has(link))).toEqual([]);
    const bare = readdirSync(FOLDER).filter((name) => /<(?!!--)/.test(page(name).replace(/`[^`\n]*`/g, '')));
    expect(bare).toEqual([]);
  });
});
