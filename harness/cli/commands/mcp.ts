/** `hookproof mcp`: a Model Context Protocol server over standard input and output. */
import type { ConfigFlags } from '../../config/index.ts';
import { type McpCommands, serveMcp } from '../../mcp/index.ts';
import { createRedactor, redactDocument } from '../../report/index.ts';
import { run } from '../../run/index.ts';
import { namedSecrets, prepareRun } from '../conduct.ts';
import { keepComparedRun, narrowedTo, readComparedRun, readLastRun, rememberRun } from '../last-run.ts';
import { testNotification } from '../sample-events.ts';
import { firstStopSignal } from '../stop-signals.ts';
import { explanationOf, stackNamed } from './explain.ts';
import { LISTS, rowsFor } from './list.ts';

interface McpFlags extends ConfigFlags {
  readonly config?: string;
  readonly allowHost?: readonly string[];
}

const COMMANDS: McpCommands = {
  async run(config, { addresses, listener, signal }) {
    const { options, redactor } = await prepareRun({ ...config, reporters: [] }, signal);
    const document = await run({
      ...options,
      addresses,
      listener: (event) => {
        options.listener?.(event);
        listener(event);
      },
    });
    const { url } = config.partner;
    await rememberRun(document, url);
    await keepComparedRun(document, url, redactor);
    return redactDocument(document, redactor);
  },
  async lastRun(url) {
    const { failed = [] } = (await readLastRun(url)) ?? {};
    return { failed: narrowedTo(failed, []), full: await readComparedRun(url) };
  },
  createRedactor: (secrets) => createRedactor({ values: namedSecrets(secrets) }),
  testNotification,
  explain: (id, word) => explanationOf(id, stackNamed(word)),
  lists: LISTS,
  list: (what, suite) => {
    const list = LISTS.find((name) => name === what) ?? 'suites';
    return rowsFor({ what: list, ...(suite.length > 0 && { suite: [...suite] }) });
  },
};

export async function mcpCommand(flags: McpFlags): Promise<number> {
  const { config: configFile, allowHost: allowHosts = [], ...given } = flags;
  const ending = new AbortController();
  void firstStopSignal().then(() => ending.abort());
  const hosts = allowHosts.length === 0 ? '' : `, and on ${allowHosts.join(', ')}`;
  process.stderr.write(`serving MCP on standard input and output, for endpoints on this machine${hosts}\n`);
  await serveMcp({
    commands: COMMANDS,
    sources: { flags: given, env: process.env, cwd: process.cwd(), configFile },
    allowHosts,
    input: process.stdin,
    output: process.stdout,
    signal: ending.signal,
  });
  return 0;
}
