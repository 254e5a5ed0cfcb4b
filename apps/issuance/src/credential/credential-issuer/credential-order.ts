import type { TenantContext } from '@attestry/contracts';
import type { UnitWrite } from '@attestry/event-store';
import type { Holder } from '../../formats/format.js';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { PresentedToken } from '../../token/access-token/presented-token.js';
import type { WalletRecord } from '../../wallets/wallet-record/wallet-records.js';

/** A checked request for credentials. */
export interface CredentialOrder extends Omit<PresentedToken, 'confirm'> {
  tenant: TenantContext;
  record: WalletRecord;
  configuration: ActiveConfiguration;
  credentialIdentifier: string | undefined;
  /** One credential for each. */
  holders: readonly Holder[];
  now: Date;
  /** Spends the single-use values of the request, with the events. Absent where they were spent before. */
  spending?: UnitWrite;
  /** The deferral whose credentials these are. */
  deferralId?: string;
}
