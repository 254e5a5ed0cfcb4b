import {
  listAttestedWallets,
  listWallets,
  type ClientContext,
  type PageOf,
  type RegisteredWallet,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { pageOf } from '../../reading/bounded-pages/page-of.js';
import { walletKindOf, walletView } from '../registered-wallets/wallet-views.js';
import { isOfKind } from '../registered-wallets/wallets.decisions.js';
import { wallets, walletsStream } from '../registered-wallets/wallets.state.js';

@Operation(listWallets, listAttestedWallets)
export class ListWallets {
  constructor(private readonly streams: Streams) {}

  async execute({ query }: RequestOf<typeof listWallets>, context: ClientContext): Promise<PageOf<RegisteredWallet>> {
    const { state } = await this.streams.load(wallets, walletsStream(context.tenant.id));
    const kind = walletKindOf(context);
    return pageOf(state.filter((wallet) => isOfKind(wallet, kind)).map(walletView), query);
  }
}
