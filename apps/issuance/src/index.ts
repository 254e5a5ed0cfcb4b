import type { ServiceDefinition } from '@attestry/service-kit';
import { issuanceEndpoints } from './issuance.endpoints.js';
import { IssuanceModule } from './issuance.module.js';

export const issuanceService: ServiceDefinition = {
  name: 'issuance',
  needs: ['domain', 'keys', 'replay-guard'],
  module: IssuanceModule,
  endpoints: issuanceEndpoints,
};
