--- @include "take.lua"
--- @include "overage.lua"
-- The operations of the ledger: read what is needed, decide, write back, on Redis' own clock.

-- The account as a flat list of texts, in the order that `ledger-reply.ts` reads.
local function describeState(account, policy, run)
  turn(account)
  local limit, out = limitOf(account, policy), account.held + account.probes
  local isTurn = isTurnUnconfirmed(account)
  local list = {}
  local function add(value) list[#list + 1] = shown(value) end
  add(now) add(account.epoch) add(account.version) add(account.period) add(isPeriodDue(account) or (isTurn and out > 0))
  add(isTurn and (hasRoom(account, limit) or (run ~= nil and mayConfirmTurn(account, policy, run))))
  add(account.sent) add(account.held) add(account.probes) add(account.others)
  add(account.quota) add(account.usage) add(account.heardAt) add(account.closedAt) add(account.nextProbeAt)
  add(account.restsUntil > now and account.restsUntil or 0) add(account.servesOverage)
  add(redis.call('EXISTS', root .. 'paused') == 1)
  add(policy.quotaCap) add(policy.overage)
  add(account.paceVersion) add(account.rate) add(account.burst) add(math.max(0, account.floorUntil - now))
  add(account.secondBefore) add(account.secondSent)
  if run == nil then return list end
  local used = capsOf(run.key) or { requests = 0, overage = 0, held = 0 }
  add(run.status) add(used.requests) add(used.overage)
  add(run.maxOverageRequests ~= nil and math.min(used.held, beyondQuota(account, policy, 0)) or 0)
  add(run.overageBilled + (overageOf[run.id] or 0)) add(run.maxRequests) add(run.maxOverageRequests)
  return list
end

local function begin()
  local epoch = text()
  return loadAccount(text(), epoch)
end

-- What ran out is closed outside of an exchange.
local function beginSwept()
  local account = begin()
  followClock(account)
  sweep(account)
  bookOverage(account, readPolicy(account.name), standingOf(account))
  return account
end

local function finish(account)
  account.version = account.version + 1
  local state = describeState(account, readPolicy(account.name), nil)
  saveAccount(account)
  savePermits(account)
  return state
end

function operations.exchange()
  local account = begin()
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

  noteHeartbeat(request.worker)
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
  local isAskedSettled = hasConfirmed and #settled > 0
  if isAskedSettled and (reading == nil or reading.period == nil or account.pendingFalls == 0) then account.pendingAsked = nil end
  if heard then account.heardAt = now end
  if refused then
    account.closedAt = now
    account.nextProbeAt = now + rules.probeEveryMs
  elseif hasProbeBilled then
    account.closedAt = nil
  end
  local policy = readPolicy(account.name)
  local limit = limitOf(account, policy)
  if #request.permits > 0 and waitsForOthers(account, limit) then closeDead(account) end
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
end

-- Nothing is written: what ran out is counted as sent for the answer alone.
function operations.show()
  local account = begin()
  local run = loadRun(some())
  sweep(account)
  return describeState(account, readPolicy(account.name), run)
end

function operations.open()
  local account = beginSwept()
  account.heardAt = 0
  account.nextProbeAt = now
  if flag() then
    account.paceVersion = account.paceVersion + 1
    account.rate = number()
    account.burst = number()
  end
  return finish(account)
end

function operations.observe()
  local account = beginSwept()
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
  return finish(account)
end

-- What another ledger knows of the account: the larger sum holds. Arguments: epoch, account, period, sent, others, quota.
function operations.raise()
  local account = beginSwept()
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
  return finish(account)
end

-- Arguments: cursor, how many keys to look at. Answers the next cursor and the names of accounts.
function operations.accountsPage()
  local prefix = root .. 'account:'
  local page = redis.call('SCAN', text(), 'MATCH', prefix .. '*', 'COUNT', text())
  local names = { page[1] }
  for _, name in ipairs(page[2]) do names[#names + 1] = string.sub(name, #prefix + 1) end
  return names
end

function operations.reset()
  local name = text()
  local held = redis.call('ZRANGE', root .. 'deadlines:' .. name, 0, -1)
  each(held, function(from, to) redis.call('HDEL', root .. 'permits', unpack(held, from, to)) end)
  redis.call('DEL', root .. 'deadlines:' .. name, root .. 'account:' .. name)
end

function operations.pause()
  if flag() then redis.call('SET', root .. 'paused', '1') else redis.call('DEL', root .. 'paused') end
end

return operations[text()]()
