export { SERVICES, startPlatform, type Platform } from './platform.js';
