import { verify } from 'node:crypto';
import { CIPHERSUITES, verifyProof } from '@digitalbazaar/bbs-signatures';
import { CompactEncrypt, errors, importJWK } from 'jose';
import { TENANT_A as A, TENANT_B as B, useFreshVault, type KeyVaultStore } from './fresh-vault.contract.js';
import { KeyNotFound } from './key-vault.js';

/** Behavior of every SigningKeys. */
export const describeSigningKeys = (adapter: string, create: () => Promise<KeyVaultStore>): void => {
  describe(`SigningKeys: ${adapter}`, () => {
    const store = useFreshVault(create);
    const signingKeys = () => store.vault.signingKeys;

    it('are created once under given ids', async () => {
      const ids = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
      const made = await signingKeys().createSigningKeys(A, 'did', ['P-256', 'Ed25519'], ids);
      expect(made.map(({ keyId }) => keyId)).toEqual(ids);
      await store.reopen();
      expect(await signingKeys().createSigningKeys(A, 'did', ['P-256', 'Ed25519'], ids)).toEqual(made);
      expect(await signingKeys().listSigningKeys(A, 'did')).toEqual(made);
    });

    it('are the same for all that create them at once under given ids', async () => {
      const create = () =>
        signingKeys().createSigningKeys(A, 'webhook', ['Ed25519'], ['00000000-0000-4000-8000-000000000001']);
      const [one, other] = await Promise.all([create(), create()]);
      expect(other).toEqual(one);
      expect(await signingKeys().listSigningKeys(A, 'webhook')).toEqual(one);
    });

    it('creates several at once and lists them oldest first, by tenant and purpose, also after a restart', async () => {
      const made = await signingKeys().createSigningKeys(A, 'did', ['P-256', 'Ed25519', 'X25519', 'Bls12381G2']);
      const later = await signingKeys().createSigningKey(A, 'did', 'P-256');
      await signingKeys().createSigningKey(A, 'webhook', 'Ed25519');
      await signingKeys().createSigningKey(B, 'did', 'Ed25519');
      expect(made.map(({ publicJwk }) => publicJwk.crv)).toEqual(['P-256', 'Ed25519', 'X25519', 'Bls12381G2']);
      expect(made.map((key) => [key.tenantId, key.purpose, key.algorithm])).toEqual([
        [A, 'did', 'P-256'],
        [A, 'did', 'Ed25519'],
        [A, 'did', 'X25519'],
        [A, 'did', 'Bls12381G2'],
      ]);
      expect(await signingKeys().listSigningKeys(A, 'did')).toEqual([...made, later]);
      await store.reopen();
      expect(await signingKeys().listSigningKeys(A, 'did')).toEqual([...made, later]);
    });

    it('returns no private member', async () => {
      await signingKeys().createSigningKeys(A, 'did', ['P-256', 'Ed25519', 'X25519', 'Bls12381G2']);
      const members = (await signingKeys().listSigningKeys(A, 'did')).map((key) => Object.keys(key.publicJwk).sort());
      expect(members).toEqual([
        ['crv', 'kty', 'x', 'y'],
        ['crv', 'kty', 'x'],
        ['crv', 'kty', 'x'],
        ['crv', 'kty', 'x'],
      ]);
    });

    it('signs ES256 as raw r and s, and Ed25519; the signatures verify, also after a restart', async () => {
      const [ec, ed] = await signingKeys().createSigningKeys(A, 'did', ['P-256', 'Ed25519']);
      const data = Buffer.from('signed');
      for (const restart of [false, true]) {
        if (restart) await store.reopen();
        const es256 = await signingKeys().loadSigner(A, ec!.keyId);
        const eddsa = await signingKeys().loadSigner(A, ed!.keyId);
        expect([es256.algorithm, es256.publicJwk]).toEqual(['P-256', ec!.publicJwk]);
        const signature = es256.sign(data);
        expect(signature).toHaveLength(64);
        const key = { key: es256.publicKey, dsaEncoding: 'ieee-p1363' as const };
        expect(verify('sha256', data, key, signature)).toBe(true);
        expect(verify('sha256', Buffer.from('other'), key, signature)).toBe(false);
        expect(verify(null, data, eddsa.publicKey, eddsa.sign(data))).toBe(true);
        expect(verify('sha256', data, key, await es256.signAside(data))).toBe(true);
        expect(verify(null, data, eddsa.publicKey, await eddsa.signAside(data))).toBe(true);
      }
    });

    it('refuses a signer for a key that cannot sign, an unknown key and another tenant', async () => {
      const ec = await signingKeys().createSigningKey(A, 'did', 'P-256');
      await signingKeys().loadSigner(A, ec.keyId);
      for (const { keyId, algorithm } of await signingKeys().createSigningKeys(A, 'did', ['X25519', 'Bls12381G2']))
        await expect(signingKeys().loadSigner(A, keyId)).rejects.toEqual(
          new TypeError(`key ${keyId} is a key of type ${algorithm}, which cannot sign`),
        );
      await expect(signingKeys().loadSigner(A, 'unknown')).rejects.toThrow(KeyNotFound);
      await expect(signingKeys().loadSigner(B, ec.keyId)).rejects.toThrow(KeyNotFound);
    });

    it('proves a header with a BLS12-381 key, also after a restart, and never with a destroyed one or that of another tenant', async () => {
      const { keyId, publicJwk } = await signingKeys().createSigningKey(A, 'did', 'Bls12381G2');
      const header = Buffer.from('a header');
      for (const restart of [false, true]) {
        if (restart) await store.reopen();
        const proof = await signingKeys().proveBbs(A, keyId, header);
        const isProofOf = (proven: Buffer) =>
          verifyProof({
            proof,
            publicKey: Buffer.from(publicJwk.x, 'base64url'),
            header: proven,
            presentationHeader: new Uint8Array(),
            disclosedMessages: [],
            disclosedMessageIndexes: [],
            ciphersuite: CIPHERSUITES.BLS12381_SHA256,
          });
        expect(await isProofOf(header)).toBe(true);
        expect(await isProofOf(Buffer.from('another header'))).toBe(false);
      }
      await expect(signingKeys().proveBbs(B, keyId, header)).rejects.toThrow(KeyNotFound);
      await signingKeys().destroySigningKeys(A, [keyId]);
      await expect(signingKeys().proveBbs(A, keyId, header)).rejects.toThrow(KeyNotFound);
      const ed = await signingKeys().createSigningKey(A, 'did', 'Ed25519');
      await expect(signingKeys().proveBbs(A, ed.keyId, header)).rejects.toEqual(
        new TypeError(`key ${ed.keyId} is a key of type Ed25519, which makes no BBS proofs`),
      );
    });

    it('decrypts what was encrypted to a key of purpose encryption, also after a restart, and never destroyed ones', async () => {
      const { keyId, publicJwk } = await signingKeys().createSigningKey(A, 'encryption', 'P-256');
      const jwe = await new CompactEncrypt(Buffer.from('secret'))
        .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM' })
        .encrypt(await importJWK(publicJwk, 'ECDH-ES'));
      for (const restart of [false, true]) {
        if (restart) await store.reopen();
        const decrypter = await signingKeys().loadDecrypter(A, keyId);
        expect(Buffer.from(await decrypter.decrypt(jwe, {})).toString()).toBe('secret');
        const another = { contentEncryptionAlgorithms: ['A128GCM'] };
        await expect(decrypter.decrypt(jwe, another)).rejects.toThrow(errors.JOSEAlgNotAllowed);
      }
      await expect(signingKeys().loadDecrypter(B, keyId)).rejects.toThrow(KeyNotFound);
      await signingKeys().destroySigningKeys(A, [keyId]);
      await expect(signingKeys().loadDecrypter(A, keyId)).rejects.toThrow(KeyNotFound);
    });

    it('never signs with a key for encryption, nor decrypts with one for signatures', async () => {
      const encrypting = await signingKeys().createSigningKey(A, 'encryption', 'P-256');
      await expect(signingKeys().loadSigner(A, encrypting.keyId)).rejects.toEqual(
        new TypeError(`key ${encrypting.keyId} is a key for encryption, which cannot sign`),
      );
      const signing = await signingKeys().createSigningKey(A, 'did', 'P-256');
      await expect(signingKeys().loadDecrypter(A, signing.keyId)).rejects.toThrow(TypeError);
    });

    it('ensures one key for concurrent callers, then returns the newest', async () => {
      const ensured = await Promise.all(
        Array.from({ length: 20 }, () => signingKeys().ensureSigningKey(A, 'token', 'Ed25519')),
      );
      expect(new Set(ensured.map((key) => key.keyId)).size).toBe(1);
      expect(await signingKeys().listSigningKeys(A, 'token')).toHaveLength(1);
      const newer = await signingKeys().createSigningKey(A, 'token', 'Ed25519');
      expect(await signingKeys().ensureSigningKey(A, 'token', 'Ed25519')).toEqual(newer);
      await signingKeys().destroySigningKeys(A, [newer.keyId]);
      expect(await signingKeys().ensureSigningKey(A, 'token', 'Ed25519')).toEqual(ensured[0]);
    });

    it.each(['did', 'webhook', 'token', 'sign-in', 'certificate', 'encryption', 'client'] as const)(
      'ensures the second newest key of purpose %s once the newest was destroyed',
      async (purpose) => {
        const older = await signingKeys().ensureSigningKey(A, purpose, 'P-256');
        const newer = await signingKeys().createSigningKey(A, purpose, 'P-256');
        expect(await signingKeys().ensureSigningKey(A, purpose, 'P-256')).toEqual(newer);
        await signingKeys().destroySigningKeys(A, [newer.keyId]);
        expect(await signingKeys().ensureSigningKey(A, purpose, 'P-256')).toEqual(older);
      },
    );

    it('destroys a key: no signer, not listed, also after a restart; other keys are kept', async () => {
      const [gone, kept] = await signingKeys().createSigningKeys(A, 'did', ['P-256', 'P-256']);
      await signingKeys().loadSigner(A, gone!.keyId);
      await signingKeys().destroySigningKeys(A, [gone!.keyId]);
      for (const restart of [false, true]) {
        if (restart) await store.reopen();
        await expect(signingKeys().loadSigner(A, gone!.keyId)).rejects.toThrow(KeyNotFound);
        expect(await signingKeys().listSigningKeys(A, 'did')).toEqual([kept]);
      }
    });
  });
};
