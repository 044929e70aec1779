/** Relative links in the documents lead to a file, and to a heading that it has. Numbers of checks are current. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CATALOGUE } from '../../scenarios/index.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md', 'llms.txt'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const documents = listed.split('\n').filter((file) => file !== '' && existsSync(join(ROOT, file)));

const LINK = /\]\(([^)\s]+)\)/g;
const withoutCode = (text: string) => text.replaceAll(/^(`{3,})[\s\S]*?^\1/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** Returns the anchors that GitHub gives to the headings of a document. */
function anchorsOf(file: string): ReadonlySet<string> {
  const headings = readFileSync(join(ROOT, file), 'utf8').matchAll(/^#{1,6} (.+)$/gm);
  const explicit = readFileSync(join(ROOT, file), 'utf8').matchAll(/<a (?:id|name)="([^"]+)"/g);
  const slug = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-');
  return new Set([
    ...[...headings].map(([, heading = '']) => slug(heading)),
    ...[...explicit].map(([, id = '']) => id),
  ]);
}

function brokenLinks(file: string): string[] {
  const links = [...withoutCode(readFileSync(join(ROOT, file), 'utf8')).matchAll(LINK)].map(([, to = '']) => to);
  return links.filter((to) => {
    if (/^[a-z]+:/i.test(to)) return false;
    const [path = '', anchor] = to.split('#');
    const target = path === '' ? file : join(dirname(file), decodeURIComponent(path));
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
  });
}

describe('the documents', () => {
  it.each(documents)('have no broken link in %s', (file) => {
    expect(brokenLinks(file)).toEqual([]);
  });

  it('show the number of checks that there are', () => {
    const checks = CATALOGUE.flatMap(({ scenarios }) => scenarios).length;
    const shown = (file: string, number: RegExp) => number.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1];
    expect(shown('README.md', / of (\d+) planned checks evaluated/)).toBe(`${checks}`);
    expect(shown('CHANGELOG.md', /`hookproof run`: (\d+) checks/)).toBe(`${checks}`);
  });

  it('are found', () => expect(documents).toContain('docs/guide.md'));
});
