--- @include "permits.lua"
-- Grants permits one by one, each after the account has changed by the one before. The order of the
-- conditions is part of the contract (`test/model/ledger-model.ts`).

-- Returns a quarter of the rest of the quota, then of the overage, at least 1. So few requests are
-- in flight when the quota ends, and we know which ones are beyond it.
local function inFlightAllowed(account, policy, limit, run)
  if limit == nil then return rules.unknownQuotaHeld end
  local used = math.max(account.usage or 0, account.sent + account.others)
  local left = billedQuota(account, policy) - used
  if left <= 0 then
    left = (run and run.maxOverageRequests or math.huge) - (run and capsOf(run.generation).overage or 0)
  end
  return math.max(1, math.floor(math.min(left, limit - used) / rules.leftPerInFlight))
end

-- True if a request must wait until the permits that are out have ended.
local function waitsForOthers(account, allowed)
  local out = account.held + account.probes
  return out > 0 and (out >= allowed or account.closedAt ~= nil or account.hasNextFallen
    or account.confirmedAt <= now - rules.aloneAfterMs)
end

local function runStatus(status, heartbeatAt, halt, owner)
  if status == 'cancelled' then return 'cancelled' end
  if status ~= 'running' or not hasHeartbeat(heartbeatAt) then return 'dead' end
  if halt then return 'halted' end
  return isPaused(owner) and 'paused' or 'alive'
end

local function loadRun(id)
  if id == nil then return nil end
  local run = redis.call('HMGET', root .. 'run:' .. id,
    'generation', 'status', 'heartbeatAt', 'plan', 'maxRequests', 'maxOverageRequests', 'halt',
      'overageBilled', 'owner')
  if not run[1] then return nil end
  return {
    id = id, generation = run[1], status = runStatus(run[2], run[3], run[7], run[9]), plan = run[4],
    maxRequests = tonumber(run[5]), maxOverageRequests = tonumber(run[6]),
    overageBilled = tonumber(run[8] or 0),
  }
end

-- True if one request may test the limit: a refusal is free, and the limit is not ours.
local function mayFindOut(account, policy, run)
  local isCapOurs = policy.quotaCap ~= nil and policy.quotaCap < (account.quota or math.huge)
  return run.plan ~= 'paid' and not account.servesOverage and not isCapOurs
end

-- True if a request beyond the limit may confirm the next period: on a free plan always, else only
-- if a request that went alone reported it first.
local function mayConfirmTurn(account, policy, run)
  return (run.plan == 'free' or account.nextAsked ~= nil) and mayFindOut(account, policy, run)
end

-- Returns whether a permit must be a probe; nil if none is possible now.
local function roomFor(account, policy, limit, run, out)
  local fits = hasRoom(account, limit)
  if account.closedAt == nil and fits then return false end
  local mayAsk = fits or mayFindOut(account, policy, run) or mayAskTurn(account)
  local isDue = now >= account.nextProbeAt
    and (account.closedAt ~= nil or now - account.confirmedAt >= rules.probeEveryMs)
  local isConfirming = account.hasNextFallen and mayConfirmTurn(account, policy, run)
  if not mayAsk or not (isDue or isConfirming) or out > 0 then return nil end
  return true
end

-- Takes the next slot of the pace, and returns its time; nil if it is beyond the horizon.
local function slotOf(account)
  local slot = math.max(now, account.floorUntil)
  if account.rate == nil then
    if slot - now > rules.paceHorizonMs then return nil end
    return slot
  end
  local interval = 1000 / account.rate
  slot = math.max(slot, account.tat - (account.burst - 1) * interval)
  if slot - now > rules.paceHorizonMs then return nil end
  account.tat = math.max(account.tat, slot) + interval
  return slot
end

-- Grants a free permit: one at a time, outside of every limit.
local function grantFree(account, request, permit, id)
  if account.lookOut ~= nil then return 'queued' end
  local slot = slotOf(account)
  if slot == nil then return 'queued' end
  permit.free = true
  permits[id] = permit
  granted[id] = true
  account.lookOut = id
  account.lookOutAt = now
  return shown(slot - now) .. ' free'
end

-- Returns the wait in milliseconds, or the reason of a refusal.
local function grant(account, policy, limit, request, run, id, key, own)
  if permits[id] then return permits[id].free and '0 free' or '0' end
  if claims[key] ~= request.worker then return 'lost' end
  if not request.maySpend then return 'denied' end
  if (unusable[root .. 'unusable:' .. run.id][key] or 0) >= rules.unusableAllowed then
    return 'attempts_exhausted'
  end
  local deadline = now + request.permitMs
  if own ~= nil and own == account.lookOf and account.lookProven then
    return grantFree(account, request, {
      account = account.name, worker = request.worker, run = run.id, generation = '', key = key,
      deadline = deadline, own = own,
    }, id)
  end
  local out = account.held + account.probes
  if now < account.restsUntil or (account.hasNextFallen and out > 0) then return 'denied' end
  -- Wait only for the last lone permit: one of a dead process may take a minute to expire.
  local isOpening = account.confirmedAt <= now - rules.aloneAfterMs
  if isOpening and account.alone ~= nil then
    loadPermits({ account.alone })
    if permits[account.alone] then return 'denied' end
  end
  if out >= request.allowed then return 'denied' end
  local probe = roomFor(account, policy, limit, run, out)
  if probe == nil then return 'denied' end
  local used = capsOf(run.generation)
  if run.maxRequests ~= nil and used.requests >= run.maxRequests then return 'denied' end
  local beyond = beyondQuota(account, policy, 1)
  if beyond > 0 and run.maxOverageRequests ~= nil then
    if used.overage + math.min(used.held + 1, beyond) > run.maxOverageRequests then return 'denied' end
  end
  if beyond > request.overageRoomOfOthers then return 'denied' end
  local slot = slotOf(account)
  if slot == nil then return 'denied' end
  if probe then
    if mayAskTurn(account) then account.turnAskedAt = now end
    account.probes = account.probes + 1
    account.nextProbeAt = now + rules.probeEveryMs
  else
    account.held = account.held + 1
  end
  used.requests = used.requests + 1
  used.held = used.held + 1
  touchedCaps[run.generation] = true
  countFor(run.id, 'spent', 1)
  permits[id] = {
    account = account.name, worker = request.worker, run = run.id, generation = run.generation, key = key,
    deadline = deadline, probe = probe, own = own,
  }
  granted[id] = true
  if isOpening then account.alone = id end
  if account.hasNextFallen or probe then account.nextAsked = id end
  return shown(slot - now)
end

-- Returns the requests that may stand beyond the quota without another run passing its cap, if all
-- permits of that run become overage.
local function overageRoomOfOthers(account, policy, own, more)
  if beyondQuota(account, policy, more) == 0 then return math.huge end
  local ids = redis.call('ZRANGE', root .. 'deadlines:' .. account.name, 0, -1)
  loadPermits(ids)
  local held, cap, capOfRun = {}, {}, {}
  for _, id in ipairs(ids) do
    local permit = permits[id]
    local generation = permit and permit.generation or ''
    if generation ~= '' and generation ~= own then
      if capOfRun[permit.run] == nil then
        capOfRun[permit.run] = tonumber(redis.call('HGET', root .. 'run:' .. permit.run, 'maxOverageRequests')
          or '') or math.huge
      end
      held[generation] = (held[generation] or 0) + 1
      cap[generation] = math.min(cap[generation] or math.huge, capOfRun[permit.run])
    end
  end
  local room = math.huge
  for generation, count in pairs(held) do
    local left = cap[generation] - capsOf(generation).overage
    if count > left then room = math.min(room, math.max(0, left)) end
  end
  return room
end

local function take(account, policy, limit, request, run)
  request.maySpend = run ~= nil and run.status == 'alive' and not isPaused(allSpending)
  local keys = pluck(request.take, 'key')
  loadClaims(keys)
  request.allowed = inFlightAllowed(account, policy, limit, run)
  request.overageRoomOfOthers = overageRoomOfOthers(account, policy, run and run.generation, #keys)
  if run ~= nil then loadUnusable(run.id, keys) end
  local answers = {}
  for i, wanted in ipairs(request.take) do
    answers[i] = grant(account, policy, limit, request, run, wanted.permit, wanted.key, wanted.own)
  end
  return answers
end

-- True if a look may cost one request: within the quota, when all our requests are long visible.
local function mayTryLook(account, policy, look, quietMs)
  if account.closedAt ~= nil or account.hasNextFallen or not isDrained(account) then return false end
  local quota = math.min(account.quota or math.huge, policy.quotaCap or math.huge, look.quotaCap or math.huge)
  if spentOf(account) >= quota or now - account.spentAt < quietMs then return false end
  if now - account.lookTriesSince >= rules.lookDayMs then
    account.lookTriesSince = now
    account.lookTries = 0
  end
  return account.lookTries < rules.looksADay
end

local function grantLook(account, policy, limit, request, quietMs)
  local look = request.look
  loadPermits({ look.permit })
  if permits[look.permit] then return permits[look.permit].free and '0 free' or '0' end
  if isPaused(allSpending) then return 'denied' end
  local permit = {
    account = account.name, worker = request.worker, run = '', generation = '', key = look.key or '',
    deadline = now + request.permitMs, probe = false, own = look.own,
  }
  if look.own ~= nil then
    meetOwnDomain(account, look.own)
    if account.lookProven then return grantFree(account, request, permit, look.permit) end
  end
  if now < account.restsUntil then return 'denied' end
  if look.own ~= nil then
    if not mayTryLook(account, policy, look, quietMs) then return 'denied' end
  else
    loadClaims({ look.key })
    if claims[look.key] ~= request.worker then return 'lost' end
    if account.checkedAt > 0 and now - account.checkedAt < rules.checkEveryMs then return 'denied' end
    permit.probe = account.closedAt ~= nil or not hasRoom(account, limit)
  end
  local slot = slotOf(account)
  if slot == nil then return 'queued' end
  if look.own ~= nil then
    account.lookTries = account.lookTries + 1
    account.lookOut = look.permit
    account.lookOutAt = now
    if account.confirmedAt <= now - rules.aloneAfterMs then account.alone = look.permit end
  else
    account.checkedAt = now
  end
  if permit.probe then account.probes = account.probes + 1 else account.held = account.held + 1 end
  permits[look.permit] = permit
  granted[look.permit] = true
  return shown(slot - now)
end
