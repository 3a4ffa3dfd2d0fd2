/**
 * The scripts of the ledger, one for each operation: read what it needs, decide, write back. Every operation is one
 * script, so it is atomic, and it is judged on Redis' own clock.
 */
import { LUA_ACCOUNT } from './lua-account.js';
import { LUA_PERMITS } from './lua-permits.js';
import { LUA_PRELUDE } from './lua-prelude.js';
import { LUA_READING } from './lua-reading.js';
import { LUA_STATE } from './lua-state.js';
import { LUA_TAKE } from './lua-take.js';
import { script } from './script.js';

const LEDGER = [LUA_PRELUDE, LUA_ACCOUNT, LUA_PERMITS, LUA_READING, LUA_TAKE, LUA_STATE] as const;

const BEGIN = `
local epoch = text()
local account = loadAccount(text(), epoch)
`;

const FINISH = `
local state = describeState(account, readPolicy(account.name), nil)
saveAccount(account)
savePermits(account)
return state
`;

export const EXCHANGE_SCRIPT = script(
  ...LEDGER,
  BEGIN,
  `
local request = { worker = text() }
local runId = some()
local seen
if flag() then
  seen = { epoch = text(), version = number(), period = some(), spent = number(), others = number() }
end
local settled, kinds, dates = {}, {}, {}
for i = 1, number() do settled[i] = text() kinds[i] = text() dates[i] = text() end
local reading
if flag() then reading = { quota = number(), usage = number(), period = some() } end
local heard, refused = flag(), flag()
local pace
if flag() then pace = { ifVersion = number(), rate = number(), burst = number(), floorMs = number() } end
request.permitMs = number()
request.mayHaveTurned = flag()
local usageLagMs = number()
request.permits, request.keys = {}, {}
for i = 1, number() do request.permits[i] = text() request.keys[i] = text() end

noteBeat(request.worker)
followClock(account)
if account.pendingPeriod == nil then
  account.pendingSent = 0
  account.pendingDated = 0
end
restoreSeen(account, seen, usageLagMs)
sweep(account)
loadPermits(settled)
loadPermits(request.permits)
local hasProbeBilled = false
-- A reading that cost nothing is as good as one of the request that went alone.
local hasConfirmed = #settled == 0 and isDrained(account)
for i, id in ipairs(settled) do
  if permits[id] and permits[id].probe and kinds[i] == 'billed' then hasProbeBilled = true end
  if permits[id] and id == account.pendingAsked then hasConfirmed = true end
  close(account, id, kinds[i], dates[i] ~= '' and dates[i] or nil)
end
local before = standingOf(account)
if reading then applyReading(account, reading, hasConfirmed)
elseif isPeriodDue(account) and isDrained(account) then openPeriod(account) end
if heard then account.heardAt = now end
if refused then
  account.closedAt = now
  account.nextProbeAt = now + PROBE_EVERY_MS
elseif hasProbeBilled then
  account.closedAt = nil
end
local policy = readPolicy(account.name)
local limit = limitOf(account, policy)
local isFull = limit ~= nil and account.sent + account.held + account.others >= limit
if #request.permits > 0 and waitsForOthers(account, isFull, limit) then closeDead(account) end
-- It went alone, a minute after all others: what its header shows has hardly lagged.
local isProbeWithin = hasProbeBilled and #settled == 1 and reading ~= nil and reading.usage ~= nil
  and reading.usage < billedQuota(account, policy)
bookOverage(account, policy, before, isProbeWithin)
if hasProbeBilled and not isProbeWithin and limit ~= nil and account.sent + account.others > limit then account.servesOverage = true end
if pace and pace.ifVersion == account.paceVersion then
  account.paceVersion = account.paceVersion + 1
  account.rate = pace.rate
  account.burst = pace.burst
  account.floorUntil = math.max(account.floorUntil, pace.floorMs > 0 and now + pace.floorMs or 0)
end
local run = loadRun(runId)
local answers = take(account, policy, limit, request, run)
account.version = account.version + 1
local state = describeState(account, policy, run)
saveAccount(account)
savePermits(account)
return { answers, state }
`,
);

/** Nothing is written: what ran out is counted as sent for the answer alone. */
export const SHOW_SCRIPT = script(
  ...LEDGER,
  BEGIN,
  `
local run = loadRun(some())
sweep(account)
return describeState(account, readPolicy(account.name), run)
`,
);

/** What ran out is closed outside of an exchange. */
const SWEEP_ALONE = `
followClock(account)
sweep(account)
bookOverage(account, readPolicy(account.name), standingOf(account))
`;

export const OPEN_SCRIPT = script(
  ...LEDGER,
  BEGIN,
  SWEEP_ALONE,
  `
account.heardAt = 0
account.nextProbeAt = now
if flag() then
  account.paceVersion = account.paceVersion + 1
  account.rate = number()
  account.burst = number()
end
account.version = account.version + 1
`,
  FINISH,
);

export const OBSERVE_SCRIPT = script(
  ...LEDGER,
  BEGIN,
  SWEEP_ALONE,
  `
local usage, quota = number(), number()
if quota ~= nil then account.quota = quota end
if usage ~= nil then
  account.usage = usage
  account.sent = math.min(account.sent, usage)
  account.servesOverage = false
  account.others = math.max(0, usage - account.sent - account.held - account.probes)
end
account.closedAt = nil
account.suspectSince = 0
account.nextProbeAt = now
account.version = account.version + 1
`,
  FINISH,
);

/** Arguments: epoch, account, period, what is sent, what others sent, quota. */
export const RAISE_SCRIPT = script(
  ...LEDGER,
  BEGIN,
  SWEEP_ALONE,
  `
local period, sent, others, quota = some(), number(), number(), number()
if isLater(period, account.period) then
  if account.pendingPeriod == nil then
    account.pendingSent = 0
    account.pendingDated = 0
  end
  account.pendingPeriod = period
  account.pendingFalls = 2
  if isDrained(account) then openPeriod(account) end
end
account.period = account.period or period
if period == nil or account.period == period or account.period == 'none' or period == 'none' then
  local ours = account.sent + account.held + account.probes
  local missing = math.max(0, sent + others - ours - account.others)
  local missingOurs = math.min(missing, math.max(0, sent - ours))
  account.sent = account.sent + missingOurs
  account.others = account.others + missing - missingOurs
  account.quota = account.quota or quota
end
account.version = account.version + 1
`,
  FINISH,
);

/** Arguments: cursor, how many keys to look at. Answers the next cursor and the names of accounts. */
export const ACCOUNTS_PAGE_SCRIPT = script(
  LUA_PRELUDE,
  `
local prefix = root .. 'account:'
local page = redis.call('SCAN', text(), 'MATCH', prefix .. '*', 'COUNT', text())
local names = { page[1] }
for _, name in ipairs(page[2]) do names[#names + 1] = string.sub(name, #prefix + 1) end
return names
`,
);

export const RESET_SCRIPT = script(
  LUA_PRELUDE,
  `
local name = text()
local held = redis.call('ZRANGE', root .. 'deadlines:' .. name, 0, -1)
each(held, function(from, to) redis.call('HDEL', root .. 'permits', unpack(held, from, to)) end)
redis.call('DEL', root .. 'deadlines:' .. name, root .. 'account:' .. name)
`,
);

export const PAUSE_SCRIPT = script(
  LUA_PRELUDE,
  `
if flag() then redis.call('SET', root .. 'paused', '1') else redis.call('DEL', root .. 'paused') end
`,
);
