import type { ServiceDefinition } from '@attestry/service-kit';
import { issuanceEndpoints } from './issuance.endpoints.js';
import { IssuanceModule } from './issuance.module.js';

export const issuanceService: ServiceDefinition = {
  name: 'issuance',
  module: IssuanceModule,
  endpoints: issuanceEndpoints,
};
