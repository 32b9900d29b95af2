-- Redis compares Lua strings by its locale: ours go byte by byte.
local function isBelow(a, b)
  for at = 1, math.min(#a, #b) do
    local x, y = a:byte(at), b:byte(at)
    if x ~= y then return x < y end
  end
  return #a < #b
end

local function isPositionBelow(a, b)
  local ams, an = a:match('^(%d+)-(%d+)$')
  local bms, bn = b:match('^(%d+)-(%d+)$')
  ams, bms = tonumber(ams), tonumber(bms)
  if ams ~= bms then return ams < bms end
  return tonumber(an) < tonumber(bn)
end
