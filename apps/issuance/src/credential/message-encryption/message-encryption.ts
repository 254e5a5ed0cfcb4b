import { Injectable } from '@nestjs/common';
import {
  httpAnswer,
  MAX_PLAINTEXT_BYTES,
  mediaTypeOf,
  type EncryptionPolicy,
  type HttpAnswer,
  type RawRequest,
} from '@attestry/contracts';
import { KeyNotFound } from '@attestry/keys';
import { CompactEncrypt, errors, importJWK } from 'jose';
import { EncryptionKeys } from '../../certificates/encryption-keys/encryption-keys.js';
import { encryptionPolicy } from '../../settings/openid-settings/openid-settings.decisions.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import { RecentStates } from '../../reading/recent-states/recent-states.js';
import {
  ALGORITHM,
  checkJweHeader,
  encryptionMetadata,
  ENC_VALUES,
  refused,
  type ResponseEncryption,
} from './encryption-parameters.js';

const DEFAULT_POLICY = encryptionPolicy({});

export interface OpenedRequest {
  /** The request object, JSON. */
  text: string;
  isEncrypted: boolean;
  policy: EncryptionPolicy;
}

/** Encrypted requests and responses of the endpoints for wallets (OID4VCI 1.0 §10, ADR 0088). */
@Injectable()
export class MessageEncryption {
  constructor(
    private readonly keys: EncryptionKeys,
    private readonly recent: RecentStates,
  ) {}

  /**
   * The request object of a body whose content type was checked.
   * @throws AppError `invalid_encryption_parameters`
   */
  async openRequest(raw: RawRequest, tenantId: string): Promise<OpenedRequest> {
    const isEncrypted = mediaTypeOf(raw.headers['content-type']) === 'application/jwt';
    const stream = openIdSettingsStream(tenantId);
    const loaded = await this.recent.load(openIdSettings, stream);
    let policy = loaded.state.encryption ? encryptionPolicy(loaded.state) : DEFAULT_POLICY;
    // A cached state alone refuses nothing.
    if (loaded.cached && (isEncrypted ? !policy.enabled : policy.requestRequired)) {
      const { state } = await this.recent.reload(openIdSettings, stream);
      policy = state.encryption ? encryptionPolicy(state) : DEFAULT_POLICY;
    }
    if (!isEncrypted && policy.requestRequired)
      throw refused('the request must be encrypted: this issuer requires the content type application/jwt');
    if (isEncrypted && !policy.enabled) throw refused('encrypted requests are disabled by this issuer');
    return { text: isEncrypted ? await this.decrypt(raw.text, tenantId) : raw.text, isEncrypted, policy };
  }

  async metadata(tenantId: string): Promise<Record<string, unknown>> {
    return encryptionMetadata(await this.policyOf(tenantId), await this.keys.findPublished(tenantId));
  }

  private async policyOf(tenantId: string): Promise<EncryptionPolicy> {
    const { state } = await this.recent.load(openIdSettings, openIdSettingsStream(tenantId));
    return state.encryption ? encryptionPolicy(state) : DEFAULT_POLICY;
  }

  private async decrypt(jwe: string, tenantId: string): Promise<string> {
    const kid = checkJweHeader(jwe);
    try {
      const decrypter = await this.keys.findDecrypter(tenantId, kid);
      if (!decrypter) throw unknownKid();
      const limits = { contentEncryptionAlgorithms: [...ENC_VALUES], maxDecompressedLength: MAX_PLAINTEXT_BYTES };
      return Buffer.from(await decrypter.decrypt(jwe, limits)).toString();
    } catch (cause) {
      // Destroyed in the meantime.
      if (cause instanceof KeyNotFound) throw unknownKid();
      if (cause instanceof errors.JOSEError) throw refused(faultOf(cause));
      throw cause;
    }
  }
}

const unknownKid = () => refused('kid is not a current key of credential_request_encryption in the metadata');

const faultOf = ({ code, message }: errors.JOSEError): string => {
  if (code === 'ERR_JWE_DECRYPTION_FAILED') return 'the JWE cannot be decrypted with the key of its kid';
  if (message.startsWith('Decompressed')) return `the request must have at most ${MAX_PLAINTEXT_BYTES} bytes inflated`;
  return 'the JWE is malformed';
};

/** 200 with a JWE whose plaintext is the JSON object. The parameters were checked with the request, so this does not fail after issuing. */
export const encryptAnswer = async (
  answer: object,
  { jwk, kid, enc, zip }: ResponseEncryption,
  status?: number,
): Promise<HttpAnswer> => {
  const body = await new CompactEncrypt(Buffer.from(JSON.stringify(answer)))
    .setProtectedHeader({ alg: ALGORITHM, enc, ...(kid !== undefined && { kid }), ...(zip && { zip }) })
    .encrypt(await importJWK(jwk, ALGORITHM));
  return httpAnswer({ ...(status !== undefined && { status }), headers: { 'content-type': 'application/jwt' }, body });
};
