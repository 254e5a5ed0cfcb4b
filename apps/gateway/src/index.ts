export { gatewayAdapter } from './server/gateway-adapter.js';
export { GATEWAY_NEEDS, gatewayParticipant } from './gateway.module.js';
export { Pipeline } from './pipeline/mount.js';
