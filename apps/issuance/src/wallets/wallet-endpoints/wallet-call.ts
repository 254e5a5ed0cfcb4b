import type { HolderContext, Operation, RawRequest, TenantContext } from '@attestry/contracts';
import type { Streams } from '@attestry/event-store';
import type { Macs, Spending } from '@attestry/keys';
import type { DpopProofs } from '../dpop/dpop-proofs.js';
import type { HaipProfile } from '../haip-profile/haip-profile.js';
import type { TenantWallets } from '../registered-wallets/tenant-wallets.js';
import type { WalletClients } from '../wallet-clients/wallet-clients.js';
import type { WalletRecord } from '../wallet-record/wallet-records.js';

/** A call of an endpoint for wallets, before its first step. Each step adds what it finds. */
export interface WalletCall extends RawRequest {
  readonly operation: Operation;
  readonly context: HolderContext;
  readonly tenant: TenantContext;
  readonly record: WalletRecord;
  /** When the call arrived. */
  readonly now: Date;
  /** Called before a refusal, where what refuses it may be out of date. @throws AppError instead of the refusal */
  confirm?(): Promise<void>;
  /** The DPoP proof at a protected resource, alone or with other values. It is spent by the call, or by its refusal. */
  spending?: Spending;
}

/** The engines of the steps: each names those that it uses. */
export interface WalletEngines {
  readonly streams: Streams;
  readonly macs: Macs;
  readonly dpop: DpopProofs;
  readonly haip: HaipProfile;
  readonly clients: WalletClients;
  readonly wallets: TenantWallets;
}

/**
 * One step of an endpoint: what must be known before is the type of its first parameter, what it adds is its result. It returns a promise
 * only where there is something to wait for, and throws an AppError when the call is refused.
 */
export type WalletStep = (call: never, engines: WalletEngines) => unknown;

/** Members after the steps; never where one of them needs what no step before it adds. */
export type After<Steps extends readonly WalletStep[], Known = WalletCall> = Steps extends readonly [
  (call: infer Needs, engines: never) => infer Found,
  ...infer Rest extends WalletStep[],
]
  ? Known extends Needs
    ? After<Rest, Known & Added<Awaited<Found>>>
    : never
  : Known;
type Added<Found> = Found extends object ? Found : unknown;
