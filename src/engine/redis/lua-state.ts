/**
 * Lua: the account as the answer tells it, a flat list of texts in the order that `ledger-reply.ts` reads.
 */

export const LUA_STATE = `
local function describeState(account, policy, run)
  turn(account)
  local limit, out = limitOf(account, policy), account.held + account.probes
  local hasRoom = limit == nil or account.sent + account.held + account.others < limit
  local isTurn = isTurnUnconfirmed(account)
  local list = {}
  local function add(value) list[#list + 1] = shown(value) end
  add(now) add(account.epoch) add(account.version) add(account.period) add(isPeriodDue(account) or (isTurn and out > 0))
  add(isTurn and (hasRoom or (run ~= nil and mayFindOutFree(account, policy, run))))
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
`;
