/** The pages of the console in a browser, without any script: readable, accessible, and sufficient for a decision. */
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { launchChromium } from '../../setup/chromium.ts';
import { lacks } from '../../setup/programs.ts';
import { inTurn } from '../../setup/turn.ts';
import { addOperation, openRegistered, type Registered, TOKENS } from './registered.ts';

const server = inject('postgresUrl');
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const PATHS = [
  '/',
  '/?q=nothing',
  '/?sort=cause&order=desc',
  '/expiring?within=90',
  '/trends',
  '/queue',
  '/audit',
  '/partners/acme',
  '/partners/bad',
  '/partners/hostile',
  '/partners/nobody',
  '/partners/acme/compare?before=before-2026-11-20T00-00-00-000Z&now=current',
];

describe.skipIf(server === null || lacks('chromium'))('the pages of the console', () => {
  let site: Registered;
  let browser: Browser;
  const complaints: string[] = [];
  beforeAll(async () => {
    site = await openRegistered(server ?? '', { queue: { runAt: async () => {} } });
    await addOperation(site);
    await site.pool.query(
      "INSERT INTO hookproof_audit (who, action, partner, reason) VALUES ('alice', 'revoke', 'bad', 'a test')",
    );
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  async function open(path: string, options: BrowserContextOptions): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('404')) complaints.push(message.text());
    });
    page.on('dialog', (dialog) => complaints.push(`dialog ${dialog.message()}`));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${site.url}${path}`);
    return page;
  }

  it.each(inTurn(PATHS, 3))('has no finding of axe at %s, and fits on a phone', async (path) => {
    const page = await open(path, { bypassCSP: true });
    await page.addScriptTag({ path: AXE });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        const { violations } = await page.evaluate<AxeResults>(
          `axe.run(document, { runOnly: ${JSON.stringify(RULES)} })`,
        );
        const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
        expect(found, `${colorScheme} ${width}`).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${width}`).toBe(true);
      }
    }
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  it('leads from the list to a decision, by forms, links and nothing else', async () => {
    const page = await open('/', { javaScriptEnabled: false });
    await page.getByRole('searchbox', { name: 'Find' }).fill('moved');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('link', { name: 'moved' }).click();
    await page.getByText('Override', { exact: true }).first().click();
    const form = page.locator('form[action$="/override"]');
    await form.getByLabel('Reason').fill('new certificate, announced');
    await form.getByLabel('Token').fill('not the right token at all');
    await form.getByRole('button').click();
    await page.getByText('Not done: The token is missing or unknown.').waitFor();
    await page.getByText('Override', { exact: true }).first().click();
    await form.getByLabel('Reason').fill('new certificate, announced');
    await form.getByLabel('Token').fill(TOKENS.alice);
    await form.getByRole('button').click();
    await page.getByRole('heading', { name: 'moved: allowed' }).waitFor();
    await page.getByText('The certificate is reinstated.').waitFor();
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('cell', { name: 'new certificate, announced' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.context().close();
    expect(complaints.splice(0).filter((one) => !one.includes('401'))).toEqual([]);
  });

  it('does nothing for a form of another site', async () => {
    const page = await open('/', {});
    await page.setContent(`<form method="post" action="${site.url}/partners/acme/revoke">
      <input name="reason" value="x"><input name="token" value="${TOKENS.alice}"><button>Go</button></form>`);
    const context = await browser.newContext();
    const other = await context.newPage();
    await other.goto('data:text/html,<p>other');
    await other.setContent(await page.content());
    const [answer] = await Promise.all([
      other.waitForResponse((response) => response.url().endsWith('/revoke')),
      other.getByRole('button', { name: 'Go' }).click(),
    ]);
    expect(answer.status()).toBe(403);
    await context.close();
    await page.context().close();
    complaints.splice(0);
  });

  it('runs no script of a report', async () => {
    const page = await open('/partners/acme/files/current/report.html', {});
    await page.getByRole('heading', { level: 1 }).waitFor();
    // Only the script of the report adds the button.
    expect(await page.locator('pre.copy button').count()).toBe(0);
    expect(await page.evaluate('getComputedStyle(document.body).fontFamily')).toContain('system-ui');
    await page.context().close();
    complaints.splice(0);
  });
});
