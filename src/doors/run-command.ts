/**
 * From a command's name to its door. Shared by all: streams, log, signals. What each does is in its own file.
 */
import type { ConfigFile } from '../config/read-config-file.js';
import type { CommandName } from '../config/setting.js';
import type { LoadedSettings } from '../config/settings.js';
import { showConfig, shownSettings } from '../config/show-config.js';
import { EXIT, type ExitCode } from '../errors.js';
import { runKeeping } from './keeping.js';
import { runPlan } from './plan.js';
import { runFile } from './run.js';
import { runSchedule, type ScheduleDoor } from './schedule.js';
import { runServe } from './serve-command.js';
import { runUp } from './up.js';
import { runWatch } from './watch.js';
import { runWorker } from './worker.js';

export interface CommandDoor extends ScheduleDoor {
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
      return runFile(args[0] ?? '-', loaded, door);
    case 'worker':
      return runWorker(settings, door);
    case 'watch':
      return runWatch(args[0] ?? '.', loaded, door);
    case 'up':
      return runUp(loaded, door);
    case 'serve':
      return runServe(settings, door);
    case 'config':
      door.stdout.write(
        settings.json
          ? `${JSON.stringify(shownSettings(loaded))}\n`
          : `${showConfig(loaded, door.configFile)}\n`,
      );
      return EXIT.done;
    case 'plan':
      return runPlan(args[0] ?? '-', settings, door);
    case 'schedule add':
    case 'schedule list':
    case 'schedule remove':
    case 'schedule run-now':
    case 'schedule serve':
      return runSchedule(command, args, settings, door);
    default:
      return runKeeping(command, args, settings, door);
  }
}
