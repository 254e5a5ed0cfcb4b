import { loadServices } from './platform.js';

/** All services behind the gateway. */
export const SERVICES = await loadServices();
