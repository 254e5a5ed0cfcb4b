export { GatewayModule } from './gateway.module.js';
export { Edge } from './edge/edge.js';
export { GATEWAY_NEEDS } from './gateway.module.js';
