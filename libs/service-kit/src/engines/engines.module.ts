import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { EventStore, Leases, Streams } from '@attestry/event-store';
import {
  ExpiringState,
  KeyCheckpoints,
  KeyVault,
  Macs,
  ReplayGuard,
  Sealing,
  SigningKeys,
  SignInStore,
} from '@attestry/keys';
import { Canonicalization } from '@attestry/linked-data';
import { ReadModels } from '@attestry/read-model';
import { PlatformConfig } from '../config/config.js';
import { Health } from '../process/health.js';
import { Metrics } from '../metrics/metrics.js';
import { observedCanonicalization } from '../observed/observed-canonicalization.js';
import { OperationRecorders } from '../operations/operation-recorder.js';
import { Outbound } from '../outbound/outbound.js';
import { OutboundResolver } from '../outbound/outbound-resolver.js';
import { SignInRegistry } from '../operations/sign-in-registry.js';
import { Tracing } from '../tracing/tracing.js';
import { CHECKPOINTS, CLOCK, IDS, LOGGER, OPERATION_EVENT_STORE, OPERATION_READ_MODELS } from '../config/tokens.js';
import type { ProcessEngines } from './engines.js';
import { RateCounter } from './rate-counter.js';

/**
 * Provides the engines to every service of the process, except the bus: each service gets its own access to it (see hosted.ts). Engines
 * that the process does not have cannot be injected.
 */
@Module({})
export class EnginesModule {
  static forRoot(engines: ProcessEngines): DynamicModule {
    const resolver = new OutboundResolver(engines.config.dnsServers);
    const values: [unknown, unknown][] = [
      [PlatformConfig, engines.config],
      [LOGGER, engines.logger],
      [CLOCK, engines.clock],
      [IDS, engines.ids],
      [Health, engines.health],
      [Metrics, engines.metrics],
      [Tracing, engines.tracing],
      [OperationRecorders, engines.recorders],
      [EventStore, engines.events],
      [Streams, engines.streams],
      [Leases, engines.leases],
      [CHECKPOINTS, engines.checkpoints],
      [OPERATION_EVENT_STORE, engines.operationEvents],
      [KeyVault, engines.vault],
      [Macs, engines.vault?.macs],
      [ExpiringState, engines.vault?.expiringState],
      [KeyCheckpoints, engines.vault?.checkpoints],
      [Sealing, engines.vault?.sealing],
      [SigningKeys, engines.vault?.signingKeys],
      [ReplayGuard, engines.replayGuard],
      [RateCounter, engines.rates],
      [SignInStore, engines.signIn],
      [SignInRegistry, new SignInRegistry()],
      [ReadModels, engines.readModels],
      [OPERATION_READ_MODELS, engines.operationReadModels],
      [Canonicalization, observedCanonicalization(engines.config, engines.metrics)],
      [OutboundResolver, resolver],
      [Outbound, new Outbound(engines.config.allowPrivateTargets, resolver)],
    ];
    const providers: Provider[] = values
      .filter(([, value]) => value !== undefined)
      .map(([provide, useValue]) => ({ provide: provide as symbol, useValue }));
    return { module: EnginesModule, global: true, providers, exports: providers };
  }
}
