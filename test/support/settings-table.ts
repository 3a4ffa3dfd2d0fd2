/** Tables of settings for the README and the other documents; a test keeps them up to date. */
import type { CommandName, Setting } from '../../src/settings/setting.js';
import { COMMANDS_WITH_SETTINGS, flagUsage, SETTING_GROUPS } from '../../src/settings/setting.js';
import { SETTING_ENTRIES, type SettingName } from '../../src/settings/settings.js';

const HEADINGS = ['flag', 'environment', 'config file', 'default', 'for', 'what it says'];

/**
 * One Markdown table of the settings that `shows` selects, groups in the order of `--help`, without
 * a final line end.
 */
export function settingsTable(shows: (name: SettingName) => boolean = () => true): string {
  const shown = SETTING_ENTRIES.filter(([name]) => shows(name));
  const lines = SETTING_GROUPS.flatMap((group) =>
    shown.filter(([, line]) => line.group === group).map(([, line]) => tableRow(line)),
  );
  return [tableLine(HEADINGS), tableLine(HEADINGS.map(() => '---')), ...lines].join('\n');
}

function tableRow(line: Setting<unknown>): string {
  const variables = [line.env, ...line.envAliases.map(({ name }) => name)].filter((name) => name !== null);
  return tableLine([
    code(flagUsage(line)),
    variables.map(code).join(', '),
    line.isInFile ? code(line.key) : '',
    line.defaultText.replace(/^(\S+)$/, '`$1`'),
    commandsText(line),
    line.description,
  ]);
}

/** `config` accepts nearly all settings, so naming it would say nothing. */
function commandsText(line: Setting<unknown>): string {
  const accepts = (name: CommandName) => line.commands.includes(name);
  const commands = COMMANDS_WITH_SETTINGS.filter((name) => name !== 'config');
  const others = commands.filter((name) => !accepts(name));
  if (others.length >= commands.length / 2) return commands.filter(accepts).join(', ');
  return others.length === 0 ? 'all' : `all but ${others.join(', ')}`;
}

function code(text: string | null): string {
  return text === null ? '' : `\`${text}\``;
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
