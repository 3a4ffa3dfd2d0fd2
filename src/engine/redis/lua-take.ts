/**
 * Lua: granting permits one after the other, each judged by the account as the one before left it. The order of the
 * conditions is part of the contract; the reference is `test/model/ledger-model.ts`.
 */

export const LUA_TAKE = `
local ALONE_AFTER_MS, PROBE_EVERY_MS, PACE_HORIZON_MS = 300000, 60000, 1000
local UNKNOWN_QUOTA_HELD, DOUBTS_ALLOWED = 8, 2

local function loadRun(id)
  if id == nil then return nil end
  local run = redis.call('HMGET', root .. 'run:' .. id,
    'key', 'status', 'beatAt', 'plan', 'maxRequests', 'maxOverageRequests', 'haltWhy')
  if not run[1] then return nil end
  local status = runStatus(run[2], run[3])
  if status == 'alive' and run[7] then status = 'halted' end
  return {
    id = id, key = run[1], status = status, plan = run[4],
    maxRequests = tonumber(run[5]), maxOverageRequests = tonumber(run[6]),
  }
end

-- nil: not now. Else whether it must be a probe.
local function roomFor(account, limit, plan, mayHaveTurned, spent, out)
  local hasRoom = limit == nil or spent < limit
  if account.closedAt == nil and hasRoom then return false end
  local mayAsk = hasRoom or (plan ~= 'paid' and not account.servesOverage) or mayHaveTurned
  local isDue = now >= account.nextProbeAt
    and (account.closedAt ~= nil or now - account.heardAt >= PROBE_EVERY_MS)
  if not mayAsk or not isDue or out > 0 then return nil end
  return true
end

-- nil: not within the horizon. Else when to send; the pace moves on.
local function slotOf(account)
  local slot = math.max(now, account.floorUntil)
  if account.rate == nil then
    if slot - now > PACE_HORIZON_MS then return nil end
    return slot
  end
  local interval = 1000 / account.rate
  slot = math.max(slot, account.tat - (account.burst - 1) * interval)
  if slot - now > PACE_HORIZON_MS then return nil end
  account.tat = math.max(account.tat, slot) + interval
  return slot
end

local function grant(account, policy, limit, request, run, id, key)
  if permits[id] then return 'g0' end
  local claim = claims[key]
  if not claim or claim.worker ~= request.worker then return 'l' end
  if not request.maySpend then return 'd' end
  if (doubts[root .. 'doubts:' .. run.id][key] or 0) >= DOUBTS_ALLOWED then return 's' end
  local out = account.held + account.probes
  if now < account.restsUntil then return 'd' end
  if isPeriodDue(account) then return 'd' end
  -- What a dead process left behind does not count: it may take a minute to run out.
  local isOpening = account.heardAt <= now - ALONE_AFTER_MS
  if isOpening and account.alone ~= nil then
    loadPermits({ account.alone })
    if permits[account.alone] then return 'd' end
  end
  if limit == nil and out >= UNKNOWN_QUOTA_HELD then return 'd' end
  local spent = account.sent + account.held + account.others
  local probe = roomFor(account, limit, run.plan, request.mayHaveTurned, spent, out)
  if probe == nil then return 'd' end
  local overage = spent >= math.min(account.quota or math.huge, policy.quotaCap or math.huge)
  local used = capsOf(run.key) or { requests = 0, overage = 0 }
  if run.maxRequests ~= nil and used.requests >= run.maxRequests then return 'd' end
  if overage and run.maxOverageRequests ~= nil and used.overage >= run.maxOverageRequests then return 'd' end
  local slot = slotOf(account)
  if slot == nil then return 'd' end
  if probe then
    account.probes = account.probes + 1
    account.nextProbeAt = now + PROBE_EVERY_MS
  else
    account.held = account.held + 1
  end
  used.requests = used.requests + 1
  if overage then used.overage = used.overage + 1 end
  caps[run.key] = used
  touchedCaps[run.key] = true
  takenFor[run.id] = (takenFor[run.id] or 0) + 1
  permits[id] = {
    account = account.name, run = run.id, runKey = run.key, key = key,
    deadline = now + request.permitMs, period = account.period, overage = overage, probe = probe,
  }
  granted[id] = true
  if isOpening then account.alone = id end
  claim.permit = id
  touchedClaims[key] = true
  return 'g' .. shown(slot - now)
end

local function take(account, policy, limit, request, run)
  request.maySpend = run ~= nil and run.status == 'alive' and redis.call('EXISTS', root .. 'paused') == 0
  loadClaims(request.keys)
  if run ~= nil then loadDoubts(run.id, request.keys) end
  local answers = {}
  for i, id in ipairs(request.permits) do
    answers[i] = grant(account, policy, limit, request, run, id, request.keys[i])
  end
  return answers
end
`;
