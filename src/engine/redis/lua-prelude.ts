/**
 * Lua that every script of the stores begins with: reading the arguments one after the other, the store's clock,
 * numbers as text that loses nothing. Arguments arrive as text; the empty text stands for null.
 */

/** The first argument is what tests add to the clock, in milliseconds. */
export const LUA_PRELUDE = `
local root = KEYS[1]
local position = 0
local function text()
  position = position + 1
  return ARGV[position]
end
local function some()
  local value = text()
  if value == '' then return nil end
  return value
end
local function number() return tonumber(text()) end
local function flag() return text() == '1' end
local function shown(value)
  local kind = type(value)
  if kind == 'nil' then return '' end
  if kind == 'boolean' then return value and '1' or '0' end
  if kind == 'number' then return string.format('%.17g', value) end
  return value
end
-- Lua hands a function some thousands of arguments at most.
local function each(list, visit)
  local from = 1
  while from <= #list do
    visit(from, math.min(from + 999, #list))
    from = from + 1000
  end
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + number()
`;
