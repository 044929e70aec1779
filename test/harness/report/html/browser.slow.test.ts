/** The pages in a browser, with and without their script. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AxeResults } from 'axe-core';
import fc from 'fast-check';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareRuns } from '../../../../harness/report/compare.ts';
import { type ComparedFile, renderComparisonPage } from '../../../../harness/report/html/comparison-page.ts';
import { renderHtml } from '../../../../harness/report/html/report-page.ts';
import { renderFleetHtml } from '../../../../harness/report/index.ts';
import { launchChromium } from '../../../setup/chromium.ts';
import { lacks } from '../../../setup/programs.ts';
import { inTurn } from '../../../setup/turn.ts';
import { largeFleet } from '../../fleet/documents.ts';
import { hostileDocuments } from './hostile-documents.ts';
import { diagnosedRun, shortRun, wholeRun } from './page-documents.ts';
import { readPage } from './strict-html.ts';

const document = diagnosedRun();
const FAILED = document.counts.fail;

describe.skipIf(lacks('chromium'))('the HTML report and the page of many partners in Chromium', () => {
  let folder = '';
  let browser: Browser;
  /** Console messages, errors, and requests other than the one for the page. */
  let complaints: string[] = [];
  const pages: Page[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
    await writeFile(join(folder, 'report.html'), renderHtml(document));
    await writeFile(join(folder, 'short.html'), renderHtml(shortRun()));
    const passing = wholeRun(() => 'pass');
    const comparison = compareRuns(passing, document);
    const files = ['before', 'now'].map((name) => ({ name, report: `${name}/report.html` })) as [
      ComparedFile,
      ComparedFile,
    ];
    await writeFile(join(folder, 'comparison.html'), renderComparisonPage(compareRuns(document, passing), files));
    await writeFile(join(folder, 'since.html'), renderHtml(document, comparison));
    await writeFile(join(folder, 'fleet.html'), await renderFleetHtml(largeFleet(40)));
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(options: BrowserContextOptions = {}, fragment = '', file = 'report.html'): Promise<Page> {
    for (const page of pages.splice(0)) await page.context().close();
    complaints = [];
    const page = await (await browser.newContext(options)).newPage();
    const address = pathToFileURL(join(folder, file)).href;
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (request.url().split('#')[0] !== address) complaints.push(request.url());
    });
    await page.goto(address + fragment);
    pages.push(page);
    return page;
  }

  const shown = (page: Page, verdict = '') =>
    page.locator(`details[data-v${verdict && `=${verdict}`}]:visible`).count();

  it('is complete without its script: links open their targets, and everything unfolds', async () => {
    const page = await open({ javaScriptEnabled: false });
    expect(await page.locator('#filter').isVisible()).toBe(false);
    expect(await page.locator('button:visible').count()).toBe(0);
    expect(await shown(page, 'fail')).toBe(FAILED);
    expect(await shown(page, 'pass')).toBe(0);
    await page.locator('.causes details summary').first().click();
    await page.locator('.causes .members a').first().click();
    expect(await page.locator('details[data-v=fail] > div:visible .exchange').count()).toBe(1);
    await page.locator('.quiet > summary').first().click();
    expect(await shown(page, 'pass')).toBeGreaterThan(20);
    expect(complaints).toEqual([]);
  });

  it('opens the check whose id the address ends in, also one that is folded or unknown', async () => {
    const idOf = (verdict: string) => document.results.filter((result) => result.verdict === verdict).at(-1)?.id ?? '';
    for (const id of [idOf('fail'), idOf('pass')]) {
      const page = await open({}, `#${id}`);
      const check = page.locator('details[data-v]', { has: page.locator('summary > code', { hasText: id }) }).last();
      expect(await check.getAttribute('open')).toBe('');
      const top = await check.evaluate((element) => element.getBoundingClientRect().top);
      // The last check of a page cannot be scrolled to the top.
      expect([top >= -1, top < 720]).toEqual([true, true]);
    }
    for (const nonsense of ['#no/such', '#%', '#%ff']) await open({}, nonsense);
    expect(complaints).toEqual([]);
  });

  it('filters by verdict, suite and words, and shows the number of checks', async () => {
    const page = await open();
    const total = document.results.length;
    const found = page.locator('#found');
    await page.getByRole('button', { name: /^fail/ }).click();
    expect(await found.textContent()).toBe(`${FAILED} of ${total} checks shown`);
    expect([await shown(page), await shown(page, 'fail')]).toEqual([FAILED, FAILED]);
    await page.getByLabel('Suite').selectOption({ label: 'valid' });
    expect(await found.textContent()).toBe(`0 of ${total} checks shown`);
    await page.getByRole('button', { name: /^fail/ }).click();
    await page.getByLabel('Find').fill('BUY completed');
    const ids = await page.locator('details[data-v]:visible > summary code').allTextContents();
    expect(ids.length).toBeGreaterThan(0);
    for (const id of ids) expect(id).toMatch(/^valid\//);
    // A link to a hidden check resets the filter.
    await page.locator('.causes details summary').first().click();
    await page.locator('.causes .members a').first().click();
    await expect.poll(() => shown(page, 'fail')).toBe(FAILED);
    expect(complaints).toEqual([]);
  });

  it('leads from the line about an earlier run to the checks that changed', async () => {
    const page = await open({ javaScriptEnabled: false }, '', 'since.html');
    await page.getByRole('link', { name: /since the run of/ }).click();
    expect(await page.locator('#since h3').allTextContents()).toEqual(expect.arrayContaining(['New 39 checks']));
    await page.locator('#since .members a').first().click();
    expect(await page.locator('details[data-v=fail] > div:visible .exchange').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('breaks a command between words, not inside a flag or the id of a check', async () => {
    const page = await open({ viewport: { width: 1280, height: 800 } });
    const command = page.locator('.causes .copy', { hasText: '--scenario' }).first();
    const heights = await command.locator('.word').evaluateAll((words) => {
      return words.map((word) => (word as unknown as { offsetHeight: number }).offsetHeight);
    });
    expect(heights.length).toBeGreaterThan(1);
    expect(new Set(heights).size).toBe(1);
    expect(await command.textContent()).toMatch(/^hookproof run \S+(?: --scenario \S+)+$/);
  });

  it('copies a command with the keyboard', async () => {
    const page = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const check = page.locator('details[data-v=fail]').first();
    await check.locator('summary').first().focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    // The link to the requirement comes first, and then the button.
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Copy');
    await page.keyboard.press('Enter');
    await expect.poll(() => check.getByRole('button').first().textContent()).toBe('Copied');
    const id = await check.locator('summary code').first().textContent();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`hookproof run --scenario ${id}`);
    expect(complaints).toEqual([]);
  });

  it('prints every failure, without controls', async () => {
    const page = await open({ javaScriptEnabled: false, colorScheme: 'dark', viewport: { width: 680, height: 900 } });
    await page.emulateMedia({ media: 'print' });
    const seen = (selector: string) => page.locator(`${selector}:visible`).count();
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('details[data-v=fail] > div')].map((one) => one.offsetHeight)`,
    );
    expect(heights).toHaveLength(FAILED);
    expect(Math.min(...heights)).toBeGreaterThan(50);
    expect([await seen('button'), await seen('#filter')]).toEqual([0, 0]);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    expect(complaints).toEqual([]);
  });

  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

  const LOOKS = [
    ['short.html', 'light', 1280],
    ['short.html', 'light', 390],
    ['short.html', 'dark', 1280],
    ['short.html', 'dark', 390],
    ['comparison.html', 'light', 1280],
    ['comparison.html', 'dark', 390],
    ['since.html', 'light', 390],
    ['fleet.html', 'light', 1280],
    ['fleet.html', 'dark', 390],
  ] as const;
  it.each(inTurn(LOOKS, 3))(
    'has no axe violation, and fits the window: %s, %s, %i pixels',
    async (file, colorScheme, width) => {
      const page = await open({ bypassCSP: true, colorScheme, viewport: { width, height: 900 } }, '', file);
      await page.evaluate(`for (const fold of document.querySelectorAll('details')) fold.open = true`);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await page.evaluate(`${await readFile(axe, 'utf8')};0`);
      const { violations } = await page.evaluate<AxeResults>(`axe.run(document, { resultTypes: ['violations'] })`);
      expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  it('filters and sorts the partners, and lists them all without its script', async () => {
    const page = await open({}, '', 'fleet.html');
    const rows = () => page.locator('#fleet tbody tr:visible').count();
    const failed = largeFleet(40).standings.filter(({ state }) => state === 'failing').length;
    await page.getByRole('button', { name: /^failing/ }).click();
    expect([await rows(), await page.locator('#found').textContent()]).toEqual([
      failed,
      `${failed} of 40 partners shown`,
    ]);
    await page.getByRole('button', { name: /^failing/ }).click();
    await page.getByLabel('Sort by').selectOption('name');
    expect(await page.locator('#fleet tbody b').first().textContent()).toBe('acme-1');
    await page.getByLabel('Find').fill('granite');
    expect(await rows()).toBe(5);
    await page.getByLabel('Find').fill('verifies-reserialised-json');
    expect(await rows()).toBe(failed);

    expect(complaints).toEqual([]);

    const plain = await open({ javaScriptEnabled: false }, '', 'fleet.html');
    expect(await plain.locator('#filter').isVisible()).toBe(false);
    expect(await plain.locator('#fleet tbody tr:visible').count()).toBe(40);
    expect(complaints).toEqual([]);
  });

  it('is parsed by a browser as by the strict parser, whatever the document contains, and runs no script', async () => {
    const documents = fc.sample(await hostileDocuments(), { numRuns: 6, seed: 7 });
    // The policy of the report itself blocks the parser.
    const page = await open();
    await page.goto('about:blank');
    complaints = [];
    for (const hostile of [...documents, wholeRun(() => 'pass')]) {
      const source = renderHtml(hostile);
      const parsed = `new DOMParser().parseFromString(${JSON.stringify(source)}, 'text/html')`;
      const names = await page.evaluate<string[]>(`[...${parsed}.querySelectorAll('*')].map((one) => one.localName)`);
      expect(names).toEqual(readPage(source).map(({ name }) => name));
    }
    await writeFile(join(folder, 'hostile.html'), renderHtml(documents.at(-1)!));
    await open({}, '', 'hostile.html');
    expect(complaints).toEqual([]);
  });

  it('has a policy that blocks injected markup', async () => {
    const page = renderHtml(document).replace(
      '<main>',
      '<main><script>document.title = "in"</script><b style="color:red" onclick="x()"></b>' +
        '<img src="http://127.0.0.1:9/x">',
    );
    await writeFile(join(folder, 'injected.html'), page);
    const opened = await open({}, '', 'injected.html');
    expect(await opened.title()).toMatch(/^not conformant/);
    expect(complaints.filter((text) => text.includes('Content Security Policy')).length).toBeGreaterThanOrEqual(3);
  });
});
