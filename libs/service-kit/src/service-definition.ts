import type { Type } from '@nestjs/common';
import type { ServiceName } from '@attestry/contracts';
import type { Endpoint } from './endpoints.js';

/** What a service exports: its name, its Nest module and one endpoint line per operation. */
export interface ServiceDefinition {
  name: ServiceName;
  module: Type;
  endpoints: readonly Endpoint[];
}
