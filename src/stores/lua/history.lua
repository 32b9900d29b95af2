-- Names what this Redis knows: another after a failover, which may have lost the newest writes.
local function replicationId()
  return redis.call('INFO', 'replication'):match('master_replid:(%x+)')
end
