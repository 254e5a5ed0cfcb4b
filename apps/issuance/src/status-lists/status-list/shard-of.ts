/** Each shard of lists is published under a lease of its own. Permanent: the epochs of different leases are not comparable. */
export const SHARDS = 4;

/** By the beginning of the uuid, which is random or a digest. */
export const shardOf = (listId: string): number => parseInt(listId.slice(0, 8), 16) % SHARDS;
