import type { CredentialFormat, ErrorDetail } from '@attestry/contracts';
import type { OpenIdSettings } from '../openid-settings/openid-settings.events.js';

/** Settings that HAIP 1.0 fixes (§4, §4.1, §4.4.1). */
export const HAIP_SETTINGS = {
  allowUnregisteredWallets: false,
  requirePushedAuthorizationRequests: true,
  advertiseScopes: true,
} as const;

/** State of a tenant when it switches to HAIP. */
export interface HaipFacts {
  /** Formats of its credential configurations. Each has a scope, as HAIP 1.0 §4.1 requires. */
  formats: readonly CredentialFormat[];
  /** Formats of which one configuration is required at least. */
  haipFormats: readonly CredentialFormat[];
  /** Whether a wallet has root certificates, and is not disabled. */
  hasAttestedWallet: boolean;
}

/**
 * Everything that contradicts the profile `haip`, at once (ADR 0095).
 * @param facts of the change that switches it on; later, what wallets may use decides at each request
 */
export const haipFaults = (settings: OpenIdSettings, facts?: HaipFacts): ErrorDetail[] => {
  if (settings.profile !== 'haip') return [];
  const faults: ErrorDetail[] = [];
  const fault = (param: string, value: unknown, msg: string) => faults.push({ value, msg, param, location: 'body' });
  if (facts && !facts.formats.some((format) => facts.haipFormats.includes(format)))
    fault(
      'profile',
      'haip',
      `requires a credential configuration of one of the formats ${facts.haipFormats.join(', ')}`,
    );
  if (facts && !facts.hasAttestedWallet)
    fault('profile', 'haip', 'requires a wallet with rootCertificates that is not disabled');
  for (const [member, required] of Object.entries(HAIP_SETTINGS) as [keyof typeof HAIP_SETTINGS, boolean][])
    if (settings[member] === !required) fault(member, !required, `must be ${required} while profile is haip`);
  return faults;
};
