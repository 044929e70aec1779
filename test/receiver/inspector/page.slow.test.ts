import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { replayCaptured } from '../../../harness/proxy/index.ts';
import { type RunningInspector, startInspector, startReceiver } from '../../../receiver/index.ts';
import { launchChromium } from '../../setup/chromium.ts';
import { lacks } from '../../setup/programs.ts';
import { buy, sign } from '../deliveries.ts';
import { apiKey, BODY, exchange, type Inspected, inspectedForTest, reportOf, signing } from './inspected.ts';

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

let browser: Browser;
let page: Page;
const errors: string[] = [];

function watch(made: Page): Page {
  made.setDefaultTimeout(60_000);
  made.on('pageerror', (error) => errors.push(String(error)));
  made.on('dialog', (dialog) => errors.push(`dialog ${dialog.message()}`));
  // The console also reports a refused connection and an invalid edit, both of which are expected.
  made.on('console', (message) => {
    if (message.type() === 'error' && !/ERR_|status of 400/.test(message.text())) errors.push(message.text());
  });
  return made;
}

const NOTHING_CUT = `[...document.querySelectorAll('.row .outcome, .row .what')]
  .every((one) => one.scrollWidth <= one.clientWidth)`;

/** Visits a URL on the page that all tests share. Opening another page takes longer than most tests. */
async function visit(url: string, viewport = WIDE): Promise<void> {
  await page.setViewportSize(viewport);
  await page.goto(url);
}

const rows = () => page.locator('#list').getByRole('option');
const row = (name: string) => page.locator('#list').getByRole('option', { name });
const title = () => page.locator('#detail-title');
const live = () => page.locator('#connection[data-state=live]').waitFor();

/** Opens a page with axe, in addition to the shared one. */
async function withAxe(url: string) {
  // The content security policy of the page would block axe.
  const context = await browser.newContext({ bypassCSP: true });
  onTestFinished(() => context.close());
  const looked = watch(await context.newPage());
  await looked.setViewportSize(WIDE);
  await looked.goto(url);
  await looked.evaluate(axe.source);
  const violations = async () => {
    const found = await looked.evaluate<{ violations: Violation[] }>(
      `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
    );
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  };
  return { looked, violations };
}

/** Sends one delivery for each outcome that a sender can cause. */
async function mixed({ deliver }: Inspected): Promise<void> {
  const twice = JSON.stringify(buy('id-twice', { transactionId: 'tx-twice' }));
  await deliver(twice);
  await deliver(twice);
  await deliver(JSON.stringify(buy('id-unsigned', { note: 'only in this body' })), {
    'X-Service-Signature': undefined,
  });
  await deliver(
    JSON.stringify({
      id: 'id-refund',
      type: 'REFUND',
      at: 1,
      data: { transactionId: 't', status: 'FAILED', refundStatus: 'COMPLETED' },
    }),
  );
  await deliver('{"id":"id-broken",');
  const pretty = JSON.stringify(buy('id-pretty'), null, 2);
  await deliver(pretty, { 'X-Service-Signature': sign(JSON.stringify(JSON.parse(pretty))) });
}

describe.skipIf(lacks('chromium'))('the inspector page', () => {
  beforeAll(async () => {
    browser = await launchChromium();
    const context = await browser.newContext();
    page = watch(await context.newPage());
  });
  afterEach(() => {
    expect(errors.splice(0)).toEqual([]);
  });
  afterAll(() => browser?.close());

  it('explains how to send a first delivery, and lists deliveries with the newest on top', async () => {
    const site = await inspectedForTest();
    await visit(site.inspector.url);
    await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor();
    expect(await page.locator('#empty pre').first().textContent()).toBe(`hookproof trigger buy ${site.receiver.url}`);
    await site.deliver(JSON.stringify(buy('id-1')));
    await rows().first().waitFor();
    expect(await page.locator('#empty').isVisible()).toBe(false);
    await site.deliver(JSON.stringify(buy('id-2')), { 'X-API-Key': 'x' });
    await row('id-2').waitFor();
    const labels = await rows().allTextContents();
    expect(labels).toEqual([
      expect.stringMatching(
        /^[\d:.]{12}, 401 refused, api-key-mismatch, notification id-2, \d+ bytes, took [\d.]+ ms $/,
      ),
      expect.stringMatching(/, accepted, CAAS_BUY, notification id-1, /),
    ]);
  });

  it('keeps the scroll position when deliveries arrive, and holds them back while paused', async () => {
    const site = await inspectedForTest();
    for (let count = 0; count < 60; count++)
      site.inspector.observe(reportOf({ rawBody: Buffer.from(`{"id":"r-${count}"}`) }));
    await visit(site.inspector.url);
    await expect.poll(() => rows().count()).toBe(60);
    await page.locator('#list').evaluate((list) => list.scrollTo(0, 600));
    const place = () => row('r-30').evaluate((row) => row.getBoundingClientRect().top);
    const before = await place();
    for (let count = 60; count < 65; count++) site.inspector.observe(reportOf());
    await page.getByRole('button', { name: '5 new, show' }).waitFor();
    expect(await place()).toBe(before);
    await page.getByRole('button', { name: '5 new, show' }).click();
    expect(await page.locator('#list').evaluate((list) => list.scrollTop)).toBe(0);

    await page.keyboard.press('p');
    site.inspector.observe(reportOf());
    await page.getByRole('button', { name: 'Resume (1)' }).waitFor();
    expect([await rows().count(), await page.locator('#connection-text').textContent()]).toEqual([65, 'Paused']);
    await page.getByRole('button', { name: 'Resume (1)' }).click();
    await expect.poll(() => rows().count()).toBe(66);
    await page.getByRole('button', { name: 'Clear view' }).click();
    expect(await rows().count()).toBe(0);
  });

  it('filters by outcome, kind and reason, and searches ids and bodies', async () => {
    const site = await inspectedForTest();
    await mixed(site);
    await visit(site.inspector.url);
    await expect.poll(() => rows().count()).toBe(6);
    const visible = () =>
      page.locator('.row:not([hidden]) .id').evaluateAll((all) => all.map((id) => id.getAttribute('title') ?? ''));
    await page.getByRole('button', { name: 'Refused 3' }).click();
    expect(await visible()).toEqual(['id-pretty', '', 'id-unsigned']);
    await page.getByLabel('Reason').selectOption('body-not-json');
    expect(await visible()).toEqual(['']);
    await page.getByRole('button', { name: 'Duplicate 0' }).click();
    await page.getByRole('button', { name: 'Show all' }).click();
    expect(await visible()).toHaveLength(6);
    await page.getByLabel('Kind').selectOption('REFUND');
    expect(await visible()).toEqual(['id-refund']);
    await page.getByLabel('Kind').selectOption('');
    await page.keyboard.press('Escape');
    const search = page.getByRole('searchbox');
    await search.fill('TX-TWICE');
    await expect.poll(visible).toEqual(['id-twice', 'id-twice']);
    await search.fill('only in this');
    await expect.poll(visible).toEqual(['id-unsigned']);
    // A search includes deliveries that arrive later.
    await site.deliver(JSON.stringify(buy('id-late', { note: 'only in this as well' })));
    await expect.poll(visible).toEqual(['id-late', 'id-unsigned']);
  });

  it('works with the keyboard alone', async () => {
    const site = await inspectedForTest();
    await mixed(site);
    await visit(site.inspector.url);
    await expect.poll(() => rows().count()).toBe(6);
    const focused = () =>
      page.evaluate<string>(
        `(({ role, textContent, ariaLabel, id }) =>
          role === 'option' ? textContent : ariaLabel ?? id)(document.activeElement)`,
      );
    await page.keyboard.press('j');
    await title().waitFor();
    expect(await title().textContent()).toContain('does not match these bytes');
    expect(await focused()).toContain('id-pretty');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => title().textContent()).toBe('The body is not JSON.');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('detail-title');
    await page.keyboard.press('Escape');
    expect(await focused()).toContain('id-pretty');
    await page.keyboard.press('End');
    expect(await focused()).toContain(', accepted, CAAS_BUY');
    await page.keyboard.press('/');
    expect(await focused()).toBe('Search ids and the text of bodies');
    await page.keyboard.type('jk?p');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    expect(await focused()).toContain(', accepted, CAAS_BUY');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    // The Tab key moves the focus from the list to the tabs of the body.
    await page.keyboard.press('Home');
    for (let count = 0; count < 30 && (await focused()) !== 'tab-Text'; count++) await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    expect([await focused(), await page.getByRole('tabpanel', { name: 'JSON' }).isVisible()]).toEqual([
      'tab-JSON',
      true,
    ]);
  });

  it('explains what a sender signed, and shows the difference', async () => {
    const site = await inspectedForTest();
    await mixed(site);
    await visit(site.inspector.url);
    await rows().first().click();
    await page.getByText('Computes the HMAC over the body re-serialised with JSON.stringify.').waitFor();
    const deleted = await page.locator('.diff del').allTextContents();
    expect(deleted.length).toBeGreaterThan(20);
    expect(deleted.join('').replace(/[\u00b7\u21b5\n]/g, '')).toBe('');
    expect(await page.locator('.diff ins').count()).toBe(0);
    expect(await page.locator('.first-difference').textContent()).toContain('at offset 1 (hex 1)');

    const line = `${JSON.stringify(buy('id-line'))}\n`;
    await site.deliver(line, { 'X-Service-Signature': sign(line.trimEnd()) });
    await row('id-line').click();
    await page.getByText('Computes the HMAC over the body without its final line ending.').waitFor();
    expect(await page.locator('.diff del').allTextContents()).toEqual(['\u21b5\n']);
    // The URL opens the same delivery on another page.
    const link = page.url();
    expect(link).toMatch(/#[0-9a-f]{6}-7$/);
    const other = watch(await page.context().newPage());
    await other.goto(link);
    await other.getByText('without its final line ending').waitFor();
    await other.close();
  });

  it('shows hostile bodies, headers and ids as text', async () => {
    const site = await inspectedForTest();
    const evil = '<img src=x onerror="window.executed=1"><script>window.executed=1</script>';
    const bodies = [
      JSON.stringify(buy(evil, { transactionId: evil, [evil]: evil })),
      `{"a":"\u001b[31m\u0000\u0007 \u202e\u2066right\u200b\u00ad\ufeff\u2028 \u{e0041}"}`,
      Buffer.concat([
        Buffer.from('{"x":"'),
        Buffer.from([0xff, 0xc0, 0xaf, 0xed, 0xa0, 0x80, 0xf4, 0x90]),
        Buffer.from('"}'),
      ]),
      `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
      `{"long":"${'\u0001a'.repeat(3000)}"}`,
      `{"zalgo":"${'a\u0301\u0302\u0303'.repeat(2000)}${'w'.repeat(500_000)}"}${' '.repeat(500_000)}`,
      '',
    ];
    for (const body of bodies) {
      const headers = { 'X-Evil': evil, 'Content-Type': `${evil}; x`, 'X-Service-Signature': `${evil}=` };
      await site.deliver(body, headers, `/${encodeURIComponent(evil)}?${evil}`);
    }
    await visit(site.inspector.url);
    await expect.poll(() => rows().count()).toBe(bodies.length);
    let text = '';
    for (const { id } of await rows().evaluateAll((all) => all.map((one) => ({ id: one.getAttribute('data-id') })))) {
      await page.locator(`.row[data-id="${id}"]`).click();
      await page
        .locator('.facts', { hasText: `#${id}` })
        .first()
        .waitFor();
      text += await page.evaluate<string>(`['JSON', 'Hex', 'Text'].map((tab) => {
        document.getElementById('tab-' + tab).click();
        return document.getElementById('body-panel').textContent;
      }).join('') + document.getElementById('detail-pane').textContent`);
    }
    const codes = '202E 2066 200B 00AD FEFF 2028 E0041'.split(' ').map((code) => `<U+${code}>`);
    for (const name of ['\u241b[31m', '\u2400', '\u2407', ...codes]) expect(text).toContain(name);
    expect(text).toContain('\\xff\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90');
    expect(text).toContain('8 bytes that are not UTF-8');
    expect(text).toMatch(/The first 65,536 of 1,0\d\d,\d\d\d bytes are shown/);
    expect(text).toContain('nested too deep');
    expect(text).toContain('The body is empty.');
    const found = await page.evaluate(`({
      ran: 'executed' in window,
      images: document.querySelectorAll('img, iframe, object').length,
      scripts: Array.from(document.scripts, ({ src }) => new URL(src).pathname),
      wide: document.documentElement.scrollWidth > innerWidth,
      hidden: /[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\0\\u001b]/.test(document.body.textContent),
    })`);
    expect(found).toEqual({ ran: false, images: 0, scripts: ['/theme.js', '/main.js'], wide: false, hidden: false });
  });

  it('reconnects after a restart without losing or repeating a delivery', async () => {
    const first = await startInspector({ signing, apiKey });
    await visit(first.url);
    await live();
    first.observe(reportOf({ rawBody: Buffer.from('{"id":"before"}') }));
    await row('before').click();
    await title().waitFor();
    await first.close();
    await page.locator('#connection-text', { hasText: 'Disconnected, reconnecting' }).waitFor();
    const second: RunningInspector = await startInspector({ signing, apiKey, port: first.port });
    onTestFinished(() => second.close());
    second.observe(reportOf({ rawBody: Buffer.from('{"id":"after-1"}') }));
    await live();
    second.observe(reportOf({ rawBody: Buffer.from('{"id":"after-2"}') }));
    await row('after-2').waitFor();
    const ids = (rows: string) =>
      page.locator(`${rows} .id`).evaluateAll((all) => all.map((id) => id.getAttribute('title')));
    expect(await ids('.row')).toEqual(['after-2', 'after-1', 'before']);
    expect(await ids('.row.before')).toEqual(['before']);
    expect(await page.locator('#notice').textContent()).toContain('The receiver was restarted');
    // The delivery that was open before the restart still has its details.
    await row('after-1').click();
    await row('before').click();
    await page.locator('.facts', { hasText: 'before' }).first().waitFor();
  });

  it('goes from the list to the details and back on a phone, even while details are loading', async () => {
    const site = await inspectedForTest();
    await mixed(site);
    await visit(site.inspector.url, PHONE);
    await rows().first().click();
    await title().waitFor();
    expect(await page.locator('#list').isVisible()).toBe(false);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(PHONE.width);
    await page.goBack();
    await page.locator('#list').waitFor();
    await page.route('**/deliveries/**', () => {});
    await rows().nth(1).click();
    expect(await title().textContent()).toContain('Loading the details');
    await page.getByRole('button', { name: 'Back to the list' }).click();
    await page.locator('#list').waitFor();
    expect([await title().isVisible(), new URL(page.url()).hash]).toEqual([false, '']);
    await page.unrouteAll();
  });

  it('has no accessibility violations: dark and light, wide and on a phone', async () => {
    const site = await inspectedForTest();
    const { looked, violations } = await withAxe(site.inspector.url);
    await looked.getByRole('heading', { name: 'No deliveries yet' }).waitFor();
    expect(await violations()).toEqual([]);
    await mixed(site);
    await expect.poll(() => looked.locator('.row').count()).toBe(6);
    // The rules between the rows reach the end of the pane.
    const right = (selector: string) =>
      looked
        .locator(selector)
        .first()
        .evaluate((element) => element.getBoundingClientRect().right);
    expect(await right('.row')).toBe(await right('#list'));
    await looked.locator('.row').first().click();
    await looked.locator('.diff').waitFor();
    await looked.getByRole('tab', { name: 'JSON' }).click();
    for (const viewport of [WIDE, PHONE]) {
      await looked.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark'] as const) {
        await looked.emulateMedia({ colorScheme });
        expect(await violations()).toEqual([]);
      }
    }
    // On a phone, the list is a separate view.
    await looked.getByRole('button', { name: 'Back to the list' }).click();
    expect(await violations()).toEqual([]);
    await looked.emulateMedia({ colorScheme: 'light' });
    expect(await violations()).toEqual([]);
    await looked.keyboard.press('?');
    expect(await violations()).toEqual([]);
  });

  it('colours the answers of another receiver by whether they are correct', async () => {
    const forwarding = { upstream: 'http://127.0.0.1:3000/', replay: async () => exchange(), curl: () => null };
    const made = await startInspector({ signing, apiKey, forwarding });
    onTestFinished(() => made.close());
    const forged = { 'X-Service-Signature': sign('other bytes') };
    const ids = [
      exchange(),
      exchange({ status: 401, headers: forged }),
      exchange({ status: 401 }),
      exchange({ headers: forged }),
    ].map((one) => made.record(one).id);
    await page.emulateMedia({ colorScheme: 'light' });
    await visit(made.url);
    await expect.poll(() => rows().count()).toBe(4);
    const marks = page.locator('.row .mark');
    expect(await marks.evaluateAll((all) => all.map((mark) => [mark.textContent, mark.className]))).toEqual([
      ['200 accepted', 'mark answered-unsafe is-accepted'],
      ['401 refused', 'mark answered-incorrect is-refused'],
      ['401 refused', 'mark answered-correct is-refused'],
      ['200 accepted', 'mark answered-correct is-accepted'],
    ]);
    // Without colours, a rejection is a hollow mark.
    const shape = (at: number) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelectorAll('.row .mark')[${at}], '::before').borderTopStyle`,
      );
    expect([await shape(2), await shape(3)]).toEqual(['solid', 'none']);
    const style = (at: number, name: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelectorAll('.row .mark')[${at}]).${name}`);
    const colour = (at: number) => style(at, 'color');
    const background = (at: number) => style(at, 'backgroundColor');
    expect(await page.evaluate<boolean>(NOTHING_CUT)).toBe(true);
    expect(await colour(2)).toBe(await colour(3));
    expect(await colour(1)).not.toBe(await colour(2));
    expect(await background(0)).toBe(await colour(1));
    for (const viewport of [WIDE, PHONE]) {
      await visit(`${made.url}#${ids[3]}`, viewport);
      await title()
        .filter({ hasText: 'The receiver accepted a delivery whose signature does not match (200).' })
        .waitFor();
      expect(await page.locator('article .mark').textContent()).toBe('200 accepted: alarm');
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(viewport.width);
    }
  });

  it('keeps alarms in sight, however many deliveries there are', async () => {
    const forwarding = { upstream: 'http://127.0.0.1:3000/', replay: async () => exchange(), curl: () => null };
    const made = await startInspector({ signing, apiKey, forwarding });
    onTestFinished(() => made.close());
    const forged = { 'X-Service-Signature': sign('other bytes') };
    for (let at = 0; at < 18; at += 1) made.record(exchange({ headers: forged }));
    made.record(exchange({ status: 401 }));
    made.record(exchange({ status: 0 }));
    for (let at = 0; at < 100; at += 1) made.record(exchange({ status: 401, headers: forged }));
    const button = (name: RegExp) => page.locator('#outcomes').getByRole('button', { name });
    for (const viewport of [WIDE, { width: 821, height: 800 }, PHONE]) {
      await visit(made.url, viewport);
      await expect.poll(() => rows().count()).toBe(120);
      const banner = page.locator('#alarms');
      for (const end of ['0', 'list.scrollHeight']) {
        await page.evaluate(`{ const list = document.getElementById('list'); list.scrollTop = ${end}; }`);
        const box = await banner.boundingBox();
        expect(box!.y).toBeGreaterThan(0);
        expect(box!.y + box!.height).toBeLessThan(viewport.height);
      }
      expect(await banner.textContent()).toContain(
        '20 alarms 18 accepted although invalid, 1 refused although valid, 1 no answer',
      );
      expect(await button(/^Alarms/).textContent()).toBe('Alarms 20');
      await banner.getByRole('button', { name: 'Show them' }).click();
      await expect.poll(() => rows().filter({ visible: true }).count()).toBe(20);
      expect(await page.evaluate<boolean>(NOTHING_CUT)).toBe(true);
      const last = (await button(/^Aborted/).boundingBox())!;
      const pane = (await page.locator('#list-pane').boundingBox())!;
      expect(last.x + last.width).toBeLessThanOrEqual(pane.x + pane.width);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(viewport.width);
      // The numbers count what the other filters leave.
      await page.locator('#reason').selectOption('accepted-although-invalid');
      expect([await button(/^Alarms/).textContent(), await button(/^All/).textContent()]).toEqual([
        'Alarms 18',
        'All 18',
      ]);
      expect(await button(/^Refused/).textContent()).toBe('Refused 0');
    }
    const { looked, violations } = await withAxe(made.url);
    await expect.poll(() => looked.locator('.row').count()).toBe(120);
    for (const viewport of [WIDE, PHONE]) {
      await looked.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark'] as const) {
        await looked.emulateMedia({ colorScheme });
        expect(await violations()).toEqual([]);
      }
    }
  });

  it('edits a delivery, signs it and sends it again', async () => {
    const receiver = await startReceiver({ signing: { secrets: signing.secrets }, host: '127.0.0.1', port: 0 });
    onTestFinished(() => receiver.close());
    const partner = { url: receiver.url, signing: { secret: signing.secrets[0]! } };
    const made = await startInspector({
      signing,
      forwarding: {
        upstream: receiver.url,
        replay: (raw, asked) => replayCaptured(raw, { partner, timeoutMs: 60_000, ...asked }),
        curl: () => null,
      },
    });
    onTestFinished(() => made.close());
    const kept = exchange();
    const lines = [`POST / HTTP/1.1`, `Host: ${new URL(receiver.url).host}`, 'Content-Type: application/json'];
    const raw = [...lines, `X-Service-Signature: ${sign(`${BODY}`)}`, `Content-Length: ${BODY.length}`, '', `${BODY}`];
    const { id } = made.record({ ...kept, request: { ...kept.request, raw: Buffer.from(raw.join('\r\n')) } });
    const send = async (name: string) => {
      await visit('about:blank');
      await visit(`${made.url}#${id}`);
      await page.locator('.edit summary').click();
      await page.getByRole('textbox', { name: 'Body' }).fill(`${BODY}`.replace('id-1', 'id-edited'));
      await page.getByLabel('Headers to set, one on each line').fill('X-Tenant: acme');
      await page.getByRole('button', { name }).click();
      await page
        .locator('article .mark')
        .filter({ hasText: /accepted|refused/ })
        .first()
        .waitFor();
      await page.getByText('Replay of').waitFor();
      return page.locator('article').textContent();
    };
    const signed = await send('Send, newly signed');
    expect(signed).toMatch(/200 accepted: correct answer/);
    expect(signed).toContain('id-edited');
    expect(signed).toMatch(/X-Tenant\s*acme/);
    expect(await send('Send with the old signature')).toMatch(/401 refused: correct answer/);
    await page.locator('.edit summary').click();
    await page.getByLabel('Headers to set, one on each line').fill('X-Tenant');
    await page.getByRole('button', { name: 'Send, newly signed' }).click();
    await page.getByText('write one `Name: value` on each line').waitFor();
    // A text field would change these bytes without an edit.
    for (const body of ['{\r\n}', Buffer.from([0x22, 0xf0, 0x9f, 0x98, 0x22])]) {
      const other = made.record({
        ...kept,
        request: { ...kept.request, raw: Buffer.from(''), body: Buffer.from(body) },
      });
      await visit('about:blank');
      await visit(`${made.url}#${other.id}`);
      await page.locator('.edit summary').click();
      expect(await page.getByRole('textbox', { name: 'Body' }).isEditable()).toBe(false);
      await page.getByText('Use `hookproof replay --body` instead').waitFor();
    }
    const { looked, violations } = await withAxe(`${made.url}#${id}`);
    await looked.locator('.edit summary').click();
    expect(await violations()).toEqual([]);
  });

  it('has a theme switch that is remembered', async () => {
    const site = await inspectedForTest();
    await page.emulateMedia({ colorScheme: 'light' });
    await visit(site.inspector.url);
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    expect([await background(), await page.locator('#theme').textContent()]).toEqual([dark, 'Theme: dark']);
  });
});
