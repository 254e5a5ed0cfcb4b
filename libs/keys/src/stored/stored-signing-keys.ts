import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
  type webcrypto,
} from 'node:crypto';
import { promisify } from 'node:util';
import { compactDecrypt } from 'jose';
import { BbsProofs } from '../bbs/bbs-proofs.js';
import { generateBls12381G2 } from '../public-keys/bls12381.js';
import { cacheName, KeyCache } from './key-cache.js';
import type { KeyStore, SigningKeyRow } from './key-store.js';
import { KeyNotFound } from '../vault/key-vault.js';
import { bind, openBytes, sealBytes } from './seal.js';
import { newId } from '../vault/secrets.js';
import {
  SigningKeys,
  type Decrypter,
  type KeyAlgorithm,
  type PublicJwk,
  type Signer,
  type SigningKey,
  type SigningPurpose,
} from '../vault/signing-keys.js';
import type { TenantKeys } from './tenant-keys.js';

const PURPOSES: readonly SigningPurpose[] = [
  'did',
  'webhook',
  'token',
  'sign-in',
  'certificate',
  'encryption',
  'client',
];
const ALGORITHMS: readonly KeyAlgorithm[] = ['P-256', 'Ed25519', 'X25519', 'Bls12381G2'];

const signAside = promisify(sign);

/** SigningKeys over a store of sealed keys; pairs are generated and used here, the store never receives a private key. */
export class StoredSigningKeys extends SigningKeys {
  private readonly signers: KeyCache<Signer>;
  private readonly decrypters: KeyCache<Decrypter>;
  private readonly newest: KeyCache<SigningKey>;
  private readonly bbsProofs = new BbsProofs();

  /** @param destroyKeys also evicts them here */
  constructor(
    private readonly store: KeyStore,
    private readonly tenantKeys: TenantKeys,
    private readonly destroyKeys: (tenantId: string, keyIds: readonly string[]) => Promise<void>,
    private readonly clock: () => Date,
    ttl: number,
  ) {
    super();
    this.signers = new KeyCache({ max: 5_000, ttl });
    this.decrypters = new KeyCache({ max: 5_000, ttl });
    this.newest = new KeyCache({ max: 5_000, ttl });
  }

  async createSigningKey(tenantId: string, purpose: SigningPurpose, algorithm: KeyAlgorithm): Promise<SigningKey> {
    return (await this.createSigningKeys(tenantId, purpose, [algorithm]))[0]!;
  }

  async createSigningKeys(
    tenantId: string,
    purpose: SigningPurpose,
    algorithms: readonly KeyAlgorithm[],
    keyIds?: readonly string[],
  ): Promise<SigningKey[]> {
    const known = keyIds && (await this.findSigningKeys(tenantId, keyIds));
    if (known) return known;
    const tenantKey = await this.tenantKeys.loadTenantKey(tenantId);
    const rows = algorithms.map((algorithm, index) =>
      this.generateSigningKey(tenantKey, tenantId, purpose, algorithm, keyIds?.[index]),
    );
    try {
      const outcome = await this.store.call('putSigningKeys', { tenant: tenantId, rows });
      if (outcome === 'destroyed') throw new KeyNotFound(tenantId);
    } catch (error) {
      // Another caller has created them meanwhile.
      const made = keyIds && (await this.findSigningKeys(tenantId, keyIds));
      if (made) return made;
      throw error;
    }
    for (const algorithm of algorithms) this.newest.evict(cacheName(tenantId, purpose, algorithm));
    return rows.map(signingKeyOf);
  }

  /** They are made together: all of them or none. */
  private async findSigningKeys(tenantId: string, keyIds: readonly string[]): Promise<SigningKey[] | undefined> {
    const rows = await Promise.all(keyIds.map((keyId) => this.store.call('signingKey', { tenant: tenantId, keyId })));
    return rows.every((row) => row !== undefined) ? rows.map(signingKeyOf) : undefined;
  }

  async listSigningKeys(tenantId: string, purpose: SigningPurpose): Promise<SigningKey[]> {
    const rows = await this.store.call('signingKeys', { tenant: tenantId, purpose });
    return rows.map(signingKeyOf);
  }

  ensureSigningKey(tenantId: string, purpose: SigningPurpose, algorithm: KeyAlgorithm): Promise<SigningKey> {
    return this.newest.loadOnce(cacheName(tenantId, purpose, algorithm), async () => {
      const found = await this.store.call('newestSigningKey', { tenant: tenantId, purpose, algorithm });
      if (found) return signingKeyOf(found);
      const tenantKey = await this.tenantKeys.loadTenantKey(tenantId);
      const made = this.generateSigningKey(tenantKey, tenantId, purpose, algorithm);
      const ensured = await this.store.call('ensureSigningKey', made);
      if (ensured.state !== 'live') throw new KeyNotFound(tenantId);
      return signingKeyOf(ensured.row);
    });
  }

  loadSigner(tenantId: string, keyId: string): Promise<Signer> {
    return this.signers.loadOnce(cacheName(tenantId, keyId), async () => {
      const key = await this.findSigningKey(tenantId, keyId);
      const { algorithm, publicJwk, purpose } = signingKeyOf(key);
      if (algorithm === 'X25519' || algorithm === 'Bls12381G2')
        throw new TypeError(`key ${keyId} is a key of type ${algorithm}, which cannot sign`);
      if (purpose === 'encryption') throw new TypeError(`key ${keyId} is a key for encryption, which cannot sign`);
      const privateKey = await this.openPrivateKey(key);
      const publicKey = createPublicKey({ key: publicJwk as webcrypto.JsonWebKey, format: 'jwk' });
      const digest = algorithm === 'P-256' ? 'sha256' : null;
      // The encoding is that of ECDSA; Ed25519 has one alone.
      const signing = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
      return {
        keyId,
        algorithm,
        publicJwk,
        publicKey,
        sign: (data) => sign(digest, data, signing),
        signAside: (data) => signAside(digest, data, signing),
      };
    });
  }

  async proveBbs(tenantId: string, keyId: string, header: Uint8Array): Promise<Uint8Array> {
    const key = await this.findSigningKey(tenantId, keyId);
    const { algorithm, publicJwk } = signingKeyOf(key);
    if (algorithm !== 'Bls12381G2')
      throw new TypeError(`key ${keyId} is a key of type ${algorithm}, which makes no BBS proofs`);
    const opened = await this.openSecret(key);
    // Not cached: there is one proof for each DID and origin in a period of months.
    const secretKey = Uint8Array.from(opened);
    opened.fill(0);
    const publicKey = Uint8Array.from(Buffer.from(publicJwk.x, 'base64url'));
    return this.bbsProofs.prove({ secretKey, publicKey, header: Uint8Array.from(header) });
  }

  loadDecrypter(tenantId: string, keyId: string): Promise<Decrypter> {
    return this.decrypters.loadOnce(cacheName(tenantId, keyId), async () => {
      const key = await this.findSigningKey(tenantId, keyId);
      if (key.purpose !== 'encryption' || key.algorithm !== 'P-256')
        throw new TypeError(`key ${keyId} is no key for encryption on P-256`);
      const privateKey = await this.openPrivateKey(key);
      return {
        keyId,
        decrypt: async (jwe, options) => {
          const limits = { ...options, keyManagementAlgorithms: ['ECDH-ES'] };
          return (await compactDecrypt(jwe, privateKey, limits)).plaintext;
        },
      };
    });
  }

  private async findSigningKey(tenantId: string, keyId: string): Promise<SigningKeyRow> {
    const row = await this.store.call('signingKey', { tenant: tenantId, keyId });
    if (!row) throw new KeyNotFound(keyId);
    return row;
  }

  private async openPrivateKey(key: SigningKeyRow): Promise<KeyObject> {
    const d = await this.openSecret(key);
    const jwk = { ...(JSON.parse(key.publicJwk) as PublicJwk), d: d.toString('base64url') } as webcrypto.JsonWebKey;
    return createPrivateKey({ key: jwk, format: 'jwk' });
  }

  private async openSecret({ tenant, purpose, keyId, sealed }: SigningKeyRow): Promise<Buffer> {
    const tenantKey = await this.tenantKeys.loadTenantKey(tenant, keyId);
    return openBytes(tenantKey, sealed, bind('signing-key', tenant, purpose, keyId), `key ${keyId}`);
  }

  destroySigningKeys(tenantId: string, keyIds: readonly string[]): Promise<void> {
    return this.destroyKeys(tenantId, keyIds);
  }

  /** Without `keyIds`, all of the tenant's. */
  evict(tenantId: string, keyIds?: readonly string[]): void {
    for (const keys of [this.signers, this.decrypters])
      if (!keyIds) keys.evictPrefix(cacheName(tenantId, ''));
      else for (const keyId of keyIds) keys.evict(cacheName(tenantId, keyId));
    for (const purpose of PURPOSES)
      for (const algorithm of ALGORITHMS) {
        const at = cacheName(tenantId, purpose, algorithm);
        const known = this.newest.peek(at);
        if (!known || !keyIds || keyIds.includes(known.keyId)) this.newest.evict(at);
      }
  }

  async close(): Promise<void> {
    this.signers.clear();
    this.decrypters.clear();
    this.newest.clear();
    await this.bbsProofs.close();
  }

  private generateSigningKey(
    tenantKey: Buffer,
    tenant: string,
    purpose: SigningPurpose,
    algorithm: KeyAlgorithm,
    keyId = newId(),
  ): SigningKeyRow {
    const { d, ...publicJwk } = generateJwk(algorithm);
    return {
      keyId,
      tenant,
      purpose,
      algorithm,
      publicJwk: JSON.stringify(publicJwk),
      createdAt: this.clock().toISOString(),
      sealed: sealBytes(tenantKey, Buffer.from(d, 'base64url'), bind('signing-key', tenant, purpose, keyId)),
    };
  }
}

const signingKeyOf = (row: SigningKeyRow): SigningKey => ({
  keyId: row.keyId,
  tenantId: row.tenant,
  purpose: row.purpose as SigningPurpose,
  algorithm: row.algorithm as KeyAlgorithm,
  publicJwk: JSON.parse(row.publicJwk) as PublicJwk,
  createdAt: row.createdAt,
});

const generateJwk = (algorithm: KeyAlgorithm): PublicJwk & { d: string } => {
  const exported = (key: KeyObject) => key.export({ format: 'jwk' }) as PublicJwk & { d: string };
  switch (algorithm) {
    case 'P-256':
      return exported(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey);
    case 'Ed25519':
      return exported(generateKeyPairSync('ed25519').privateKey);
    case 'X25519':
      return exported(generateKeyPairSync('x25519').privateKey);
    case 'Bls12381G2':
      return generateBls12381G2();
  }
};
