--- @include "answers.lua"
--- @include "take.lua"
-- The operations of the ledger: read, decide, write back, by Redis' own clock.

-- Returns the values in the order of `LEDGER_STATE`.
local function stateOf(account, policy, run)
  turn(account)
  loadPermits({ account.lookOut })
  local look = permits[account.lookOut or '']
  local limit = limitOf(account, policy)
  local own = { orNull(account.lookOf), account.lookProven, account.lookBooked, account.lookRises }
  local pace = {
    account.paceVersion, orNull(account.rate), account.burst, math.max(0, account.floorUntil - now),
    account.secondBefore, account.secondSent,
  }
  local spending = cjson.null
  if run then
    local used = capsOf(run.generation)
    local inFlight = run.maxOverageRequests and math.min(used.held, beyondQuota(account, policy, 0)) or 0
    local overageBilled = run.overageBilled + (counted[run.id] and counted[run.id].overageBilled or 0)
    local held = (run.maxRequests or run.maxOverageRequests) and used.held or 0
    spending = {
      run.status, used.requests, used.overage, held, inFlight, overageBilled, orNull(run.maxRequests),
      orNull(run.maxOverageRequests),
    }
  end
  return {
    now, account.epoch, account.version, orNull(account.period), account.behindMs,
    account.hasNextFallen
      and (hasRoom(account, limit) or (run ~= nil and mayConfirmTurn(account, policy, run))),
    orNull(asksAt(account)),
    account.sent, account.held, account.probes, look and look.free and 1 or 0, account.others, account.free,
      own,
    account.checkedAt, orNull(account.quota), orNull(account.usage), orNull(account.lastUsage),
    account.confirmedAt, orNull(account.answeredAt),
    daysOf(account), orNull(account.closedAt), account.nextProbeAt,
    account.restsUntil > now and account.restsUntil or 0, account.servesOverage,
    isPaused(allSpending), orNull(policy.quotaCap), policy.overage, pace, spending,
  }
end

-- Loads the account of the next argument, and closes its expired permits, for all but exchanges.
local function beginAccount()
  local account = loadAccount(text())
  followClock(account)
  sweep(account)
  bookOverage(account, billedQuota(account, policyOf(account.name)), snapshotOf(account))
  billed = {}
  return account
end

local function finishAccount(account, policy, run)
  account.version = account.version + 1
  local state = stateOf(account, policy or policyOf(account.name), run)
  saveAccount(account)
  savePermits(account)
  return state
end

-- True if the service itself answered: usefully, with usage headers or a date, or with a refusal.
local function isAnswered(request)
  if request.isConfirmed or request.reading or request.refusedForQuota then return true end
  for _, settled in ipairs(request.settle) do
    if settled.period then return true end
  end
  return false
end

-- Closes permits. hasConfirmed: their reading came with a request that went alone or was free.
-- probedAt: when a billed probe was granted. isAskedSettled: one of them asked for the next period.
local function settle(account, settlements, permitMs)
  local settled = { probedAt = nil, isAskedSettled = false, hasConfirmed = isDrained(account) }
  for _, each in ipairs(settlements) do
    local permit = permits[each.permit]
    if not (permit and permit.free) then settled.hasConfirmed = false end
  end
  for _, each in ipairs(settlements) do
    local permit = permits[each.permit]
    if permit and permit.probe and each.as == 'billed' then
      settled.probedAt = math.min(permit.deadline - permitMs, now)
    end
    if permit and each.permit == account.nextAsked then settled.isAskedSettled = true end
    closePermit(account, each.permit, each.as, each.period, each.isBeyond)
  end
  settled.hasConfirmed = settled.hasConfirmed or settled.isAskedSettled
  return settled
end

local function noteAnswer(account, request, hasProbeBilled)
  if request.isConfirmed then account.confirmedAt = now end
  if isAnswered(request) then account.answeredAt = now end
  if request.refusedForQuota then
    account.closedAt = now
    account.nextProbeAt = now + rules.probeEveryMs
  elseif hasProbeBilled then
    account.closedAt = nil
  end
end

local function changePace(account, pace)
  account.paceVersion = account.paceVersion + 1
  account.rate = pace.rate
  account.burst = pace.burst
  if pace.floorMs > 0 then account.floorUntil = math.max(account.floorUntil, now + pace.floorMs) end
end

-- Arguments: the request; optionally the answers and their bytes, as for `recordOutcomes`.
function operations.exchange()
  local request, outcomes = object(), some()
  if outcomes then recordOutcomes(object(outcomes), text()) end
  local account, reading, pace = loadAccount(request.account), request.reading, request.pace
  local turn = request.turn
  noteHeartbeat(request.worker)
  followClock(account)
  if turn and turn.period == account.period then account.periodEnd = turn.endsAt end
  restoreSeen(account, request.seen, request.usageLagMs)
  local was = { since = account.lookSince, spentAt = account.spentAt }
  local swept = sweep(account)
  loadPermits(pluck(request.settle, 'permit'))
  loadPermits(pluck(request.take, 'permit'))
  local isAlone, others = #request.settle == 1, math.max(0, account.held + account.probes - 1)
  was.isCarried = swept == 0 and isAlone and request.settle[1].permit == account.lookOut
    and permits[account.lookOut]
  local settled = settle(account, request.settle, request.permitMs)
  local before = snapshotOf(account)
  if reading then
    applyReading(account, reading, turn and turn.today, settled.hasConfirmed, others, was, request.usageLagMs)
  end
  if settled.isAskedSettled and not (reading and reading.period and account.hasNextFallen) then
    account.nextAsked = nil
  end
  noteAnswer(account, request, settled.probedAt ~= nil)
  local policy = policyOf(account.name)
  local quota, limit = billedQuota(account, policy), limitOf(account, policy)
  local run = loadRun(request.run)
  local isWaiting = waitsForOthers(account, inFlightAllowed(account, policy, limit, run))
  if #request.take > 0 and isWaiting then closeDead(account) end
  -- The probe went long enough after all other requests for its header to show them.
  local isVisible = settled.probedAt ~= nil
    and settled.probedAt - was.spentAt >= math.max(rules.probeEveryMs, request.usageLagMs)
  local isProbeWithin = isAlone and isVisible
    and reading ~= nil and reading.usage ~= nil and reading.usage < quota
  bookOverage(account, quota, before, isProbeWithin)
  -- The usage of an earlier period proves nothing about this one.
  local isProvenWithin = isProbeWithin and not isLater(account.period, reading.period)
  if settled.probedAt and not isProvenWithin
    and limit ~= nil and account.sent + account.others > limit then
    account.servesOverage = true
  end
  if pace and pace.ifVersion == account.paceVersion then changePace(account, pace) end
  local answers = take(account, policy, limit, request, run)
  local look = request.look and grantLook(account, policy, limit, request,
    rules.quietLags * request.usageLagMs)
  return { listed(answers), orNull(look), outcomes and now or cjson.null,
    finishAccount(account, policy, run) }
end

-- Writes nothing, but counts expired permits as sent in the answer. A missing account has no epoch.
function operations.show_account()
  local account = loadAccount(text())
  if account.isNew then account.epoch = '' end
  local run = loadRun(some())
  turnDay(account)
  sweep(account)
  return stateOf(account, policyOf(account.name), run)
end

function operations.open_account()
  local account = beginAccount()
  account.confirmedAt = 0
  account.nextProbeAt = now
  if flag() then
    local rate, burst = number(), number()
    changePace(account, { rate = rate, burst = burst, floorMs = 0 })
  end
  return finishAccount(account)
end

function operations.observe_account()
  local account = beginAccount()
  local usage, quota = number(), number()
  if quota ~= nil then account.quota = quota end
  if usage ~= nil then
    account.usage, account.lastUsage = usage, usage
    account.early = 0
    account.sent = math.min(account.sent, usage)
    account.servesOverage = false
    account.others = math.max(0, usage - account.sent - account.held - account.probes)
    endLooks(account)
  end
  account.closedAt = nil
  account.nextProbeAt = now
  return finishAccount(account)
end

-- Raises the sum to that of another ledger. Arguments: account, period, sent, others, quota.
function operations.raise_account()
  local account = beginAccount()
  local period, sent, others, quota = some(), number(), number(), number()
  if isLater(period, account.period) then openPeriod(account, period, nil, nil) end
  account.period = account.period or period
  if period == nil or account.period == period or account.period == 'none' or period == 'none' then
    local ours = account.sent + account.held + account.probes
    local missing = math.max(0, sent + others - ours - account.others)
    local missingOurs = math.min(missing, math.max(0, sent - ours))
    account.sent = account.sent + missingOurs
    account.others = account.others + missing - missingOurs
    account.quota = account.quota or quota
  end
  return finishAccount(account)
end

-- Arguments: cursor, page size. Answers the next cursor and the names of accounts.
function operations.account_names()
  local prefix = root .. 'account:'
  local page = redis.call('SCAN', text(), 'MATCH', prefix .. '*', 'COUNT', text())
  local names = {}
  for i, name in ipairs(page[2]) do names[i] = string.sub(name, #prefix + 1) end
  return { page[1], listed(names) }
end

function operations.reset_account()
  local name = text()
  local out = redis.call('ZRANGE', root .. 'deadlines:' .. name, 0, -1)
  loadPermits(out)
  for _, id in ipairs(out) do
    closed[#closed + 1] = id
    local permit = permits[id]
    if permit and permit.generation ~= '' and not permit.free then
      capsOf(permit.generation).held = capsOf(permit.generation).held - 1
      touchedCaps[permit.generation] = true
    end
  end
  savePermits({ name = name })
  redis.call('DEL', root .. 'account:' .. name)
end

return answer(operations[text()]())
