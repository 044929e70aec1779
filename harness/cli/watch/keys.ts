/** The keyboard in watch mode: single keys, and one question. Without a terminal there are no keys. */
import { createInterface } from 'node:readline';

const ESCAPE = '\x1b';

export class Keys {
  readonly areThere = process.stdin.isTTY;
  readonly #listener: (data: Buffer) => void;

  /** `onKey` receives one character per key, including Ctrl-C (`\x03`). Escape sequences are skipped. */
  constructor(onKey: (key: string) => void) {
    this.#listener = (data) => {
      const text = data.toString('utf8');
      if (!text.startsWith(ESCAPE)) for (const key of text) onKey(key);
    };
  }

  /** Switches the terminal to raw mode, and starts to read keys. */
  open(): void {
    if (!this.areThere) return;
    process.stdin.setRawMode(true).on('data', this.#listener).resume();
  }

  /** Stops reading keys, and restores the mode of the terminal. */
  close(): void {
    if (!this.areThere) return;
    process.stdin.off('data', this.#listener).setRawMode(false).pause();
  }

  /** Asks for a line of text; null if the user cancels (Ctrl-C, Ctrl-D) or there is no keyboard. */
  async ask(question: string): Promise<string | null> {
    if (!this.areThere) return null;
    this.close();
    const line = createInterface({ input: process.stdin, output: process.stdout });
    try {
      return await new Promise<string | null>((resolve) => {
        line.once('SIGINT', () => line.close());
        line.once('close', () => resolve(null));
        line.question(question, resolve);
      });
    } finally {
      line.close();
      this.open();
    }
  }
}
