/** The list of settings in the manual; a test keeps it up to date. */
import {
  COMMANDS_WITH_SETTINGS,
  type CommandName,
  flagUsage,
  SETTING_GROUPS,
  type Setting,
} from '../../src/settings/setting.js';
import { SETTING_ENTRIES } from '../../src/settings/settings.js';

/** Defaults that say nothing. */
const NONE = new Set(['', 'none', 'off', 'no cap', 'not signed', 'no webhook', 'no e-mail', 'not written']);

/** Returns Markdown: a heading and a list for each group of `--help`, without a final line end. */
export function settingsList(): string {
  const lines = SETTING_ENTRIES.map(([, line]) => line);
  return SETTING_GROUPS.map((group) => {
    const own = lines.filter((line) => line.group === group);
    const texts = own.map(commandsText);
    // Said once, above the list.
    const most = texts.toSorted((one, other) => countOf(other, texts) - countOf(one, texts))[0] ?? '';
    const items = own.map((line, at) => itemText(line, texts[at] === most ? '' : (texts[at] ?? '')));
    return `### ${group}\n\nFor ${most}:\n\n${items.join('\n')}`;
  }).join('\n\n');
}

function itemText(line: Setting<unknown>, commands: string): string {
  const { flag, env, envAliases, key, isInFile, defaultText } = line;
  const name = (key ?? '').replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  const variables = [env === `BRAND_ENRICH_${name}` ? null : env, ...envAliases.map((alias) => alias.name)];
  const named = variables.filter((variable) => variable !== null).map(code);
  const sources = [
    ...named,
    ...(flag !== null && env === null ? [isInFile ? 'no variable' : 'flag only'] : []),
  ];
  const notes = [
    !NONE.has(defaultText) && `default ${defaultText.replace(/^(\S+)$/, '`$1`')}`,
    ...(flag === null ? [] : sources),
    commands && `for ${commands}`,
  ].filter(Boolean);
  const title = flag === null ? named.join(', ') : code(flagUsage(line) ?? '');
  return `- ${title}: ${line.description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
}

function countOf(text: string, texts: readonly string[]): number {
  return texts.filter((other) => other === text).length;
}

/** `config` accepts nearly all settings, so naming it would say nothing. */
function commandsText(line: Setting<unknown>): string {
  const accepts = (name: CommandName) => line.commands.includes(name);
  const commands = COMMANDS_WITH_SETTINGS.filter((name) => name !== 'config');
  const others = commands.filter((name) => !accepts(name));
  if (others.length === 0) return 'all commands';
  const isMost = others.length < commands.length / 2;
  const names = (isMost ? others : commands.filter(accepts)).join(', ');
  const short = names
    .replace('run, plan, watch, up', 'runs')
    .replace('ledger show, ledger observe, ledger check, ledger reset', 'ledger');
  return isMost ? `all but ${short}` : short;
}

function code(text: string): string {
  return `\`${text}\``;
}
