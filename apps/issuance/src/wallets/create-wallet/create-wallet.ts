import { Inject } from '@nestjs/common';
import { createAttestedWallet, createWallet, type ContextOf, type RegisteredWallet } from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { CLOCK, eventContext, idFor, IDS, Operation, type RequestOf } from '@attestry/service-kit';
import { readRoots } from '../../certificates/certificate-keys/read-roots.js';
import { walletOf, walletView } from '../registered-wallets/wallet-views.js';
import { registerWallet, requireWallet } from '../registered-wallets/wallets.decisions.js';
import { wallets, walletsStream } from '../registered-wallets/wallets.state.js';

@Operation(createWallet, createAttestedWallet)
export class CreateWallet {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    { body }: RequestOf<typeof createWallet>,
    context: ContextOf<typeof createWallet>,
  ): Promise<RegisteredWallet> {
    const id = idFor(context, 'wallet', this.ids);
    const { rootCertificates: pems } = body;
    const roots = pems && (await readRoots('rootCertificates', pems, this.clock.now()));
    const wallet = walletOf(id, body, roots);
    const { state } = await this.streams.runDecision(
      wallets,
      walletsStream(context.tenant.id),
      (before) => registerWallet(before, wallet),
      eventContext(context),
      { once: true },
    );
    return walletView(requireWallet(state, id, 'any'));
  }
}
