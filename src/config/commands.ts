/** The commands: what each takes besides flags (`settings.ts`), what it does, and examples. */
import { EXIT } from '../core/errors.js';

interface CommandArgument {
  /** As usage lines show it, in capitals. */
  readonly name: string;
  readonly description: string;
  readonly isRepeated?: boolean;
  readonly isOptional?: boolean;
  /** The only words that it may be. */
  readonly choices?: readonly string[];
}

export interface Command {
  readonly argument?: CommandArgument;
  /** One line for the list of commands, without a full stop. */
  readonly summary: string;
  /** Lines of `--help` before the examples. */
  readonly notes?: readonly string[];
  /** What each does, by what follows `brand-enrich`. */
  readonly examples: Readonly<Record<string, string>>;
  /** What its exit codes mean, where they are others than 0, 2 and 5 or mean something else. */
  readonly exits?: 'of a run' | Readonly<Record<number, string>>;
}

const STAYING = {
  [EXIT.done]: 'stopped by Ctrl-C or SIGTERM',
  [EXIT.interrupted]: 'stopped at once by a second signal',
};
const INBOXES = { ...STAYING, [EXIT.credentials]: 'the service refused the credentials' };
const TRANSFER = {
  [EXIT.someFailed]: 'done, what was damaged is left out',
  [EXIT.interrupted]: 'interrupted',
};

const SCHEDULE: CommandArgument = { name: 'NAME', description: 'the name of a schedule' };

const INPUT: CommandArgument = {
  name: 'INPUT',
  description: 'a CSV, TSV or JSONL file, plain or .gz; - is standard input',
};

/** In the order of `--help`. */
const TABLE = {
  run: {
    argument: INPUT,
    summary: 'enrich one file; the same command again goes on where it stopped',
    exits: 'of a run',
    examples: {
      'run customers.csv --sample': 'try it out: no token, no cost',
      'run customers.csv --column website:domain': 'name the column, write customers.enriched.csv',
      'run customers.csv --plan paid --overage-budget 5 --overage-price 0.1':
        'at most 50 requests beyond the quota',
      'run funds.jsonl.gz --kind isin -o ranked.csv --format csv': 'another format in and out',
    },
  },
  plan: {
    argument: INPUT,
    summary: 'read the file and estimate what a run would request and cost; spends nothing',
    exits: { [EXIT.interrupted]: 'interrupted' },
    notes: ['It takes every flag of run; run --dry-run is the same.'],
    examples: { 'plan customers.csv --column website:domain': 'requests needed, cost, what is left' },
  },
  watch: {
    argument: {
      name: 'DIR',
      description: 'the folder that holds, or will hold, inbox/, done/ and the others',
    },
    summary: 'an inbox: enrich each file that is dropped into DIR/inbox, until stopped',
    exits: INBOXES,
    examples: {
      'watch /data/brands': 'take files from /data/brands/inbox, put results into done',
      'watch . --sample': 'try it out in this folder: no token, no cost',
      'watch /mnt/share --poll 10s --engine redis://queue.example:6379':
        'a network share, with watchers on several machines',
    },
  },
  up: {
    summary: 'worker, inboxes, schedules, dashboard, metrics and health in one process, until stopped',
    exits: INBOXES,
    examples: {
      up: 'what brand-enrich.config.json says',
      'up --inbox /data/brands --inbox /data/funds': 'two inboxes and everything else',
      'up --sample --inbox .': 'try it out in this folder: no token, no cost',
    },
  },
  worker: {
    summary: 'do lookups for runs of other processes and machines',
    exits: STAYING,
    examples: { 'worker --engine redis://queue.example:6379': 'with the token from BRAND_API_TOKEN' },
  },
  serve: {
    summary: 'the local service: every rule of the real one, to try things out and to test against',
    exits: STAYING,
    notes: [
      'Without --accounts the token is demo-token.',
      'Keys of --fault:',
      '  latency=100ms jitter=50ms            each answer is delayed, plus a random jitter',
      '  500=10% 503=10%                      this share of requests gets these errors, not billed',
      '  outage-from=10s outage-for=5m        503 for all in this window, counted from the start',
      '  drop=10% reset=10%                   closed connections: not billed, or billed',
      '  truncate=10% damage=10%              billed answers that break off, or are not JSON',
      '  per-second=N retry-after=SECONDS     429 beyond N requests in a second',
      '  usage-lag=2s usage-headers=off       usage headers come late, or not at all',
      '  dialect=coded crawl-queued=10%       errors with a code; 404 for brands still being fetched',
      '  seed=N                               another random sequence of the same faults',
    ],
    examples: {
      'serve --port 8080': 'sample brands, on this machine only; the token is demo-token',
      'serve --catalogue brands.jsonl --accounts accounts.json': 'your own brands and accounts',
      'serve --fault latency=100ms --fault 503=10%': 'with faults',
      'serve --accounts accounts.json --statement --month 2026-11':
        'what each account used and owes in November',
    },
  },
  'generate-catalogue': {
    argument: {
      name: 'FILE',
      description: 'the catalogue to write, as JSONL; compressed when the name ends in .gz',
    },
    summary: 'write a catalogue of invented brands for serve --catalogue, of any size',
    notes: [
      'The same flags always give the same file. Domains are brand-000000.com, brand-000001.de and so on, stock tickers',
      'SAAA ..., ETF tickers EAAA ..., crypto symbols CAA ...; every third brand is listed. Four of five brands are exactly as',
      'the specification writes them; every fifth has nulls and gaps, as live services send them.',
    ],
    examples: {
      'generate-catalogue brands.jsonl.gz':
        '10,000 brands with the specified coverage: 2,000 crypto symbols, 10,000 ETFs of 320 providers',
      'generate-catalogue brands.jsonl --brands 100000': 'a large one, some 220 MB',
    },
  },
  status: { summary: 'runs, queue, quota and budget', examples: { 'status --json': 'for programs' } },
  pause: { summary: 'stop all spending on this engine', examples: { pause: 'at once, for every run' } },
  resume: { summary: 'allow spending again', examples: { resume: 'waiting runs go on' } },
  cancel: {
    argument: { name: 'RUN', description: 'id of the run, as status shows it' },
    summary: 'cancel one run: nothing more is sent for it',
    examples: { 'cancel r-20260114-7f3a': 'answers that it paid for stay stored' },
  },
  'ledger show': {
    summary: 'what the account has spent and what is left',
    examples: { 'ledger show --account team': 'of a named account' },
  },
  'ledger observe': {
    summary: "correct the account with the figures on the service's own pages",
    examples: { 'ledger observe --usage 1234': '1,234 requests of this period are spent' },
  },
  'ledger reset': {
    summary: 'forget the account, with its spending',
    examples: { 'ledger reset --account team': 'the next run reads usage from the service' },
  },
  'outcomes stats': {
    summary: 'how many answers are stored, and how old they are',
    examples: { 'outcomes stats': 'of this engine' },
  },
  'outcomes forget': {
    argument: {
      name: 'IDENTIFIER',
      description: 'what to forget, such as acme.example or ticker:ACME',
      isRepeated: true,
    },
    summary: 'forget the stored answers of these identifiers',
    examples: { 'outcomes forget acme.example ticker:ACME': 'they are bought again when next needed' },
  },
  'outcomes purge': {
    summary: 'forget stored answers by age',
    examples: { 'outcomes purge --older-than 7d': 'keep those of the last week' },
  },
  'engine status': {
    summary: 'which engine, where, its version, who uses it, and its size',
    examples: { 'engine status': 'starts nothing and changes nothing' },
  },
  'engine stop': {
    summary: 'stop the server of the embedded engine, unless a process uses it',
    examples: { 'engine stop': 'then the state folder can be copied' },
  },
  'engine export': {
    summary: "write all stored answers and the period's spending as JSONL",
    exits: TRANSFER,
    examples: {
      'engine export -o answers.jsonl.gz': 'of the embedded engine',
      'engine export --engine redis://queue.example:6379 -o answers.jsonl.gz': 'of a Redis server',
    },
  },
  'engine import': {
    argument: { name: 'FILE', description: 'what engine export wrote, plain or .gz; - is standard input' },
    summary: 'take over the answers and the spending of another engine',
    exits: TRANSFER,
    notes: [
      'Answers keep their dates and replace none that is as late; those older than 30 days are left out.',
      'Of two accounts of one period the larger spending holds. Importing twice changes nothing.',
    ],
    examples: {
      'engine import answers.jsonl.gz': 'into the embedded engine',
      'engine import answers.jsonl.gz --start-empty': 'in place of data that cannot be used',
    },
  },
  'schedule add': {
    argument: {
      name: 'NAME -- RUN',
      description: 'a name for it, then -- and the run: run INPUT with its flags',
      isRepeated: true,
    },
    summary: 'run a file regularly, on this machine; outputs may hold {date} and {time}',
    examples: {
      "schedule add nightly --cron '0 2 * * *' --tz Europe/Berlin -- run customers.csv -o out/{date}.csv":
        'every night at two',
      "schedule add weekly --cron '0 6 * * 1' --catch-up -- run funds.csv --max-cost 5":
        'on Mondays, or once the machine is on again; each run spends at most 5',
    },
  },
  'schedule list': {
    summary: 'schedules: next run, last run with its result, and whether their machine is up',
    examples: { 'schedule list --json': 'for programs' },
  },
  'schedule remove': {
    argument: SCHEDULE,
    summary: 'remove a schedule; a run in progress finishes',
    examples: { 'schedule remove nightly': 'its results stay where they are' },
  },
  'schedule run-now': {
    argument: SCHEDULE,
    summary: 'run a schedule once, outside its times',
    examples: { 'schedule run-now nightly': 'on its own machine' },
  },
  'schedule serve': {
    summary: "run this machine's schedules when they are due, until stopped",
    exits: STAYING,
    examples: { 'schedule serve': 'with the token from BRAND_API_TOKEN' },
  },
  init: {
    summary: 'ask for address, token file, plan and engine, try them for free, and write a config file',
    exits: {
      [EXIT.credentials]: 'the service refused the credentials: nothing was written',
      [EXIT.interrupted]: 'interrupted: nothing was written',
    },
    notes: [
      'The token is not shown and goes into a file of its own, which only you can read. Nothing is spent: the service is',
      'asked for its own brand alone, which is free, and only when you name its domain. A file that is there is replaced',
      'only when you agree.',
    ],
    examples: {
      init: 'asks, and writes brand-enrich.config.json',
      'init --base-url https://api.example.com --token-file token.txt --plan free --yes': 'asks nothing',
    },
  },
  completion: {
    argument: { name: 'SHELL', description: 'bash, zsh or fish', choices: ['bash', 'zsh', 'fish'] },
    summary: 'print a script that lets a shell complete commands, flags and their values',
    examples: {
      'completion bash': 'in ~/.bashrc: eval "$(brand-enrich completion bash)"',
      'completion zsh': 'in ~/.zshrc, after compinit: eval "$(brand-enrich completion zsh)"',
      'completion fish': 'in ~/.config/fish/config.fish: brand-enrich completion fish | source',
    },
  },
  schema: {
    argument: {
      name: 'DOCUMENT',
      description: 'one of those that it lists',
      isOptional: true,
      // Of `documents.ts`, which takes time to load.
      choices: [
        'report',
        'plan',
        'status',
        'dashboard',
        'notice',
        'error',
        'ledger',
        'ledger-reset',
        'answers',
        'forgotten',
        'pause',
        'cancel',
        'engine-status',
        'engine-stop',
        'engine-export',
        'engine-import',
        'schedules',
        'schedule-add',
        'schedule-remove',
        'schedule-run',
        'config',
        'statement',
        'catalogue',
        'init',
      ],
    },
    summary: 'list the JSON documents of this program, or print the JSON schema of one',
    examples: { schema: 'the list', 'schema report': 'of the report of a run, and of run --json' },
  },
  config: {
    summary: 'each setting, its value and where it came from; secrets are masked',
    examples: {
      config: 'settings from the environment and the config file',
      'config --rate 50': 'the same with a flag of another command',
    },
  },
} satisfies Record<string, Command>;

export const COMMANDS: Readonly<Record<keyof typeof TABLE, Command>> = TABLE;

/** First words of commands that have two. */
export const COMMAND_FAMILIES: Readonly<Record<string, string>> = {
  ledger: 'the account: show, observe, reset',
  outcomes: 'the stored answers: stats, forget, purge',
  engine: 'the engine: status, stop, export, import',
  schedule: 'runs at set times: add, list, remove, run-now, serve',
};
