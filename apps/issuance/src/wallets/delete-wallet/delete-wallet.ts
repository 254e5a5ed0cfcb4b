import { deleteAttestedWallet, deleteWallet, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { walletKindOf } from '../registered-wallets/wallet-views.js';
import { removeWallet } from '../registered-wallets/wallets.decisions.js';
import { wallets, walletsStream } from '../registered-wallets/wallets.state.js';

@Operation(deleteWallet, deleteAttestedWallet)
export class DeleteWallet {
  constructor(private readonly streams: Streams) {}

  async execute({ params }: RequestOf<typeof deleteWallet>, context: ClientContext): Promise<void> {
    await this.streams.runDecision(
      wallets,
      walletsStream(context.tenant.id),
      (state) => removeWallet(state, params.id, walletKindOf(context)),
      eventContext(context),
    );
  }
}
