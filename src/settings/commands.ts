/** The commands: what each takes besides flags (`settings.ts`), what it does, and examples. */
import { EXIT } from '../core/errors.js';

interface CommandArgument {
  readonly name: string;
  readonly description: string;
  readonly isRepeated?: boolean;
  readonly isOptional?: boolean;
  readonly choices?: readonly string[];
}

export interface Command {
  readonly argument?: CommandArgument;
  /** One line for the list of commands, without a full stop. */
  readonly summary: string;
  readonly notes?: readonly string[];
  /** What each example does, by its arguments. */
  readonly examples: Readonly<Record<string, string>>;
  /** Exit codes besides 0, 2 and 5, or with a meaning of their own; 'of a run': those of `run`. */
  readonly exits?: 'of a run' | Readonly<Record<number, string>>;
}

const UNTIL_STOPPED = {
  [EXIT.done]: 'stopped by Ctrl-C or SIGTERM',
  [EXIT.interrupted]: 'stopped before all requests in flight had answers; they may be sent again',
};
const INBOXES = { ...UNTIL_STOPPED, [EXIT.credentials]: 'the service refused the credentials' };
const TRANSFER = { [EXIT.someFailed]: 'done without the damaged parts', [EXIT.interrupted]: 'interrupted' };

const RUN: CommandArgument = {
  name: 'RUN',
  description: 'id of a run, or the name of a file, schedule or mcp server; status lists them',
};

const SCHEDULE: CommandArgument = { name: 'NAME', description: 'the name of a schedule' };

const INPUT: CommandArgument = {
  name: 'INPUT',
  description: 'a CSV, JSON, JSONL, Excel or Parquet file, also .gz or .zip; - for stdin',
};

const TABLE = {
  run: {
    argument: INPUT,
    summary: 'enrich one file; run the same command again to continue after a stop',
    exits: 'of a run',
    examples: {
      'run customers.csv --sample': 'try it out: no token, no cost',
      'run customers.csv --column website:domain': 'name the column, write customers.enriched.csv',
      'run customers.csv --plan paid --overage-budget 5 --overage-price 0.1':
        'at most 50 requests beyond the quota',
      'run customers.csv --try 20': 'look up 20 first, then decide',
      'run funds.jsonl.gz --kind isin -o ranked.xlsx': 'another format in and out',
    },
  },
  plan: {
    argument: INPUT,
    summary: 'read the file and estimate requests and cost; spends nothing',
    exits: { [EXIT.interrupted]: 'interrupted' },
    notes: ['plan takes every flag of run, and does the same as run --dry-run.'],
    examples: { 'plan customers.csv --column website:domain': 'requests needed, cost, quota left' },
  },
  watch: {
    argument: {
      name: 'DIR',
      description: 'the folder that holds inbox/, done/ and others; missing ones are created',
    },
    summary: 'watch an inbox: enrich each file dropped into DIR/inbox, until stopped',
    exits: INBOXES,
    examples: {
      'watch /data/brands': 'take files from /data/brands/inbox, put results into done',
      'watch . --sample': 'try it out in this folder: no token, no cost',
      'watch /mnt/share --poll 10s --engine redis://queue.example:6379':
        'a network share, with watchers on several machines',
    },
  },
  up: {
    summary: 'run worker, inboxes, schedules, dashboard, metrics and health in one process',
    exits: INBOXES,
    examples: {
      up: 'with the settings of brand-enrich.config.json',
      'up --inbox /data/brands --inbox /data/funds': 'with two inboxes',
      'up --sample --inbox .': 'try it out in this folder: no token, no cost',
    },
  },
  worker: {
    summary: 'do the lookups of runs in other processes and on other machines',
    exits: UNTIL_STOPPED,
    examples: { 'worker --engine redis://queue.example:6379': 'with the token from BRAND_API_TOKEN' },
  },
  serve: {
    summary: 'run a local service that follows every rule of the real one, for trials and tests',
    exits: UNTIL_STOPPED,
    notes: [
      'Without --accounts, the token is demo-token.',
      'Keys of --fault:',
      '  latency=100ms jitter=50ms            delay each answer, plus up to the jitter',
      '  500=10% 503=10%                      answer this share of requests with the error; not billed',
      '  outage-from=10s outage-for=5m        answer 503 in this window, counted from the start',
      '  drop=10% reset=10%                   close the connection unbilled (drop) or billed (reset)',
      '  truncate=10% damage=10%              cut the answer off, or send no JSON; billed',
      '  per-second=N retry-after=SECONDS     answer 429 beyond N requests in a second',
      '  usage-lag=2s usage-headers=off       send usage headers late, or not at all',
      '  dialect=coded crawl-queued=10%       send error codes; answer 404 while a brand is fetched',
      '  seed=N                               choose another random sequence',
    ],
    examples: {
      'serve --port 8080': 'sample brands, on this machine only; the token is demo-token',
      'serve --catalogue brands.jsonl --accounts accounts.json': 'your own brands and accounts',
      'serve --fault latency=100ms --fault 503=10%': 'with faults',
      'serve --accounts accounts.json --statement --month 2026-11':
        'print what each account used and owes for November',
    },
  },
  mcp: {
    argument: {
      name: 'NAME',
      description: 'name of the server; servers with one name share a daily limit (default: mcp)',
      isOptional: true,
    },
    summary: 'serve lookups and files to an agent, over standard input and output (MCP)',
    exits: UNTIL_STOPPED,
    notes: [
      'All servers with one name together send at most --max-requests a day (UTC; default 100), and nothing',
      'beyond the quota without --plan paid or --overage-budget. brand-enrich pause stops them.',
    ],
    examples: {
      'mcp --sample': 'try it out: no token, no cost',
      'mcp crm --max-requests 500 --root /data/lists': 'at most 500 requests a day, files below this folder',
    },
  },
  status: { summary: 'show runs, queue, quota and budget', examples: { 'status --json': 'for programs' } },
  pause: {
    argument: { ...RUN, isOptional: true },
    summary: 'pause all spending on this engine, or one run, file or schedule',
    notes: [
      'Requests in flight finish, and their answers are stored. A pause lasts through restarts, ' +
        'until resume.',
    ],
    examples: {
      pause: 'at once, for every run',
      'pause r-20260114-7f3a': 'one run; the others continue',
      'pause nightly': 'a schedule: its due times are skipped',
    },
  },
  resume: {
    argument: { ...RUN, isOptional: true },
    summary: 'allow spending on this engine again, or resume one run, file or schedule',
    examples: {
      resume: 'all runs continue, except those that were paused by id or name',
      'resume r-20260114-7f3a': 'one run',
    },
  },
  cancel: {
    argument: RUN,
    summary: 'cancel one run or file: it sends no further requests, also after a restart',
    examples: { 'cancel r-20260114-7f3a': 'its paid answers stay stored' },
  },
  'ledger show': {
    summary: 'show what the account has used and what is left',
    examples: { 'ledger show --account team': 'of a named account' },
  },
  'ledger observe': {
    summary: "correct the account with the figures from the service's website",
    examples: { 'ledger observe --usage 1234': '1,234 requests of this period are used' },
  },
  'ledger check': {
    argument: {
      name: 'IDENTIFIER',
      description: 'what to look up if the newest run deferred nothing, such as acme.com or ticker:ACME',
      isOptional: true,
    },
    summary: 'look up the first deferred identifier, beyond the limit, to see whether the quota was raised',
    exits: {
      [EXIT.credentials]: 'the service refused the credentials',
      [EXIT.someFailed]: 'the service gave no usable answer',
      [EXIT.limit]: 'the quota is still used up, or no request is allowed now; the message says why',
      [EXIT.interrupted]: 'interrupted; nothing was sent if you had not answered yet',
    },
    notes: ['Sends one request, at most one an hour, and first names its highest cost. Stores the answer.'],
    examples: {
      'ledger check': 'what the newest run would have asked for next',
      'ledger check acme.com': 'after a run without deferred rows',
    },
  },
  'ledger reset': {
    summary: 'forget the account and its spending',
    notes: ['Stop its runs and workers first: they would write their figures back.'],
    examples: { 'ledger reset --account team': 'the next run reads usage from the service' },
  },
  'outcomes stats': {
    summary: 'show how many answers are stored, and how old they are',
    examples: { 'outcomes stats': 'of this engine' },
  },
  'outcomes forget': {
    argument: {
      name: 'IDENTIFIER',
      description: 'what to forget, such as acme.example or ticker:ACME',
      isRepeated: true,
    },
    summary: 'forget the stored answers of these identifiers',
    examples: { 'outcomes forget acme.example ticker:ACME': 'the next run requests them again' },
  },
  'outcomes purge': {
    summary: 'forget stored answers by age',
    examples: { 'outcomes purge --older-than 7d': 'keep the answers of the last week' },
  },
  'engine status': {
    summary: 'show the engine, its address, version, users and size',
    examples: { 'engine status': 'starts nothing and changes nothing' },
  },
  'engine stop': {
    summary: 'stop the server of the embedded engine, unless a process uses it',
    examples: { 'engine stop': 'afterwards the state folder can be copied' },
  },
  'engine export': {
    summary: "write all stored answers and the period's spending as JSONL",
    exits: TRANSFER,
    notes: ['Without --output, the export goes to standard output.'],
    examples: {
      'engine export -o answers.jsonl.gz': 'of the embedded engine',
      'engine export --engine redis://queue.example:6379 -o answers.jsonl.gz': 'of a Redis server',
    },
  },
  'engine import': {
    argument: { name: 'FILE', description: 'an export, plain or .gz; - for standard input, only plain' },
    summary: 'import the answers and the spending of another engine',
    exits: TRANSFER,
    notes: [
      'Answers keep their dates and never replace newer ones; answers older than 30 days are skipped.',
      'If both engines count spending for a period, the larger count applies. Importing twice is safe.',
    ],
    examples: {
      'engine import answers.jsonl.gz': 'into the embedded engine',
      'engine import answers.jsonl.gz --start-empty': 'after setting aside data that cannot be used',
    },
  },
  'schedule add': {
    argument: {
      name: 'NAME -- RUN',
      description: 'a name, then -- and the command: run INPUT with its flags',
      isRepeated: true,
    },
    summary: 'run a file at set times on this machine; output names may contain {date} and {time}',
    examples: {
      "schedule add nightly --cron '0 2 * * *' --tz Europe/Berlin -- run customers.csv -o out/{date}.csv":
        'every night at two',
      "schedule add weekly --cron '0 6 * * 1' --catch-up -- run funds.csv --max-cost 5":
        'on Mondays, or when the machine is back on; each run spends at most 5',
    },
  },
  'schedule list': {
    summary: 'list schedules: next run, last result, and whether their machine is up',
    examples: { 'schedule list --json': 'for programs' },
  },
  'schedule remove': {
    argument: SCHEDULE,
    summary: 'remove a schedule; a run in progress finishes',
    examples: { 'schedule remove nightly': 'its results are kept' },
  },
  'schedule run-now': {
    argument: SCHEDULE,
    summary: 'run a schedule once, now',
    examples: { 'schedule run-now nightly': 'on its own machine' },
  },
  'schedule serve': {
    summary: "run this machine's schedules at their times, until stopped",
    exits: UNTIL_STOPPED,
    examples: { 'schedule serve': 'with the service and token of BRAND_API_URL and BRAND_API_TOKEN' },
  },
  init: {
    summary: 'ask for address, token file, plan and engine, try them at no cost, and write a config file',
    exits: {
      [EXIT.credentials]: 'the service refused the credentials: nothing was written',
      [EXIT.interrupted]: 'interrupted: nothing was written',
    },
    notes: [
      'The token is not shown; it is written to a separate file that only you can read. Nothing is ' +
        'spent: the only request',
      "looks up the service's own brand, which is free, and is sent only if you enter its domain. " +
        'An existing file is',
      'replaced only if you agree.',
    ],
    examples: {
      init: 'asks, and writes brand-enrich.config.json',
      'init --base-url https://api.brandfetch.io --token-file token.txt --own-domain brandfetch.com --yes':
        'without questions',
    },
  },
  doctor: {
    summary: 'check address, token, engine, disk, clock, inboxes, webhook and mail; spends nothing',
    notes: [
      'The only request looks up the domain of --own-domain, which is free; without it, a connection is',
      'made and nothing sent, and the token is not tried. Missing folders of an inbox are created.',
    ],
    examples: {
      doctor: 'with the settings of brand-enrich.config.json',
      'doctor --own-domain brandfetch.com': 'the token too',
      'doctor --json': 'for programs; exit code 5 if a check failed',
    },
  },
  completion: {
    argument: {
      name: 'SHELL',
      description: 'bash, zsh or fish',
      choices: ['bash', 'zsh', 'fish'],
      isRepeated: true,
    },
    summary: 'print a script that completes commands, flags and values in a shell',
    examples: {
      'completion bash': 'in ~/.bashrc: eval "$(brand-enrich completion bash)"',
      'completion zsh': 'in ~/.zshrc, after compinit: eval "$(brand-enrich completion zsh)"',
      'completion fish': 'in ~/.config/fish/config.fish: brand-enrich completion fish | source',
    },
  },
  schema: {
    argument: {
      name: 'DOCUMENT',
      description: 'a document of the list; without it, the list is printed',
      isOptional: true,
    },
    summary: 'list the JSON documents and files, or print the JSON schema of one',
    examples: {
      schema: 'the list',
      'schema report': 'the schema of reports and of run --json',
      'schema openapi': 'the HTTP routes of the dashboard for programs',
      'schema config-file': 'for an editor: save it, and name it as "$schema" in brand-enrich.config.json',
    },
  },
  config: {
    summary: 'show each setting, its value and its origin; secrets are masked',
    examples: {
      config: 'settings from the environment and the config file',
      'config --rate 50': 'settings as a command with this flag would use them',
    },
  },
} satisfies Record<string, Command>;

export const COMMANDS: Readonly<Record<keyof typeof TABLE, Command>> = TABLE;

/** The first words of commands that have two. */
export const COMMAND_FAMILIES: Readonly<Record<string, string>> = {
  ledger: 'show or correct the account: show, observe, check, reset',
  outcomes: 'manage stored answers: stats, forget, purge',
  engine: 'manage the engine: status, stop, export, import',
  schedule: 'run files at set times: add, list, remove, run-now, serve',
};
