import { TcpBalancer } from './tcp-balancer.js';

// A load balancer on the first port named, before the others.
const [port, ...targets] = process.argv.slice(2).map(Number);
const balancer = await TcpBalancer.start(port);
balancer.use(targets);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void balancer.close());
