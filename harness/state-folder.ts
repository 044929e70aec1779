/** The folder where hookproof stores data between runs. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Returns hookproof's folder within the user's state folder. It may not exist or not be writable. */
export function stateFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const { LOCALAPPDATA, XDG_STATE_HOME = '' } = env;
  const home = env.HOME || homedir();
  if (isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'hookproof');
  if (platform === 'win32') return join(LOCALAPPDATA || join(home, 'AppData', 'Local'), 'hookproof');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'hookproof');
  return join(home, '.local', 'state', 'hookproof');
}
