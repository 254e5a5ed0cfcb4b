export { Edge } from './edge/edge.js';
export { readableUrl } from './edge/readable-url.js';
export { GATEWAY_NEEDS, gatewayParty } from './gateway.module.js';
