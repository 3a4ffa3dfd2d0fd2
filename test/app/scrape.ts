/** Reads metrics like Prometheus, over HTTP and without product code. */
export interface Scrape {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** The sample with this name and these labels; undefined when there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(url);
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text,
    value(name, labels = {}) {
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      for (const line of text.split('\n')) {
        const match = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
        if (match?.[1] !== name) continue;
        const own = match[2] ?? '';
        if (wanted.every((label) => own.split(',').includes(label)) && (wanted.length > 0 || own === ''))
          return match[3] === '+Inf' ? Number.POSITIVE_INFINITY : Number(match[3]);
      }
      return undefined;
    },
  };
}
