/** `mcp`: a Model Context Protocol server. Servers with one name share a daily cap. */
import type { Readable, Writable } from 'node:stream';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { z } from 'zod';
import { EXIT, type ExitCode } from '../core/errors.js';
import { orRelease, untilAborted } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { agentOwner } from '../engine/stores/run-store.js';
import { openEnricher } from '../library/open-enricher.js';
import type { Settings } from '../settings/settings.js';
import { CALLS, createAgentCalls, errorForAgent } from './agent-calls.js';
import { openAgentFiles } from './agent-files.js';
import type { CommandCall } from './answer.js';

const REQUESTS_A_DAY = 100;

/** Serves until standard input ends or a signal comes. Throws as opening the engine does. */
export async function runMcp(call: CommandCall): Promise<ExitCode> {
  const { settings, log, stop } = call;
  const [name = 'mcp'] = call.args;
  const { sample } = settings;
  const perDay = settings.maxRequests ?? REQUESTS_A_DAY;
  const terms = { name, owner: agentOwner(name), perDay, perCall: settings.perCall };
  const allowed = (each: Settings): Settings => ({
    ...each,
    maxRequests: perDay,
    // On a free plan, a worker tests whether the quota was raised; such a request may cost money.
    ...(settings.plan !== 'paid' && { plan: 'paid', overageBudget: '0' }),
  });
  const files = await openAgentFiles(settings.root);
  const opened = await orRelease((releasers) =>
    openEnricher(
      {
        settings: allowed(settings),
        settingsOf: (_, given) => allowed(call.load('run', { sample, ...flagsOf({ ...given }) }).settings),
        log,
        ...terms,
      },
      releasers,
    ),
  );
  const disconnected = new AbortController();
  const calls = createAgentCalls(opened, terms, files, { log, stop: disconnected.signal });
  const transport = new StdioServerTransport(call.stdin as Readable, call.stdout as Writable);
  const server = serveStdio(() => serverOf(calls, terms.perDay, log), {
    transport,
    onerror: (err) => log.warn({ err }, 'a message of the agent was not understood'),
  });
  for (const event of ['end', 'close'] as const) call.stdin.once(event, () => disconnected.abort());
  await untilAborted(AbortSignal.any([disconnected.signal, stop]));
  disconnected.abort();
  await server.close();
  await opened.enricher.close();
  return EXIT.done;
}

function flagsOf(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { column, where, sheet, limit, output, nameColumn } = given;
  const flags = { column, where, sheet, limit: limit?.toString(), output, nameColumn };
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

function serverOf(carryOut: ReturnType<typeof createAgentCalls>, perDay: number, log: Log): McpServer {
  const instructions =
    'Finds the brand behind a domain, ticker, ISIN, crypto symbol or brand id. Stored answers are free, ' +
    `others are paid for: at most ${perDay} requests a day. Plan a file before you enrich it.`;
  const server = new McpServer({ name: 'brand-enrich', version: '0' }, { instructions });
  for (const name of Object.keys(CALLS) as (keyof typeof CALLS)[]) {
    const { description, input: inputSchema, output: outputSchema } = CALLS[name];
    const readOnlyHint = name === 'plan_file' || name === 'run_status' || name === 'account';
    const annotations = { readOnlyHint, destructiveHint: false };
    const config = { description, inputSchema, outputSchema, annotations };
    server.registerTool<z.ZodType<object>, z.ZodType<object>>(name, config, async (given) => {
      try {
        const structuredContent = await carryOut(name, given);
        return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
      } catch (error) {
        return { isError: true, content: [{ type: 'text', text: errorForAgent(error, log) }] };
      }
    });
  }
  return server;
}
