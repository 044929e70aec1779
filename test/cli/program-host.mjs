/**
 * Runs the compiled program again and again in one process, one run at a time: most of the time of a short command is
 * the start of a process and the loading of its modules. Each run has its own arguments, environment, folder, standard
 * input and output, and a new instance of the program's entry point; the other modules are loaded once.
 *
 * A run is over when nothing is left that would keep a process alive, so a command that leaves a timer or a server
 * behind is found here too. An error that nothing catches ends this process, as it would end the program.
 */
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const program = pathToFileURL(process.argv[2]);
let runs = 0;
let output = null;
let isSettled = false;

for (const name of ['stdout', 'stderr']) {
  process[name].write = (chunk, ...more) => {
    const encoding = typeof more[0] === 'string' ? more[0] : 'utf8';
    output?.[name].push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk));
    const written = more.at(-1);
    if (typeof written === 'function') process.nextTick(written);
    return true;
  };
}

process.on('message', ({ args, env, cwd, input }) => {
  // The entry point adds a listener in each run.
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  process.chdir(cwd);
  process.env = env;
  process.argv = [process.argv[0], program.pathname, ...args];
  process.exitCode = undefined;
  const stdin = input === undefined ? new Readable({ read() {} }) : Readable.from([Buffer.from(input)]);
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
  output = { stdout: [], stderr: [] };
  process.channel.unref();
  runs++;
  isSettled = false;
  void import(`${program.href}?${runs}`).then(() => {
    isSettled = true;
  });
});

process.on('beforeExit', () => {
  if (output === null || !process.connected) return;
  const [stdout, stderr] = [output.stdout, output.stderr].map((chunks) => Buffer.concat(chunks).toString());
  // As Node does when nothing is left to do and the program has not come to its end.
  const code = isSettled ? (process.exitCode ?? 0) : 13;
  output = null;
  process.channel.ref();
  process.exitCode = undefined;
  process.send({ code, stdout, stderr });
});
