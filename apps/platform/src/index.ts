export { startPlatform, type Platform } from './platform.js';
export { SERVICES } from './services.js';
