import { createPublicKey, randomBytes, verify, type webcrypto } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { AgentDependencies, DependencyManager, IPresentationFrame, Kms, Module } from '@credo-ts/core';
import { hostFetch } from './host-fetch.js';
import { frameOf, type VerifiedSdJwt } from './verify-sd-jwt.js';
import type { HolderKey } from './wallet.js';

/**
 * Presents claims of a `dc+sd-jwt` with the wallet's key and verifies the presentation with @credo-ts/core: certificate chain to the CA that
 * the issuer publishes, issuer in the certificate, signature, disclosures, times, key binding and type metadata with their digest.
 * @param claims names of the claims that the holder discloses; default all
 * @throws Error with what was found
 */
export const verifySdJwtWithCredo = async (
  credential: string,
  holder: HolderKey,
  claims?: readonly string[],
): Promise<VerifiedSdJwt> => {
  // Jest refuses to require an ES module that is still being imported, as a dependency of @credo-ts/core does: it is imported before.
  await import('@animo-id/mdoc');
  const { Agent, IntegrityVerifier, InjectionSymbols, Kms: KmsModules, SdJwtVcModule } = await import('@credo-ts/core');
  const storage: Module = {
    register: (dependencies: DependencyManager) =>
      dependencies.registerInstance(InjectionSymbols.StorageService, { supportsCursorPagination: false }),
  };
  /** Its own accepts only https. */
  const customTypeMetadataResolver = async (vct: string, integrity: string | undefined) => {
    const bytes = await (await hostFetch(vct)).bytes();
    if (integrity !== undefined) IntegrityVerifier.verifyIntegrity(bytes, integrity);
    return JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;
  };
  const agent = new Agent({
    config: { allowInsecureHttpUrls: true },
    dependencies: {
      EventEmitterClass: EventEmitter,
      fetch: hostFetch,
      FileSystem: class {},
      WebSocketClass: class {},
    } as unknown as AgentDependencies,
    modules: {
      storage,
      kms: new KmsModules.KeyManagementModule({ backends: [keysOf(holder)] }),
      sdJwtVc: new SdJwtVcModule({ customTypeMetadataResolver }),
    },
  });
  const decoded = agent.sdJwtVc.fromCompact(credential);
  const signed = decoded.payload as Record<string, unknown>;
  const all = decoded.prettyClaims as Record<string, unknown>;
  const names = claims ?? Object.keys(all).filter((name) => !Object.hasOwn(signed, name));
  const keyBinding = { audience: 'https://verifier.example', nonce: 'nonce-of-verifier' };
  const compactSdJwtVc = await agent.sdJwtVc.present({
    sdJwtVc: credential,
    presentationFrame: Object.fromEntries(names.map((name) => [name, frameOf(all[name])])) as IPresentationFrame,
    verifierMetadata: { ...keyBinding, issuedAt: Math.floor(Date.now() / 1000) },
  });
  const ca = (await (await hostFetch(`${String(signed['iss'])}/v1/openid/issuer-ca`)).json()) as {
    certificates: string[];
  };
  const verified = await agent.sdJwtVc.verify({
    compactSdJwtVc,
    keyBinding,
    fetchTypeMetadata: true,
    trustedCertificates: ca.certificates,
  });
  if (!verified.isValid) throw verified.error;
  const { header, prettyClaims, typeMetadata } = verified.sdJwtVc;
  return {
    header: header as VerifiedSdJwt['header'],
    payload: prettyClaims as Record<string, unknown>,
    ...(typeMetadata && { type: typeMetadata as Record<string, unknown> }),
  };
};

const unsupported = () => Promise.reject(new Error('not supported'));

/** Keys that @credo-ts/core takes from its host: the holder's key, and ECDSA with P-256. */
const keysOf = (holder: HolderKey): Kms.KeyManagementService => ({
  backend: 'attestry-testing',
  isOperationSupported: (_context, { operation }) => ['sign', 'verify', 'randomBytes'].includes(operation),
  getPublicKey: async (_context, keyId) => ({ ...holder.publicJwk, kid: keyId }) as Kms.KmsJwkPublic,
  sign: async (_context, { data }) => ({
    signature: new Uint8Array(
      await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, holder.privateKey, Buffer.from(data)),
    ),
  }),
  verify: async (_context, { key, data, signature }) => {
    const publicJwk = key.publicJwk ?? (holder.publicJwk as Kms.KmsJwkPublic);
    const publicKey = createPublicKey({ key: publicJwk as webcrypto.JsonWebKey, format: 'jwk' });
    return verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)
      ? { verified: true, publicJwk }
      : { verified: false };
  },
  randomBytes: (_context, { length }) => new Uint8Array(randomBytes(length)),
  createKey: unsupported,
  importKey: unsupported,
  deleteKey: unsupported,
  encrypt: unsupported,
  decrypt: unsupported,
});
