/**
 * The settings of how the service is asked, and of the local service that stands in for it.
 */
import { baseUrlValue, domainValue, hostValue } from './address-values.js';
import { choice, count, duration, keyValues, month, onOrOff, path, text, yesOrNo } from './parse-value.js';
import { tokenValue } from './secrets.js';
import { type CommandName, derived, optional, setting } from './setting.js';

const SENDING = { group: 'Service', commands: ['run', 'watch', 'worker', 'up', 'config'] } as const;
const KNOWING_ACCOUNT: readonly CommandName[] = [
  'run',
  'plan',
  'watch',
  'worker',
  'up',
  'status',
  'ledger show',
  'ledger observe',
  'ledger reset',
  'config',
];

export const SERVICE_SETTINGS = {
  baseUrl: optional({
    flag: '--base-url',
    env: 'BRAND_API_URL',
    kind: baseUrlValue,
    group: 'Service',
    commands: [...KNOWING_ACCOUNT, 'outcomes forget'],
    secrecy: 'address',
    description: 'address of the service; a trailing /v2 is ignored',
  }),
  token: optional({
    flag: null,
    env: 'BRAND_API_TOKEN',
    kind: tokenValue,
    group: 'Service',
    commands: KNOWING_ACCOUNT,
    secrecy: 'secret',
    description: 'token of the service; no flag, because others can see command lines',
  }),
  tokenFile: optional({
    flag: '--token-file',
    env: 'BRAND_API_TOKEN_FILE',
    kind: path('FILE'),
    group: 'Service',
    commands: KNOWING_ACCOUNT,
    secrecy: 'token path',
    description: 'file that holds the token and nothing else',
  }),
  account: optional({
    flag: '--account',
    kind: text('NAME'),
    group: 'Service',
    commands: KNOWING_ACCOUNT,
    defaultNote: "the token's hash",
    description: 'name of the account that requests are counted on, for tokens that share a quota',
  }),
  allowHttp: setting({
    flag: '--allow-http',
    kind: yesOrNo,
    default: 'false',
    group: 'Service',
    commands: [...KNOWING_ACCOUNT, 'outcomes forget'],
    description:
      'allow plain http and mail without TLS to other machines: token and notifications can be read on the way',
  }),
  allowUnknown: setting({
    flag: '--allow-unknown',
    kind: yesOrNo,
    default: 'false',
    group: 'Service',
    commands: ['run', 'watch', 'up', 'config'],
    description:
      'go on when nothing is found at an address that never gave a good answer (lists of unknown brands)',
  }),
  allowNsfw: derived({
    flag: '--allow-nsfw',
    kind: choice(['true', 'false']),
    fallback: () => 'unset' as const,
    group: 'Service',
    commands: ['run', 'plan', 'watch', 'up', 'config'],
    defaultNote: 'the service decides',
    description: 'return brands with adult content always (true) or never (false)',
  }),
  ownDomain: optional({
    flag: '--own-domain',
    kind: domainValue,
    group: 'Service',
    commands: ['run', 'watch', 'serve', 'up', 'config'],
    description: "the service's own brand: asking for it is free and shows quota and usage",
  }),
  timeoutMs: setting({
    flag: '--timeout',
    kind: duration('1ms', '1h'),
    default: '40s',
    ...SENDING,
    description: 'how long one request may take in total',
  }),
  compression: setting({
    flag: '--compression',
    kind: onOrOff,
    default: 'on',
    ...SENDING,
    description: 'let the service compress its answers',
  }),
} as const;

const SERVING = { group: 'Local service', commands: ['serve', 'config'] } as const;

export const LOCAL_SERVICE_SETTINGS = {
  port: setting({
    flag: '--port',
    kind: count(0, 65_535),
    default: '8080',
    ...SERVING,
    description: 'port to listen on; 0 takes a free one',
  }),
  host: setting({
    flag: '--host',
    kind: hostValue,
    default: '127.0.0.1',
    ...SERVING,
    description: 'address to listen on',
  }),
  catalogue: optional({
    flag: '--catalogue',
    kind: path('FILE'),
    ...SERVING,
    defaultNote: 'the sample brands',
    description: 'the brands it knows, as JSONL',
  }),
  accounts: optional({
    flag: '--accounts',
    kind: path('FILE'),
    ...SERVING,
    defaultNote: 'one account, token demo-token',
    description: 'its accounts: tokens (hashed), plans, quotas; usage is kept beside it',
  }),
  journal: optional({
    flag: '--journal',
    kind: path('FILE'),
    ...SERVING,
    defaultNote: 'none',
    description: 'file that a line per billed request is appended to',
  }),
  faults: setting({
    flag: '--fault',
    kind: keyValues,
    default: '',
    ...SERVING,
    defaultNote: 'none',
    description: 'fault to inject, such as latency=100ms or 503=10%; repeatable; serve --help lists the keys',
  }),
  statement: setting({
    flag: '--statement',
    env: null,
    isInFile: false,
    kind: yesOrNo,
    default: 'false',
    group: 'Local service',
    commands: ['serve'],
    description: 'print what each account of --accounts used and owes in a month, and exit',
  }),
  month: optional({
    flag: '--month',
    env: null,
    isInFile: false,
    kind: month,
    group: 'Local service',
    commands: ['serve'],
    defaultNote: 'this month',
    description: 'the month of --statement (UTC)',
  }),
  ...generatorSettings(),
} as const;

/** What a generated catalogue covers; the defaults are the specification's coverage. */
function generatorSettings() {
  const number = (flag: `--${string}`, fallback: string, description: string) =>
    setting({
      flag,
      env: null,
      isInFile: false,
      kind: count(0, 10_000_000),
      default: fallback,
      group: 'Local service',
      commands: ['generate-catalogue'],
      description,
    });
  return {
    brands: number('--brands', '10000', 'how many brands'),
    cryptoSymbols: number('--crypto-symbols', '2000', 'how many crypto symbols they have'),
    etfTickers: number('--etf-tickers', '10000', 'how many ETF tickers they have'),
    etfProviders: number('--etf-providers', '320', 'how many of the brands are providers of those ETFs'),
    seed: number('--seed', '1', 'another seed gives other texts, scores and companies under the same keys'),
  };
}
