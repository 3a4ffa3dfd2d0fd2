/**
 * From a command's name to its door. Shared by all: streams, log, signals. What each does is in its own file, which is loaded
 * when it is asked for: all of them together take half a second.
 */
import type { ConfigFile } from '../config/read-config-file.js';
import type { CommandName } from '../config/setting.js';
import type { LoadedSettings } from '../config/settings.js';
import { showConfig, shownSettings } from '../config/show-config.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { printJson, printText } from '../core/terminal-text.js';
import type { ScheduleContext } from './schedule.js';

export interface CommandDoor extends ScheduleContext {
  readonly configFile: ConfigFile | null;
}

/** Throws what the doors throw. */
export async function runCommand(
  command: CommandName,
  args: readonly string[],
  loaded: LoadedSettings,
  door: CommandDoor,
): Promise<ExitCode> {
  const { settings } = loaded;
  switch (command) {
    case 'run':
      return (await import('./run.js')).runFile(args[0] ?? '-', loaded, door);
    case 'worker':
      return (await import('./worker.js')).runWorker(settings, door);
    case 'watch':
      return (await import('./watch.js')).runWatch(args[0] ?? '.', loaded, door);
    case 'up':
      return (await import('./up.js')).runUp(loaded, door);
    case 'serve':
      return (await import('./local-service.js')).runServe(settings, door);
    case 'generate-catalogue':
      return (await import('./local-service.js')).runGenerateCatalogue(args[0] ?? '', settings, door);
    case 'config':
      if (settings.json) printJson(door.stdout, shownSettings(loaded));
      else printText(door.stdout, `${showConfig(loaded, door.configFile)}\n`);
      return EXIT.done;
    case 'plan':
      return (await import('./plan.js')).runPlan(args[0] ?? '-', settings, door);
    case 'schedule add':
    case 'schedule list':
    case 'schedule remove':
    case 'schedule run-now':
    case 'schedule serve':
      return (await import('./schedule.js')).runSchedule(command, args, settings, door);
    default:
      return (await import('./admin.js')).runAdmin(command, args, settings, door);
  }
}
