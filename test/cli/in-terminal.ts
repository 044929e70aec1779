/** Runs the compiled program in a terminal of a given width, with typed input. */
import { execFile } from 'node:child_process';
import { MAIN } from './hookproof.ts';

/**
 * Opens a terminal with this width, and types the input. The script is in Python, because Node has no pseudo-terminals.
 */
const TERMINAL = `
import fcntl, os, pty, struct, sys, termios
child, end = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 40, int(sys.argv[1]), 0, 0))
    os.execv(sys.argv[3], sys.argv[3:])
typed = sys.stdin.buffer.read()
seen = b''
while True:
    try:
        data = os.read(end, 65536)
    except OSError:
        break
    if not data:
        break
    seen += data
    if typed and sys.argv[2].encode() in seen:
        os.write(end, typed)
        typed = b''
sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
`;

/**
 * Runs the program in a terminal, and types `typed` when a prompt contains this text. Lines of the screen end in CR LF.
 */
export function inTerminal(
  args: readonly string[],
  {
    columns,
    prompt = '[y/N]',
    typed = '',
    env = {},
  }: { columns: number; prompt?: string; typed?: string; env?: NodeJS.ProcessEnv },
): Promise<{ code: number; screen: string }> {
  const { PATH, HOME } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      'python3',
      ['-c', TERMINAL, String(columns), prompt, process.execPath, MAIN, ...args],
      { env: { PATH, HOME, TERM: 'xterm', LANG: 'C.UTF-8', ...env } },
      (error, screen) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : (child.exitCode ?? -1), screen }),
    );
    child.stdin?.end(typed);
  });
}
