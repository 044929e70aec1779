/** Runs `hookproof mcp` as a separate process, with the client of the official SDK. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'vitest';
import { MAIN } from './hookproof.ts';

/** The answer of a tool. */
export interface ToolAnswer {
  readonly text: string;
  /** The structured content. Null for an error. */
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly isError: boolean;
  /**
   * Length in bytes of the text or of the structured content as JSON, whichever is longer. A client passes one of the
   * two to its model.
   */
  readonly bytes: number;
  readonly json: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number; total?: number | undefined }) => void;
}

const MAX_DEFAULT_BYTES = 4_000;

/** Starts the server in a folder with these files. `answers` contains every answer. */
export async function startedMcp({
  args = [],
  env = {},
  files = {},
}: {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
} = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  const { PATH = '', HOME = '', XDG_STATE_HOME = '' } = process.env;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', ...args],
    env: { PATH, HOME, XDG_STATE_HOME, ...env },
    cwd: folder,
    stderr: 'pipe',
  });
  const logged: string[] = [];
  transport.stderr?.on('data', (data) => logged.push(String(data)));
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  // The client checks structured content only against schemas that it has listed.
  await client.listTools();
  const answers: (ToolAnswer & { readonly tool: string; readonly shown: string })[] = [];

  const call = async (tool: string, given: object = {}, options: CallOptions = {}): Promise<ToolAnswer> => {
    const result = await client.callTool({ name: tool, arguments: { ...given } }, undefined, {
      ...options,
      timeout: 280_000,
    });
    const [content] = result.content as { type: string; text: string }[];
    const json = JSON.stringify(result);
    const bytes = Math.max(
      ...[result.content, result.structuredContent ?? null].map((part) => Buffer.byteLength(JSON.stringify(part))),
    );
    if (!('maxBytes' in given)) expect(bytes).toBeLessThanOrEqual(MAX_DEFAULT_BYTES);
    const answer = {
      text: content?.text ?? '',
      data: (result.structuredContent as ToolAnswer['data']) ?? null,
      isError: result.isError === true,
      bytes,
      json,
    };
    answers.push({ ...answer, tool, shown: JSON.stringify(given) });
    return answer;
  };
  const close = async () => {
    await client.close();
    await rm(folder, { recursive: true });
  };
  return { client, folder, call, close, answers, logged, pid: transport.pid };
}

export type StartedMcp = Awaited<ReturnType<typeof startedMcp>>;

/** Returns the code in the last line of an error. */
export function codeOf({ isError, text }: ToolAnswer): string {
  return isError ? (/\(([A-Z0-9_]+)\)$/.exec(text)?.[1] ?? text) : 'no error';
}
