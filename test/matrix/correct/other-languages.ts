/** Receivers in other languages, with nothing but what the language brings along. Each is a program in other-languages/. */
import { fileURLToPath } from 'node:url';
import type { CorrectReceiver } from './correct-receiver.ts';
import { startProgram } from './start-program.ts';

const fileOf = (name: string) => fileURLToPath(new URL(`./other-languages/${name}`, import.meta.url));

function inLanguage(
  name: string,
  title: string,
  command: readonly [string, ...string[]],
  concurrency?: number,
): CorrectReceiver {
  return {
    name,
    title,
    needs: [command[0]],
    ...(concurrency !== undefined && { concurrency }),
    start: (options) => startProgram(command, options),
  };
}

export const otherLanguages: readonly CorrectReceiver[] = [
  inLanguage('python-http-server', 'Python, http.server with a thread for each connection.', [
    'python3',
    fileOf('http_server.py'),
  ]),
  inLanguage('python-wsgi', 'Python, a WSGI application on wsgiref, which answers one request at a time.', [
    'python3',
    fileOf('wsgi.py'),
  ]),
  inLanguage('perl-sockets', 'Perl, bare sockets and eight processes.', ['perl', fileOf('sockets.pl')]),
  inLanguage('php-built-in', 'PHP, its built-in server.', ['php', fileOf('built-in-server.php')]),
  inLanguage('ruby-sockets', 'Ruby, TCPServer with a thread for each connection.', ['ruby', fileOf('sockets.rb')]),
  inLanguage('ruby-webrick', 'Ruby, WEBrick.', ['ruby', fileOf('webrick.rb')]),
  inLanguage('java-http-server', 'Java, com.sun.net.httpserver with a pool of threads.', [
    'java',
    '-Xshare:auto',
    '-XX:TieredStopAtLevel=1',
    fileOf('Receiver.java'),
  ]),
  inLanguage('go-net-http', 'Go, net/http.', ['go', 'run', fileOf('receiver.go')]),
];
