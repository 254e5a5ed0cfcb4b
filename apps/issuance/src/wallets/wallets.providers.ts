import { ClientAttestations } from './client-attestation/client-attestations.js';
import { DpopProofs } from './dpop/dpop-proofs.js';
import { HaipProfile } from './haip-profile/haip-profile.js';
import { TenantWallets } from './registered-wallets/tenant-wallets.js';
import { WalletClients } from './wallet-clients/wallet-clients.js';

export const walletsProviders = [HaipProfile, TenantWallets, DpopProofs, ClientAttestations, WalletClients];
