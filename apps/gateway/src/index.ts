export { GatewayModule } from './gateway.module.js';
export { Edge } from './edge/edge.js';
