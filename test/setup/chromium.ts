/** Starts the browser for the tests of the pages. */
import { type Browser, chromium } from 'playwright-core';
import { pathOf } from './programs.ts';

/** Disables requests by the browser itself, and allows it to run as root. */
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: pathOf('chromium') ?? 'chromium', args: ARGUMENTS });
}
