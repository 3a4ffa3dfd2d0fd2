import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.js';

interface Mail {
  readonly to: string;
  readonly text: string;
}

/** Speaks as much SMTP (RFC 5321) as a delivery needs. Closes with the test. */
export async function startMailServer(given?: number) {
  const port = given ?? (await freePort());
  const kept: Mail[] = [];
  const waiting: ((mail: Mail) => void)[] = [];
  let count = 0;
  const receive = (mail: Mail) => {
    count += 1;
    const first = waiting.shift();
    if (first) first(mail);
    else kept.push(mail);
  };
  const server = createServer((socket) => {
    let to = '';
    let text: string | null = null;
    let rest = '';
    socket.write('220 test\r\n');
    socket.setEncoding('utf8').on('data', (part: string) => {
      const lines = (rest + part).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (text === null) {
          if (/^RCPT TO:/i.test(line)) to = line.slice(8);
          if (/^DATA/i.test(line)) text = '';
          socket.write(/^DATA/i.test(line) ? '354 go on\r\n' : '250 ok\r\n');
        } else if (line === '.') {
          receive({ to, text });
          text = null;
          socket.write('250 kept\r\n');
        } else text += `${line}\n`;
      }
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return {
    port,
    /** Resolves with the next message that was not returned yet. */
    async next(): Promise<Mail> {
      return kept.shift() ?? new Promise((resolve) => waiting.push(resolve));
    },
    get count() {
      return count;
    },
  };
}
