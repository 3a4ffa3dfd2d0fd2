/**
 * From a command's name to its file, which is loaded when it is asked for: all of them together take half a second.
 */
import type { CommandName } from '../config/setting.js';
import type { LoadedSettings } from '../config/settings.js';
import { showConfig, shownSettings } from '../config/show-config.js';
import type { CommandContext } from '../context/open-context.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { printJson, printText } from '../core/terminal-text.js';

/** Throws what the commands throw. */
export async function runCommand(
  command: CommandName,
  args: readonly string[],
  loaded: LoadedSettings,
  context: CommandContext,
): Promise<ExitCode> {
  const { settings } = loaded;
  switch (command) {
    case 'run':
      return (await import('./run.js')).runRun(args[0] ?? '-', loaded, context);
    case 'worker':
      return (await import('./worker.js')).runWorker(settings, context);
    case 'watch':
      return (await import('./watch.js')).runWatch(args[0] ?? '.', loaded, context);
    case 'up':
      return (await import('./up.js')).runUp(loaded, context);
    case 'serve':
      return (await import('./local-service.js')).runServe(settings, context);
    case 'generate-catalogue':
      return (await import('./local-service.js')).runGenerateCatalogue(args[0] ?? '', settings, context);
    case 'config':
      if (settings.json) printJson(context.stdout, shownSettings(loaded));
      else printText(context.stdout, `${showConfig(loaded, context.configFile)}\n`);
      return EXIT.done;
    case 'plan':
      return (await import('./plan.js')).runPlan(args[0] ?? '-', settings, context);
    case 'engine status':
    case 'engine stop':
    case 'engine export':
    case 'engine import':
      return (await import('./engine.js')).runEngineCommand(command, args, settings, context);
    case 'schedule add':
    case 'schedule list':
    case 'schedule remove':
    case 'schedule run-now':
    case 'schedule serve':
      return (await import('./schedule.js')).runSchedule(command, args, settings, context);
    default:
      return (await import('./admin.js')).runAdmin(command, args, settings, context);
  }
}
