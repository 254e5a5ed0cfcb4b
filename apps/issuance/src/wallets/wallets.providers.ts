import { ClientAttestations } from './client-attestation/client-attestations.js';
import { DpopProofs } from './dpop/dpop-proofs.js';
import { HaipProfile } from './haip-profile/haip-profile.js';
import { TenantWallets } from './registered-wallets/tenant-wallets.js';
import { WalletClients } from './wallet-clients/wallet-clients.js';
import { WalletEndpoints } from './wallet-endpoints/wallet-endpoints.js';
import { WalletRecords } from './wallet-record/wallet-records.js';

export const walletsProviders = [
  HaipProfile,
  TenantWallets,
  DpopProofs,
  ClientAttestations,
  WalletClients,
  WalletRecords,
  WalletEndpoints,
];
