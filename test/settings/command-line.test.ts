import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/core/errors.js';
import { FAULTS, parseFaults } from '../../src/local-service/faults.js';
import { DEMO_TOKEN } from '../../src/local-service/serve.js';
import { parseCommandLine } from '../../src/settings/command-line.js';
import { COMMANDS } from '../../src/settings/commands.js';
import { loadSettings } from '../../src/settings/load-settings.js';
import { COMMAND_NAMES, type CommandName, flagUsage, oppositeFlag } from '../../src/settings/setting.js';
import { SETTING_ENTRIES, settingsOf } from '../../src/settings/settings.js';
import { refusal } from './refusal.js';

const parse = (...argv: string[]) => parseCommandLine(argv, '1.2.3');

function helpOf(...argv: string[]): string {
  const parsed = parse(...argv);
  if (!('help' in parsed)) throw new Error('no help was given');
  return parsed.help;
}

function argumentsOf(command: CommandName): string[] {
  const { argument } = COMMANDS[command];
  return argument === undefined ? [] : [argument.choices?.[0] ?? 'x'];
}

const refused = (...argv: string[]) => refusal(() => parse(...argv));

describe('the command line', () => {
  it.each([
    'schedule add nightly run c.csv --cron 0_2 --max-cost 5',
    'schedule add nightly --cron 0_2 run c.csv -o x.csv',
    'schedule add run c.csv --plan paid',
  ])('reports where the run of a schedule belongs when -- is missing: %s', (line) => {
    expect(refused(...line.split(' ')).todo).toBe(
      'write -- before run: schedule add NAME --cron CRON -- run INPUT',
    );
  });

  it('is parsed into a command, its arguments and only the given flags', () => {
    expect(
      parse('run', 'in.csv', '-o', 'out.csv', '--column', 'site:domain', '--column=b', '--rate', '0'),
    ).toEqual({
      command: 'run',
      args: ['in.csv'],
      flags: { output: 'out.csv', column: ['site:domain', 'b'], rate: '0' },
    });
  });

  it('sets no default of a flag', () => {
    for (const command of COMMAND_NAMES) {
      const args = argumentsOf(command);
      expect(parse(...command.split(' '), ...args)).toEqual({ command, args, flags: {} });
    }
  });

  it.each([
    [['--no-header'], { header: false }],
    [['--header'], { header: true }],
    [['--refresh'], { refresh: true }],
    [['--no-refresh'], { refresh: false }],
    [['--no-color', '--color'], { color: true }],
    [['--limit', '5', '--limit', '6'], { limit: '6' }],
    [['--delimiter', '-'], { delimiter: '-' }],
  ])('%j says %j', (flags, expected) => {
    expect(parse('plan', 'in.csv', ...flags)).toMatchObject({ flags: expected });
  });

  it('takes flags before and after arguments, and words after -- literally', () => {
    expect(parse('run', '--yes', 'in.csv', '--quiet')).toMatchObject({ args: ['in.csv'] });
    expect(parse('run', '--', '--odd-name.csv')).toMatchObject({ args: ['--odd-name.csv'] });
    expect(parse('run', '-')).toMatchObject({ args: ['-'] });
    const args = ['a.example', 'ticker:B'];
    expect(parse('outcomes', 'forget', ...args)).toEqual({ command: 'outcomes forget', args, flags: {} });
  });

  it('of plan may contain every flag of run, and run --dry-run is plan', () => {
    const flags = settingsOf('plan');
    expect(settingsOf('run').filter((entry) => !flags.some(([name]) => name === entry[0]))).toEqual([]);
    expect(parse('run', 'in.csv', '--dry-run', '-o', 'x.csv')).toMatchObject({
      command: 'plan',
      flags: { output: 'x.csv' },
    });
    expect(parse('run', 'in.csv', '--dry-run', '--no-dry-run')).toMatchObject({ command: 'run' });
  });

  it('knows --version', () => {
    expect(parse('--version')).toEqual({ version: '1.2.3' });
    expect(parse('-V')).toEqual({ version: '1.2.3' });
  });
});

describe('a wrong command line', () => {
  it.each([
    [['rnu', 'x'], 'no such command: rnu; did you mean run?'],
    [['frobnicate'], 'no such command: frobnicate; see brand-enrich --help'],
    [
      ['list.csv', '-o', 'x.csv'],
      'no such command: list.csv; to enrich a file, write brand-enrich run list.csv',
    ],
    [['./run'], 'no such command: ./run; to enrich a file, write brand-enrich run ./run'],
    [['ledger'], 'the command is incomplete: ledger; add one of show, observe, check, reset'],
    [['outcomes', 'prge'], 'no such command: outcomes prge; did you mean outcomes purge?'],
    [['--json', 'run', 'x'], 'the command comes first: --json; write brand-enrich'],
    [['run'], 'INPUT is missing: run; give a CSV'],
    [['completion', 'fisch'], 'no such SHELL: completion; did you mean fish?'],
    [['run', 'a', 'b'], 'run takes one INPUT: 2 were given; run it once for each'],
    [['help', 'rnu'], 'no such command: rnu; did you mean run?'],
    [['status', 'now'], 'status takes flags only'],
    [['run', 'x', '--concurency', '3'], 'no such flag: --concurency; did you mean --concurrency?'],
    [['run', 'x', '--concurency=3'], 'no such flag: --concurency; did you mean --concurrency?'],
    [['run', 'x', '--no-colour'], 'no such flag: --no-colour; did you mean --no-color?'],
    [['run', 'x', '-z'], 'no such flag: -z; see brand-enrich run --help'],
    [['run', 'x', '--port', '80'], 'not a flag of run: --port; it belongs to serve'],
    [['up', '--port', '80'], 'it belongs to serve; up has --metrics-port, --dashboard-port'],
    [
      ['watch', '--inbox', 'x'],
      'not a flag of watch: --inbox; write DIR without a flag: brand-enrich watch DIR',
    ],
    [['run', '--file', 'x'], 'no such flag: --file; write INPUT without a flag: brand-enrich run INPUT'],
    [['run', 'x', '--rate'], 'a value is missing: --rate; write --rate N'],
    [['run', 'x', '--json=true'], 'this flag takes no value: --json; omit it'],
  ])('%j: %s', (argv, words) => {
    const error = refused(...argv);
    expect(error.message).toContain(words);
    expect(error.code).toBe('usage-invalid');
    expect(error.exitCode).toBe(EXIT.usage);
  });

  it('reports all its problems at once', () => {
    const { message } = refused('run', 'x', '--concurency', '3', '--port', '1', '--json=1', '--rate');
    for (const flag of ['--concurency', '--port', '--json', '--rate'])
      expect(message).toContain(`: ${flag};`);
    expect(message).toMatch(/^4 problems: /);
  });

  it.each([
    ['run', 'x', '--token', 'sesame-open'],
    ['run', 'x', '--api-key=sesame-open'],
    ['--token=sesame-open', 'run'],
    ['worker', '--auth-token', 'sesame-open'],
  ])('never repeats a token: %s %s %s', (...argv) => {
    const { message } = refused(...argv);
    expect(message).toContain('set BRAND_API_TOKEN, or give a file that holds it with --token-file');
    expect(message).not.toContain('sesame');
  });

  it('never repeats unexpected words', () => {
    expect(refused('run', 'x', 'sesame-open').message).not.toContain('sesame');
    expect(refused('status', 'sesame-open').message).not.toContain('sesame');
  });
});

describe('help', () => {
  it('lists the commands when no command is given', () => {
    for (const help of [helpOf(), helpOf('--help'), helpOf('help')]) {
      for (const name of COMMAND_NAMES)
        expect(help).toMatch(new RegExp(`^  ${name.split(' ')[0]} .*\\S`, 'm'));
    }
  });

  it('of a command or a command group is found however it is requested', () => {
    const ofShow = helpOf('ledger', 'show', '--help');
    expect(ofShow).toMatch(/^Usage: brand-enrich ledger show /);
    expect(helpOf('help', 'ledger', 'show')).toBe(ofShow);
    expect(helpOf('ledger', 'help', 'show')).toBe(ofShow);
    expect(helpOf('ledger', 'show', '--bogus', '-h')).toBe(ofShow);
    const ofLedger = helpOf('ledger', '--help');
    expect(ofLedger).toMatch(/^Usage: brand-enrich ledger /);
    expect(helpOf('help', 'ledger')).toBe(ofLedger);
    expect(helpOf('ledger', 'help')).toBe(ofLedger);
  });

  it('is not shown for the value of a flag or a word after --', () => {
    expect(parse('run', 'x', '-o', '--help')).toMatchObject({ flags: { output: '--help' } });
    expect(parse('run', '-ofoo', '--', '--help')).toMatchObject({
      args: ['--help'],
      flags: { output: 'foo' },
    });
  });

  it('of a command that asks the service says which variables it reads', () => {
    const variables = ['BRAND_API_URL', 'BRAND_API_TOKEN', 'REDIS_URL', 'DATABASE_URL'];
    const environment = /^Environment:\n(?: {2}(\S+) .*\n)+/m;
    for (const command of ['run', 'plan', 'watch', 'up', 'worker']) {
      const [section = ''] = environment.exec(`${helpOf(command, '--help')}\n`) ?? [];
      expect(section.match(/^ {2}\w+/gm)?.map((name) => name.trim())).toEqual(variables);
    }
    expect(helpOf('schema', '--help')).not.toContain('Environment:');
  });

  it.each(COMMAND_NAMES.filter((name) => name !== 'config'))(
    'of %s shows each of its flags with its default, and no other',
    (command) => {
      const help = helpOf(...command.split(' '), '--help', 'all');
      const flat = help.replace(/\s+/g, ' ');
      for (const [, line] of SETTING_ENTRIES) {
        const usage = flagUsage(line);
        if (usage === null) continue;
        const isMine = line.commands.includes(command);
        const isShown = new RegExp(`^  ${usage.replace(/[[\]|$]/g, '\\$&')} `, 'm').test(help);
        // Settings of different commands may share a flag.
        const isTwin = SETTING_ENTRIES.some(
          ([, other]) => other !== line && other.commands.includes(command) && flagUsage(other) === usage,
        );
        expect(`${usage}: ${isShown}`).toBe(`${usage}: ${isMine || isTwin}`);
        if (isMine) expect(flat).toContain(line.description);
        if (isMine && line.defaultText !== '') expect(flat).toContain(`(default: ${line.defaultText})`);
      }
      for (const line of Object.keys(COMMANDS[command].examples))
        expect(help).toContain(`  brand-enrich ${line}`);
    },
  );

  it('of serve names its token and every fault', () => {
    const help = helpOf('serve', '--help');
    expect(help).toContain(`the token is ${DEMO_TOKEN}`);
    const notes = help.slice(help.indexOf('Keys of --fault:'), help.indexOf('Exit codes:'));
    const shown = [...notes.matchAll(/([\w-]+)=(\S+)/g)];
    expect(shown.map(([, key]) => key).sort()).toEqual(Object.keys(FAULTS).sort());
    const meant = shown.map(([text]) => text.replace(/=(N|SECONDS)$/, '=3'));
    expect(() => parseFaults(meant)).not.toThrow();
  });

  it('of run begins with examples and the main flags, then has the others in groups', () => {
    const help = helpOf('run', '--help', 'all');
    const headings = [...help.matchAll(/^(\w[\w ]*):$/gm)].map(([, heading]) => heading);
    expect(headings.join(', ')).toBe(
      'Examples, Arguments, Main flags, Input, Columns, Output, Money, Limits, Service, Network, Engine, ' +
        'Notifications, Logging and monitoring, Environment, Exit codes',
    );
    const main = help.slice(help.indexOf('Main flags:'), help.indexOf('\nInput:'));
    expect(main.match(/^ {2}-/gm)).toHaveLength(18);
    expect(helpOf('help', 'run', 'all')).toBe(help);
  });

  it('of a command with many flags fits on a screen, and says where the rest is', () => {
    for (const command of ['run', 'plan', 'watch', 'up']) {
      const help = helpOf(command, '--help');
      expect(help.split('\n').length).toBeLessThanOrEqual(50);
      expect(help).toContain(`\`brand-enrich ${command} --help all\` has every flag`);
      expect(help).not.toContain('--delimiter');
    }
    const shown = {
      run: ['--try', '--priority', '--yes', '--json', '--quiet', '--where'],
      up: ['--inbox', '--dashboard-port', '--notify-url'],
      watch: ['--settle', '--poll', '--notify-mail'],
    };
    for (const [command, flags] of Object.entries(shown))
      for (const flag of flags) expect(helpOf(command, '--help')).toContain(`  ${flag}`);
    expect(helpOf('up', '--help')).not.toMatch(/--(try|priority|fill|column)/);
  });

  it('of every command lists its exit codes', () => {
    const codesIn = (help: string) =>
      [...help.slice(help.indexOf('Exit codes:')).matchAll(/^ {2}(\d+) +\S/gm)].map(([, code]) =>
        Number(code),
      );
    for (const command of COMMAND_NAMES)
      expect(codesIn(helpOf(...command.split(' '), '--help', 'all'))).toEqual(
        expect.arrayContaining([EXIT.done, EXIT.usage, EXIT.ioError]),
      );
    expect(codesIn(helpOf('run', '--help', 'all'))).toEqual(Object.values(EXIT));
    expect(codesIn(helpOf('watch', '--help', 'all'))).toContain(EXIT.credentials);
  });

  it('of config stays short, though it accepts the flags of other commands', () => {
    expect(helpOf('config', '--help')).not.toContain('--concurrency <');
    expect(parse('config', '--concurrency', '8')).toMatchObject({ flags: { concurrency: '8' } });
  });

  it('keeps every line within the page width', () => {
    for (const command of COMMAND_NAMES)
      expect(helpOf(...command.split(' '), '--help')).not.toMatch(/^.{121}/m);
  });

  it('has valid examples', () => {
    const env = { BRAND_API_URL: 'https://api.example.com', BRAND_API_TOKEN: 'x' };
    for (const [name, command] of Object.entries(COMMANDS)) {
      const lines = Object.keys(command.examples);
      expect(lines).not.toHaveLength(0);
      for (const line of lines) {
        const parsed = parse(...line.split(' '));
        if (!('command' in parsed)) throw new Error(`no command: ${line}`);
        expect(parsed.command).toBe(name);
        const given = parsed.flags.sample === true ? {} : env;
        loadSettings({ ...parsed, env: given, file: null, home: '/home/ada' });
      }
    }
  });
});

describe('the table of settings', () => {
  it('gives every command unique flags, keys and short flags', () => {
    for (const command of COMMAND_NAMES) {
      const lines = settingsOf(command).map(([, line]) => line);
      const words = lines
        .flatMap((line) => [line.flag, line.short, oppositeFlag(line)])
        .filter((each) => each !== null);
      expect(new Set(words).size).toBe(words.length);
      const keys = lines.flatMap((line) => line.key ?? []);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  it('gives every setting its own environment variable and config key', () => {
    const variables = SETTING_ENTRIES.flatMap(([, line]) =>
      [line.env ?? [], line.envAliases.map(({ name }) => name)].flat(),
    );
    expect(new Set(variables).size).toBe(variables.length);
    const keys = SETTING_ENTRIES.flatMap(([, line]) => (line.isInFile ? (line.key ?? []) : []));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('has each flag read by its command', () => {
    for (const command of COMMAND_NAMES) {
      const argument = argumentsOf(command);
      for (const [, line] of settingsOf(command)) {
        if (line.flag === null || line.key === null) continue;
        const isSwitch = line.kind.arity === 'switch';
        const parsed = parse(...command.split(' '), ...argument, line.flag, ...(isSwitch ? [] : ['1']));
        const value = line.kind.arity === 'repeated' ? ['1'] : '1';
        expect(parsed).toMatchObject({
          flags: { [line.key]: isSwitch ? !line.flag.startsWith('--no-') : value },
        });
      }
    }
  });
});
