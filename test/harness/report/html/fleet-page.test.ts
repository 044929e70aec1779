/** The page about many partners: as markup, and in a browser. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderFleetHtml } from '../../../../harness/report/index.ts';
import { launchChromium } from '../../../setup/chromium.ts';
import { lacks } from '../../../setup/programs.ts';
import { fleetWith, largeFleet, partnerWith } from '../../fleet/documents.ts';

describe('the page about many partners', () => {
  it('has the same tags and attributes whatever its texts contain', async () => {
    const withText = (text: string) => {
      const bad = partnerWith('bad', 'failed', 1, {
        url: `https://x.example/${text}`,
        diagnosis: { fault: text, title: text },
        refusals: [{ code: text, message: text, fix: text }],
        suites: { [text]: { pass: 0, fail: 1, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 } },
      });
      return renderFleetHtml(fleetWith([bad, partnerWith('good', 'certified', 1)], { complete: false }));
    };
    const tagsOf = (page: string) => page.match(/<[^>]*>/g)?.map((tag) => tag.replace(/"[^"]*"/g, '""'));
    const page = await withText(`"><script>alert(1)</script><!-- \x1b[2J\u202e' onload=x`);
    expect(tagsOf(page)).toEqual(tagsOf(await withText('tame')));
    expect(page.match(/<script>/g)).toHaveLength(1);
    expect(page).not.toMatch(/[\x1b\u202e]/);
    expect(page).toContain('Incomplete:');
    expect(page).toContain('href="good/report.html"');
  });
});

describe.skipIf(lacks('chromium'))('the page about many partners in Chromium', () => {
  let folder = '';
  let browser: Browser;
  const complaints: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
    await writeFile(join(folder, 'fleet.html'), await renderFleetHtml(largeFleet(40)));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(options: BrowserContextOptions = {}) {
    const page = await (await browser.newContext(options)).newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(pathToFileURL(join(folder, 'fleet.html')).href);
    return page;
  }

  it('filters and sorts, and is whole without its script', async () => {
    const page = await open();
    const rows = () => page.locator('#fleet tbody tr:visible').count();
    const failed = largeFleet(40).totals.failed;
    await page.getByRole('button', { name: /^failed/ }).click();
    expect([await rows(), await page.locator('#found').textContent()]).toEqual([
      failed,
      `${failed} of 40 partners shown`,
    ]);
    await page.getByRole('button', { name: /^failed/ }).click();
    await page.getByLabel('Sort by').selectOption('name');
    expect(await page.locator('#fleet tbody b').first().textContent()).toBe('acme-1');
    await page.getByLabel('Find').fill('granite');
    expect(await rows()).toBe(5);

    const plain = await open({ javaScriptEnabled: false });
    expect(await plain.locator('#filter').isVisible()).toBe(false);
    expect(await plain.locator('#fleet tbody tr:visible').count()).toBe(40);
    expect(complaints).toEqual([]);
  });

  it.each([
    [1280, 'light'],
    [390, 'dark'],
  ] as const)('is accessible at %i pixels, %s, and no wider than the screen', async (width, colorScheme) => {
    const page = await open({ bypassCSP: true, colorScheme, viewport: { width, height: 900 } });
    await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
    const violations = await page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))');
    expect(violations).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  });
});
