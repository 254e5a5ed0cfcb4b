import { Matches } from 'class-validator';
import { combine, Nested, Optional } from '../validators.js';
import { RootCertificates, Texts } from './root-certificates.js';

const MAX_LEVELS = 10;
const MAX_LEVEL = 256;
const ISO_LEVELS = ['iso_18045_high', 'iso_18045_moderate', 'iso_18045_enhanced-basic', 'iso_18045_basic'] as const;
/** Ecosystems may define values of their own, except in the namespace of the standard (OID4VCI 1.0 Appendix D.2). */
const LEVEL_PATTERN = /^(?:iso_18045_(?:high|moderate|enhanced-basic|basic)|(?!iso_18045_)[\x21-\x7e]{1,256})$/;

const Levels = (): PropertyDecorator =>
  combine(
    Texts(MAX_LEVELS, MAX_LEVEL),
    Matches(LEVEL_PATTERN, {
      each: true,
      message: `must contain only ${ISO_LEVELS.join(', ')}, or values of an ecosystem without white space, such as URLs`,
    }),
  );

/** Key attestations that a configuration requires (OID4VCI 1.0 Appendix D). */
export class KeyAttestationRequirement {
  /**
   * Accepted values of `key_storage`: `iso_18045_high`, `iso_18045_moderate`, `iso_18045_enhanced-basic`, `iso_18045_basic` or values of an
   * ecosystem. A key attestation must have one of them; none implies another. Default: any.
   */
  @Optional() @Levels() keyStorage?: string[];
  /** Accepted values of `user_authentication`, as of `keyStorage`. Default: any. */
  @Optional() @Levels() userAuthentication?: string[];
  /** Roots of the certificates of key attestations, PEM, each at most 4096 characters. */
  @RootCertificates() rootCertificates: string[];
}

/** Members that the configurations of every format have, in requests and responses. */
export class KeyRequirements {
  /** Requires that the keys of credentials are attested. Default: plain proofs; the proof type `attestation` is refused, and `key_attestation` in a header is ignored. */
  @Optional()
  @Nested(KeyAttestationRequirement, {
    message: 'must be an object with rootCertificates, and optionally keyStorage and userAuthentication',
  })
  keyAttestation?: KeyAttestationRequirement;
  /**
   * Roots of the certificates of holders, PEM, each at most 4096 characters. With them a key proof may name its key by `x5c`, beside `jwk`
   * and `kid`. Default: such proofs are rejected.
   */
  @Optional() @RootCertificates() proofRootCertificates?: string[];
}
