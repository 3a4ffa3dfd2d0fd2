/** A stand-in for Redis versions that this machine does not have: it answers from a table. */
import { createServer } from 'node:net';
import { listenForTest } from '../../support/listen-anew.js';

/**
 * `answer` receives the words of a command, and returns the reply in wire format. `asked` has the
 * names of the commands in order of arrival.
 */
export async function startScriptedRedis(answer: (words: readonly string[]) => string) {
  const asked: string[] = [];
  const server = createServer((socket) => {
    let received = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      for (let next = readCommand(received); next; next = readCommand(received)) {
        received = next.rest;
        asked.push(next.words[0]?.toUpperCase() ?? '');
        socket.write(answer(next.words));
      }
    });
  });
  return { url: `redis://127.0.0.1:${await listenForTest(server)}`, asked };
}

/** The first complete command (`*2 $3 GET $1 k`, each line ended by CR LF), and the rest. */
function readCommand(text: string): { words: string[]; rest: string } | null {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (!head) return null;
  let at = head[0].length;
  const words: string[] = [];
  for (let word = 0; word < Number(head[1]); word += 1) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at, at + 20));
    if (!size) return null;
    const from = at + size[0].length;
    at = from + Number(size[1]) + 2;
    if (at > text.length) return null;
    words.push(text.slice(from, at - 2));
  }
  return { words, rest: text.slice(at) };
}

export const bulk = (text: string) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
export const bulks = (...list: string[]) => `*${list.length}\r\n${list.map(bulk).join('')}`;
