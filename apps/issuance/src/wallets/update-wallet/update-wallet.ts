import { Inject } from '@nestjs/common';
import { updateAttestedWallet, updateWallet, type ClientContext, type RegisteredWallet } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { readRoots } from '../../certificates/certificate-keys/read-roots.js';
import { walletKindOf, walletOf, walletView } from '../registered-wallets/wallet-views.js';
import { changeWallet, requireWallet } from '../registered-wallets/wallets.decisions.js';
import { wallets, walletsStream } from '../registered-wallets/wallets.state.js';

@Operation(updateWallet, updateAttestedWallet)
export class UpdateWallet {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ params, body }: RequestOf<typeof updateWallet>, context: ClientContext): Promise<RegisteredWallet> {
    const { id } = params;
    const { rootCertificates: pems } = body;
    const kind = walletKindOf(context);
    const { state } = await this.streams.runDecision(
      wallets,
      walletsStream(context.tenant.id),
      async (before) => {
        const { rootCertificates: known } = requireWallet(before, id, kind);
        const roots = pems && (await readRoots('rootCertificates', pems, this.clock.now(), known));
        return changeWallet(before, walletOf(id, body, roots), kind);
      },
      eventContext(context),
    );
    return walletView(requireWallet(state, id, kind));
  }
}
