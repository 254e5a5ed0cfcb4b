import type { Type } from '@nestjs/common';
import type { ServiceName } from '@attestry/contracts';
import type { AnyProjection } from '@attestry/read-model';
import type { EngineNeed } from '../engines/engines.js';

/** Exports of a service: its name, what it needs, and its Nest module, whose providers handle its operations. */
export interface ServiceDefinition {
  name: ServiceName;
  /** Engines beside the bus. */
  needs: readonly EngineNeed[];
  /** Categories of the events that become integration events. Default: none. */
  publishes?: readonly string[];
  module: Type;
  /** Its read models, for rebuilding one by its name. */
  projections: readonly ServiceProjection[];
}

export interface ServiceProjection {
  projection: AnyProjection;
  /** `operations`: also the streams of operation events, and every domain event as stored (ADR 0073). */
  follows: 'domain' | 'operations';
}
