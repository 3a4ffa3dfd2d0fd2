/** `brand-enrich config`: every setting with its origin, and the schedules of the config file. */
import { showConfig, shownSettings } from '../config/show-config.js';
import type { ExitCode } from '../core/errors.js';
import { visibleLine } from '../core/terminal-text.js';
import { readFileSchedules } from '../daemon/schedules/file-schedules.js';
import { type CommandCall, show } from './answer.js';

/** Throws a NeverStartError (`usage-invalid`) for schedules that cannot be used. */
export function runConfig(call: CommandCall): ExitCode {
  const { configFile, load } = call;
  const schedules = readFileSchedules(configFile, load).map(({ name, cron, tz, line, input, catchesUp }) => ({
    name,
    cron,
    tz,
    line,
    input,
    catchesUp,
  }));
  const data = { file: configFile?.path ?? null, settings: shownSettings(call), schedules };
  const lines = schedules.map(({ name, cron, tz, line, catchesUp }) =>
    visibleLine(`  ${name}: ${cron} (${tz}${catchesUp ? ', a missed run is made up' : ''}): ${line}`),
  );
  const list = lines.length === 0 ? '' : `\nschedules in the file:\n${lines.join('\n')}\n`;
  return show({ data, text: `${showConfig(call, configFile)}${list}\n` }, call);
}
