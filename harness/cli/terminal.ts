/** What a stream can show: colour, width, characters. Each stream is asked for itself. */
import type { WriteStream } from 'node:tty';

export interface Display {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly color: boolean;
  readonly unicode: boolean;
}

const DEFAULT_COLUMNS = 80;

/** Obeys NO_COLOR and FORCE_COLOR (non-empty, NO_COLOR first), TERM=dumb, and the locale. */
export function displayOf(stream: Partial<WriteStream>, env: NodeJS.ProcessEnv = process.env): Display {
  const isTTY = stream.isTTY === true;
  const set = (name: string) => env[name] !== undefined && env[name] !== '';
  const forced = set('FORCE_COLOR') && env.FORCE_COLOR !== '0';
  const color = !set('NO_COLOR') && (forced || (isTTY && env.TERM !== 'dumb' && env.FORCE_COLOR !== '0'));
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const unicode = env.TERM !== 'dumb' && (process.platform === 'win32' || locale === '' || /utf-?8/i.test(locale));
  return { isTTY, columns: stream.columns ?? DEFAULT_COLUMNS, color, unicode };
}
