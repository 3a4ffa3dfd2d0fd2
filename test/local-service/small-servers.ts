/** A webhook receiver and a mail server that record what they receive, for the tests of notices. */
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';

export interface Received<T> {
  readonly port: number;
  /** Resolves with the next message that was not returned yet. */
  next(): Promise<T>;
  /** How many arrived in all. */
  readonly count: number;
  close(): Promise<void>;
}

/** Answers every POST with `status`. Port 0 is any free one. */
export async function startWebhook(status = 200, port = 0): Promise<Received<unknown>> {
  const box = createBox<unknown>();
  const server = createHttpServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      response.writeHead(status).end();
      box.put(JSON.parse(text));
    });
  });
  return opened(server, box, port);
}

export interface Mail {
  readonly to: string;
  readonly text: string;
}

/** Speaks as much SMTP (RFC 5321) as a delivery needs. */
export async function startMailServer(port = 0): Promise<Received<Mail>> {
  const box = createBox<Mail>();
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
          box.put({ to, text });
          text = null;
          socket.write('250 kept\r\n');
        } else text += `${line}\n`;
      }
    });
    socket.on('error', () => undefined);
  });
  return opened(server, box, port);
}

interface Box<T> {
  put(message: T): void;
  next(): Promise<T>;
  readonly count: number;
}

function createBox<T>(): Box<T> {
  const kept: T[] = [];
  const waiting: ((message: T) => void)[] = [];
  let count = 0;
  return {
    put(message) {
      count += 1;
      const first = waiting.shift();
      if (first) first(message);
      else kept.push(message);
    },
    next() {
      const [message] = kept.splice(0, 1);
      return message === undefined
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(message);
    },
    get count() {
      return count;
    },
  };
}

async function opened<T>(server: Server, box: Box<T>, port: number): Promise<Received<T>> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    next: () => box.next(),
    get count() {
      return box.count;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
