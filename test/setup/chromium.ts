/** Starts the browser that the tests of the pages use. */
import { type Browser, chromium } from 'playwright-core';
import { pathOf } from './programs.ts';

/** No requests by the browser itself; it also runs as root. */
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
