/**
 * Screenshots of every page of the compiled program: the HTML report of a passing run, of a diagnosed fault, of an
 * unreachable and of a hostile endpoint, and the inspector after a run. Prints the findings of axe and the size of each
 * file, and exits with 1 if axe finds something. Run by `npm run proofs -- pictures FOLDER`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { hookproof, MAIN } from '../cli/hookproof.ts';
import { launchChromium } from '../setup/chromium.ts';
import { makeMaterial } from './hostile/behaviour.ts';
import { behaviourNamed } from './hostile/behaviours/index.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const WIDTHS = [1280, 390];
const SCHEMES = ['light', 'dark'] as const;
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const folder = resolve(process.argv[2] ?? 'pictures');
mkdirSync(folder, { recursive: true });
const material = await makeMaterial();
const env = { HOOKPROOF_SECRET: material.secret, HOOKPROOF_API_KEY: material.apiKey };

/** Starts the reference receiver. Returns the addresses that it prints: its own, and that of the inspector, if any. */
async function receiver(...args: string[]): Promise<{ process: ChildProcess; addresses: string[] }> {
  const child = spawn(process.execPath, [MAIN, 'receiver', '--port', '0', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  for await (const data of child.stderr) {
    output += data;
    if (/listening at \S+/.test(output) && (!args.includes('--inspect') || /inspector\D*\S+/.test(output))) break;
  }
  return { process: child, addresses: output.match(/https?:\/\/[^\s,]+/g) ?? [] };
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill();
  await once(child, 'exit');
}

const report = (name: string) => join(folder, `${name}.html`);
const run = (name: string, url: string, ...more: string[]) =>
  hookproof(['run', url, '--reporter', `html=${report(name)}`, ...more], { env });

/** The reports, each with a function that writes it. */
const REPORTS: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
  async green(name) {
    const correct = await receiver();
    await run(name, correct.addresses[0] ?? '');
    await ended(correct.process);
  },
  async diagnosed(name) {
    const faulty = await receiver('--fault', 'verifies-reserialised-json');
    await run(name, faulty.addresses[0] ?? '');
    await ended(faulty.process);
  },
  unreachable: (name) => run(name, 'http://127.0.0.1:9/hooks'),
  async hostile(name) {
    const endpoint = await behaviourNamed('says-html').start(material);
    await run(name, endpoint.url);
    await endpoint.close();
  },
};

let found = 0;

async function picture(browser: Browser, name: string, address: string, prepare?: (page: Page) => Promise<unknown>) {
  for (const width of WIDTHS) {
    for (const colorScheme of SCHEMES) {
      const viewport = { width, height: width > 600 ? 900 : 844 };
      const page = await (await browser.newContext({ viewport, colorScheme })).newPage();
      await page.goto(address);
      await prepare?.(page);
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      const wide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      await page.context().close();
      // The pages allow only their own script, so the policy is bypassed for axe.
      const looked = await (await browser.newContext({ viewport, colorScheme, bypassCSP: true })).newPage();
      await looked.goto(address);
      await prepare?.(looked);
      await looked.addScriptTag({ path: AXE });
      const { violations, passes } = await looked.evaluate<AxeResults>(
        `axe.run(document, { runOnly: ${JSON.stringify(RULES)} })`,
      );
      await looked.context().close();
      found += violations.length + Number(wide);
      const ids = violations.map(({ id }) => id).join(', ');
      const verdict = `axe: ${violations.length} violations${ids && ` (${ids})`}, ${passes.length} rules passed`;
      process.stdout.write(`${name} ${width} ${colorScheme}: ${verdict}${wide ? '; wider than the screen' : ''}\n`);
    }
  }
}

const browser = await launchChromium();
try {
  for (const [name, make] of Object.entries(REPORTS)) {
    await make(name);
    process.stdout.write(`${name}: ${(statSync(report(name)).size / 1000).toFixed(0)} kB\n`);
    await picture(browser, name, pathToFileURL(report(name)).href);
  }
  const inspected = await receiver('--inspect', '0');
  const [url = '', page = ''] = inspected.addresses;
  await run('inspected', url, '--suite', 'signature');
  await picture(browser, 'inspector', page, (shown) => shown.locator('#list').getByRole('option').first().waitFor());
  await picture(browser, 'inspector-refusal', page, async (shown) => {
    const refused = shown.locator('#list').getByRole('option', { name: /401 refused/ });
    await refused.first().click();
    await shown.locator('.facts').first().waitFor();
  });
  await ended(inspected.process);
} finally {
  await browser.close();
  await material.remove();
}
process.exitCode = found > 0 ? 1 : 0;
