export { edgeAdapter } from './edge/edge-adapter.js';
export { Edge } from './edge/edge.js';
export { GATEWAY_NEEDS, gatewayParty } from './gateway.module.js';
