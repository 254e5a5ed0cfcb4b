import { Inject, Injectable } from '@nestjs/common';
import { AppError, type HolderContext, type HttpAnswer, type Operation } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, type RequestOf, type ResponseOf } from '@attestry/service-kit';
import { DpopProofs, proofUsedAtResource } from '../dpop/dpop-proofs.js';
import { HaipProfile } from '../haip-profile/haip-profile.js';
import { TenantWallets } from '../registered-wallets/tenant-wallets.js';
import { WalletClients } from '../wallet-clients/wallet-clients.js';
import { WalletRecords } from '../wallet-record/wallet-records.js';
import type { After, WalletCall, WalletEngines, WalletStep } from './wallet-call.js';

/** Work of an endpoint after its steps. */
interface Endpoint<Call, Answer> {
  answer(call: Call): Promise<Answer | HttpAnswer>;
}

/** `execute` of an endpoint for wallets. */
export type ServedBy<O> = (request: RequestOf<O>, context: HolderContext) => Promise<ResponseOf<O> | HttpAnswer>;

/**
 * The endpoints for wallets that authenticate by DPoP, as tables of steps (ADR 0124). Each call is recorded, and each answer to a request
 * with a DPoP proof offers a nonce.
 */
@Injectable()
export class WalletEndpoints implements WalletEngines {
  constructor(
    private readonly records: WalletRecords,
    readonly streams: Streams,
    readonly macs: Macs,
    readonly dpop: DpopProofs,
    readonly haip: HaipProfile,
    readonly clients: WalletClients,
    readonly wallets: TenantWallets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @param steps in their order, before `endpoint` answers */
  serve<O extends Operation, const Steps extends readonly WalletStep[]>(
    operation: O,
    steps: Steps & ([After<Steps>] extends [never] ? never : unknown),
    endpoint: Endpoint<After<Steps>, ResponseOf<O>>,
  ): ServedBy<O> {
    return ({ raw }, context) => {
      const { tenant } = context;
      const answer = this.records.record(operation, context, async (record) => {
        const call: WalletCall = { ...raw!, operation, context, tenant, record, now: this.clock.now() };
        try {
          for (const step of steps) {
            const found = step(call as never, this);
            Object.assign(call, found instanceof Promise ? await found : found);
          }
          return await endpoint.answer(call as After<Steps>);
        } catch (error) {
          if (error instanceof AppError && error.kind !== 'unavailable') await this.beforeRefusal(call);
          throw error;
        }
      });
      return raw!.headers['dpop'] === undefined ? answer : this.dpop.withNonce(tenant.id, answer);
    };
  }

  /** A proof is used once, also by a request that is refused. @throws AppError instead of the refusal */
  private async beforeRefusal({ confirm, spending }: WalletCall): Promise<void> {
    await confirm?.();
    // Values were spent together: this finds out whether the proof was used before.
    if (spending && !(await spending.spendAlways())) throw proofUsedAtResource();
  }
}
