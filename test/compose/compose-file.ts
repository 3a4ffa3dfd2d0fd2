/** `docker-compose.yml` with merge keys applied and variables substituted as Compose does. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile_inline: string };
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] } & Readonly<Record<string, unknown>>;
  readonly profiles?: readonly string[];
  readonly ports?: readonly string[];
  readonly hostname?: string;
  readonly container_name?: string;
  readonly stop_grace_period?: string;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** The program in a shell that decides whether its end is the end of the container. */
export const isStaying = ({ entrypoint }: ComposeService): boolean => entrypoint?.[0] === '/bin/sh';

/** What follows `node /app/dist/src/cli.js` when the user adds no arguments. */
export function argsOf(service: ComposeService | undefined): string[] {
  const { entrypoint = [], command = [] } = service ?? {};
  return [...(service && isStaying(service) ? [] : entrypoint.slice(2)), ...command];
}

export const COMPOSE_TEXT = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');

/** Replaces `${NAME:-default}` and `$$`; throws on any other `$`. */
export function interpolate(text: string, env: Readonly<Record<string, string>> = {}): string {
  return text.replace(/\$(\$|\{(\w+):-([^}]*)\}|)/g, (_, whole: string, name = '', fallback = '') => {
    if (whole === '$') return '$';
    if (whole === '') throw new Error('a $ that Compose would take for a variable without a default');
    return env[name] || fallback;
  });
}

/** The file with these environment variables. */
export function readCompose(env: Readonly<Record<string, string>> = {}): ComposeFile {
  return parse(interpolate(COMPOSE_TEXT, env), {
    merge: true,
    strict: true,
    uniqueKeys: true,
  }) as ComposeFile;
}
