/** A logger that collects its lines. */
type LogLine = Record<string, unknown>;

export function collectLogs() {
  const lines: LogLine[] = [];
  let wake = () => {};
  const log = (level: string) => (fields: object, message: string) => {
    lines.push({ level, message, ...fields });
    wake();
  };
  return {
    logger: { info: log('info'), warn: log('warn'), error: log('error') },
    lines,
    events: (name: string) => lines.filter(({ event }) => event === name),
    /** Removes the oldest line for this event and returns it. Waits until there is one. */
    async next(name: string): Promise<LogLine> {
      for (;;) {
        const index = lines.findIndex(({ event }) => event === name);
        if (index !== -1) return lines.splice(index, 1)[0]!;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
