--- @include "take.lua"
-- The operations of the ledger: read what is needed, decide, write back, on Redis' own clock.

-- The account as numbers, after an operation.
local function describeState(account, policy, run)
  turn(account)
  loadPermits({ account.lookOut })
  local look = permits[account.lookOut or '']
  local limit, out = limitOf(account, policy), account.held + account.probes
  local isTurn = isTurnUnconfirmed(account)
  local used = run and capsOf(run.key) or { generation = '', requests = 0, overage = 0, held = 0 }
  return {
    now = now, epoch = account.epoch, version = account.version, period = orNull(account.period),
    behindMs = account.behindMs,
    isDraining = isPeriodDue(account) or (isTurn and out > 0),
    isTurnUnconfirmed = isTurn and (hasRoom(account, limit) or (run ~= nil and mayConfirmTurn(account, policy, run))),
    sent = account.sent, held = account.held, probes = account.probes, others = account.others,
    freeOut = look and look.free and 1 or 0,
    quota = orNull(account.quota), usage = orNull(account.usage), confirmedAt = account.confirmedAt,
    free = account.free, checkedAt = account.checkedAt,
    own = {
      of = orNull(account.lookOf), isProven = account.lookProven, booked = account.lookBooked, rises = account.lookRises,
    },
    answeredAt = orNull(account.answeredAt), days = daysOf(account),
    closedAt = orNull(account.closedAt), nextProbeAt = account.nextProbeAt,
    restsUntil = account.restsUntil > now and account.restsUntil or 0, servesOverage = account.servesOverage,
    isPaused = redis.call('EXISTS', root .. 'paused') == 1, quotaCap = orNull(policy.quotaCap), overage = policy.overage,
    pace = {
      version = account.paceVersion, rate = orNull(account.rate), burst = account.burst,
      floorMs = math.max(0, account.floorUntil - now),
      acceptedLastSecond = account.secondBefore, acceptedThisSecond = account.secondSent,
    },
    run = run and {
      status = run.status, requests = used.requests, overageRequests = used.overage,
      overageInFlight = run.maxOverageRequests
        and math.min(used.held + maybeOverageOf(account, run.key, used.generation), beyondQuota(account, policy, 0)) or 0,
      overageBilled = run.overageBilled + (counted[run.id] and counted[run.id].overageBilled or 0),
      maxRequests = orNull(run.maxRequests), maxOverageRequests = orNull(run.maxOverageRequests),
    } or cjson.null,
  }
end

-- What ran out is closed outside of an exchange.
local function beginSwept()
  local account = loadAccount(text())
  followClock(account)
  sweep(account)
  bookOverage(account, billedQuota(account, readPolicy(account.name)), snapshotOf(account))
  billed = {}
  return account
end

local function finish(account, policy, run)
  account.version = account.version + 1
  local state = describeState(account, policy or readPolicy(account.name), run)
  saveAccount(account)
  savePermits(account)
  return state
end

-- Whether an answer of the service came since the last call: a useful one, one with usage headers or
-- a date, or a refusal.
local function isAnswered(request)
  if request.isConfirmed or request.reading or request.refusedForQuota then return true end
  for _, settled in ipairs(request.settle) do
    if settled.period then return true end
  end
  return false
end

function operations.exchange()
  local request = object()
  local account, settle, reading, pace = loadAccount(request.account), request.settle, request.reading, request.pace
  noteHeartbeat(request.worker)
  followClock(account)
  if account.pendingPeriod == nil then
    account.pendingDated = 0
    if now - account.pendingKeptAt >= rules.pendingKeptMs then
      account.pendingSent = 0
      account.undatedBills = nil
    end
  end
  restoreSeen(account, request.seen, request.usageLagMs)
  local was = { since = account.lookSince, spentAt = account.spentAt }
  local swept = sweep(account)
  loadPermits(pluck(settle, 'permit'))
  loadPermits(pluck(request.take, 'permit'))
  local hasProbeBilled, isAskedSettled = false, false
  was.isCarried = #settle == 1 and swept == 0 and settle[1].permit == account.lookOut and permits[account.lookOut]
  -- A reading that cost nothing is as good as one of the request that went alone.
  local hasConfirmed = isDrained(account)
  for _, settled in ipairs(settle) do
    local permit = permits[settled.permit]
    if not (permit and permit.free) then hasConfirmed = false end
  end
  for _, settled in ipairs(settle) do
    local permit = permits[settled.permit]
    if permit and permit.probe and settled.as == 'billed' then hasProbeBilled = true end
    if permit and settled.permit == account.pendingAsked then isAskedSettled = true end
    close(account, settled.permit, settled.as, settled.period)
  end
  hasConfirmed = hasConfirmed or isAskedSettled
  local before, keptMs = snapshotOf(account), now - account.pendingKeptAt
  if reading then applyReading(account, reading, hasConfirmed, was, request.usageLagMs)
  elseif isPeriodDue(account) and isDrained(account) then openPeriod(account) end
  if isAskedSettled and (reading == nil or reading.period == nil or account.pendingFalls == 0) then account.pendingAsked = nil end
  if request.isConfirmed then account.confirmedAt = now end
  if isAnswered(request) then account.answeredAt = now end
  if request.refusedForQuota then
    account.closedAt = now
    account.nextProbeAt = now + rules.probeEveryMs
  elseif hasProbeBilled then
    account.closedAt = nil
  end
  local policy = readPolicy(account.name)
  local limit = limitOf(account, policy)
  if #request.take > 0 and waitsForOthers(account, limit) then closeDead(account) end
  -- It went alone, a minute after all others: what its header shows has hardly lagged.
  local isProbeWithin = hasProbeBilled and #settle == 1 and reading ~= nil and reading.usage ~= nil
    and reading.usage < billedQuota(account, policy)
  local quota = billedQuota(account, policy)
  bookOverage(account, quota, before, isProbeWithin)
  bookEarly(account, quota)
  if reading and reading.usage ~= nil and reading.period == account.period and isDrained(account)
    and now - was.spentAt >= rules.quietLags * request.usageLagMs then account.earlyBills = nil end
  local isStillThis = reading ~= nil and reading.period == before.period and account.pendingFalls < 2
  if isStillThis and not isPendingNear(account) and (hasConfirmed or keptMs >= rules.pendingKeptMs) then
    takeBackPending(account, quota)
  end
  -- The usage of an earlier period says nothing of this one.
  local isProvenWithin = isProbeWithin and not isLater(account.period, reading.period)
  if hasProbeBilled and not isProvenWithin and limit ~= nil and account.sent + account.others > limit then account.servesOverage = true end
  if pace and pace.ifVersion == account.paceVersion then
    account.paceVersion = account.paceVersion + 1
    account.rate = pace.rate
    account.burst = pace.burst
    account.floorUntil = math.max(account.floorUntil, pace.floorMs > 0 and now + pace.floorMs or 0)
  end
  local run = loadRun(request.run)
  local answers = take(account, policy, limit, request, run)
  local look = request.look and grantLook(account, policy, limit, request, rules.quietLags * request.usageLagMs)
  return { answers = listed(answers), look = orNull(look), state = finish(account, policy, run) }
end

-- Nothing is written: what ran out is counted as sent for the answer alone. An account that is not
-- there has no epoch.
function operations.show_account()
  local account = loadAccount(text())
  if account.isNew then account.epoch = '' end
  local run = loadRun(some())
  turnDay(account)
  sweep(account)
  return describeState(account, readPolicy(account.name), run)
end

function operations.open_account()
  local account = beginSwept()
  account.confirmedAt = 0
  account.nextProbeAt = now
  if flag() then
    account.paceVersion = account.paceVersion + 1
    account.rate = number()
    account.burst = number()
  end
  return finish(account)
end

function operations.observe_account()
  local account = beginSwept()
  local usage, quota = number(), number()
  local before = snapshotOf(account)
  if quota ~= nil then account.quota = quota end
  bookOverage(account, account.quota, before)
  if usage ~= nil then
    account.usage = usage
    account.early = 0
    account.earlyBills = nil
    account.sent = math.min(account.sent, usage)
    account.servesOverage = false
    account.others = math.max(0, usage - account.sent - account.held - account.probes)
    endLooks(account)
  end
  account.closedAt = nil
  account.suspectSince = 0
  account.fallReadings = 0
  account.nextProbeAt = now
  return finish(account)
end

-- What another ledger knows of the account: the larger sum holds. Arguments: account, period, sent,
-- others, quota.
function operations.raise_account()
  local account = beginSwept()
  local period, sent, others, quota = some(), number(), number(), number()
  if isLater(period, account.period) then
    if account.pendingPeriod == nil then
      account.pendingSent = 0
      account.pendingDated = 0
      account.undatedBills = nil
    end
    account.pendingPeriod = period
    account.pendingFalls = 2
    if isDrained(account) then openPeriod(account) end
  end
  account.period = account.period or period
  if period == nil or account.period == period or account.period == 'none' or period == 'none' then
    local before = snapshotOf(account)
    local ours = account.sent + account.held + account.probes
    local missing = math.max(0, sent + others - ours - account.others)
    local missingOurs = math.min(missing, math.max(0, sent - ours))
    account.sent = account.sent + missingOurs
    account.others = account.others + missing - missingOurs
    account.quota = account.quota or quota
    bookOverage(account, account.quota, before)
  end
  return finish(account)
end

-- Arguments: cursor, how many keys to look at. Answers the next cursor and the names of accounts.
function operations.account_names()
  local prefix = root .. 'account:'
  local page = redis.call('SCAN', text(), 'MATCH', prefix .. '*', 'COUNT', text())
  local names = {}
  for i, name in ipairs(page[2]) do names[i] = string.sub(name, #prefix + 1) end
  return { page[1], listed(names) }
end

function operations.reset_account()
  local name = text()
  local held = redis.call('ZRANGE', root .. 'deadlines:' .. name, 0, -1)
  each(held, function(from, to) redis.call('HDEL', root .. 'permits', unpack(held, from, to)) end)
  redis.call('DEL', root .. 'deadlines:' .. name, root .. 'account:' .. name)
end

function operations.set_paused()
  if flag() then redis.call('SET', root .. 'paused', '1') else redis.call('DEL', root .. 'paused') end
end

return answer(operations[text()]())
