export {
  KeyAlreadyExists,
  KeyNotFound,
  KeyVault,
  KeyVaultUnavailable,
  MasterKeyMismatch,
  PLATFORM,
  ReplayGuard,
  EvictingReplayStore,
  ReplayGuardUnavailable,
  SealBroken,
  type KeysDestroyed,
  type SingleUseValue,
  type Spending,
} from './vault/key-vault.js';
export { BbsProofNotMade } from './bbs/bbs-proofs.js';
export { Macs, type SecretMac } from './vault/macs.js';
export {
  ERASED,
  isErased,
  Sealing,
  type DataPurpose,
  type Erased,
  type NewKey,
  type Sealed,
  type StoredValue,
} from './vault/sealing.js';
export {
  SigningKeys,
  type Decrypter,
  type KeyAlgorithm,
  type PublicJwk,
  type Signer,
  type SigningKey,
  type SigningPurpose,
} from './vault/signing-keys.js';
export { EmbeddedKeyVault, KEY_PRAGMAS, type EmbeddedKeyVaultOptions } from './embedded/embedded-key-vault.js';
export type { MasterKey, MasterKeysGiven } from './stored/master-keys.js';
export type { KeyLocation } from './moving/key-location.js';
export { copyKeys, KeysDiffer, type CopiedKeys, type CopyKeysOptions } from './moving/copy-keys.js';
export { rotateMasterKey, type Rotation } from './moving/rotate-master-key.js';
export { EmbeddedReplayGuard, type EmbeddedReplayGuardOptions } from './embedded/embedded-replay-guard.js';
export { ExpiringState, type StoredText } from './vault/expiring-state.js';
export { KeyCheckpoints } from './vault/key-checkpoints.js';
export {
  SignInAttempts,
  SignInRecords,
  SignInStore,
  type CountedAttempts,
  type PutRecord,
  type SignInRecord,
} from './sign-in/sign-in-store.js';
export { EmbeddedSignInStore, type EmbeddedSignInStoreOptions } from './embedded/embedded-sign-in-store.js';
export {
  base62,
  newId,
  pooledBytes,
  randomDigits,
  randomPick,
  randomSecret,
  successorId,
  type ByteSource,
} from './vault/secrets.js';
export {
  InvalidKey,
  decodeBls12381G2Multikey,
  decodeDidJwk,
  decodeDidKey,
  decodeMultikey,
  encodeDidJwk,
  encodeDidKey,
  encodeMultikey,
  importPublicJwk,
  jwkThumbprint,
  keyOfDidUrl,
  x25519PrivateOf,
  x25519PublicOf,
  type ImportedKey,
} from './public-keys/jwk.js';
export { inspectRedisServer, openRedisReplayGuard } from './redis/load-redis.js';
export type { RedisReplayGuardOptions } from './redis/redis-replay-guard.js';
export { loadKeyTables, migratePostgresKeys, openPostgresKeyVault } from './postgres/load-postgres.js';
export type { PostgresKeyVaultOptions } from './postgres/postgres-key-store.js';
