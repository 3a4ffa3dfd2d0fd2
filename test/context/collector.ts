/**
 * An OTLP collector over HTTP on a real port for tests: records what it receives, byte for byte and
 * span for span, and answers as the test configures.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';

export interface SpanSeen {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root span. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of the sending process. */
  readonly resource: Readonly<Record<string, unknown>>;
  readonly hasFailed: boolean;
  readonly events: readonly string[];
}

export interface Collector {
  /** Without `/v1/traces`. */
  readonly url: string;
  readonly spans: readonly SpanSeen[];
  /** Every request as received, with its headers, as one text. */
  readonly received: string;
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** Status of the next answers; `silent`: never answers. */
  answers: number | 'silent';
  spansNamed(beginning: string): SpanSeen[];
  stop(): Promise<void>;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly boolValue?: boolean;
  readonly doubleValue?: number;
  readonly arrayValue?: unknown;
}
type KeyValues = readonly { readonly key: string; readonly value: Value }[];

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: KeyValues };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly attributes: KeyValues;
        readonly status: { readonly code?: number };
        readonly events?: readonly { readonly name: string }[];
      }[];
    }[];
  }[];
}

/** The number of `STATUS_CODE_ERROR` in OTLP. */
const ERROR = 2;

export async function startCollector(): Promise<Collector> {
  const spans: SpanSeen[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  let received = '';
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    received += `${request.url}\n${request.rawHeaders.join('\n')}\n${text}\n`;
    requests.push({ path: request.url ?? '', headers: request.headers });
    if (collector.answers === 'silent') return;
    if (collector.answers === 200) spans.push(...spansOf(JSON.parse(text) as Body));
    response.writeHead(collector.answers, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  const collector: Collector = {
    url: `http://127.0.0.1:${address.port}`,
    spans,
    requests,
    get received() {
      return received;
    },
    answers: 200,
    spansNamed: (beginning) => spans.filter(({ name }) => name.split(' ', 1)[0] === beginning),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return collector;
}

function spansOf({ resourceSpans }: Body): SpanSeen[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
        hasFailed: span.status.code === ERROR,
        events: (span.events ?? []).map(({ name }) => name),
      })),
    ),
  );
}

function valuesOf(attributes: KeyValues): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
