/** The keyboard in watch mode: single keys, and one question. Without a terminal there are no keys. */
import { createInterface } from 'node:readline';

export interface Keys {
  /** Whether there is a keyboard. */
  readonly areThere: boolean;
  /** Asks for a line of text; null when the user gives none (Ctrl-C, Ctrl-D). */
  ask(question: string): Promise<string | null>;
  /** Gives the terminal back as it was. */
  close(): void;
}

const ESCAPE = '\x1b';

/** Reads keys: `onKey` gets one character each, Ctrl-C (`\x03`) included. Escape sequences are left out. */
export function readKeys(onKey: (key: string) => void): Keys {
  const { stdin, stdout } = process;
  if (!stdin.isTTY) return { areThere: false, ask: async () => null, close: () => {} };
  const listener = (data: Buffer) => {
    const text = data.toString('utf8');
    if (!text.startsWith(ESCAPE)) for (const key of text) onKey(key);
  };
  const start = () => {
    stdin.setRawMode(true);
    stdin.on('data', listener);
    stdin.resume();
  };
  const stop = () => {
    stdin.off('data', listener);
    stdin.setRawMode(false);
    stdin.pause();
  };
  start();
  return {
    areThere: true,
    ask: async (question) => {
      stop();
      const line = createInterface({ input: stdin, output: stdout });
      try {
        return await new Promise<string | null>((resolve) => {
          line.once('SIGINT', () => line.close());
          line.once('close', () => resolve(null));
          line.question(question, resolve);
        });
      } finally {
        line.close();
        start();
      }
    },
    close: stop,
  };
}
