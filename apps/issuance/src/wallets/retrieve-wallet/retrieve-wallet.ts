import { retrieveAttestedWallet, retrieveWallet, type ClientContext, type RegisteredWallet } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { walletKindOf, walletView } from '../registered-wallets/wallet-views.js';
import { requireWallet } from '../registered-wallets/wallets.decisions.js';
import { wallets, walletsStream } from '../registered-wallets/wallets.state.js';

@Operation(retrieveWallet, retrieveAttestedWallet)
export class RetrieveWallet {
  constructor(private readonly streams: Streams) {}

  async execute({ params }: RequestOf<typeof retrieveWallet>, context: ClientContext): Promise<RegisteredWallet> {
    const { state } = await this.streams.load(wallets, walletsStream(context.tenant.id));
    return walletView(requireWallet(state, params.id, walletKindOf(context)));
  }
}
