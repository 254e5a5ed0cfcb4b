import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics, PlatformConfig } from '@attestry/service-kit';
import { plain, rateKeyOf, TrustedProxies } from './client-address.js';

type Limits = Pick<PlatformConfig, 'maxConnections' | 'maxConnectionsPerPeer' | 'trustedProxies'>;

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** The open connections of the HTTP server: how many there may be, in total and of one peer, and what is under way on each. */
export class Connections {
  /** By peer; a trusted proxy has no limit of its own, since many clients come through it. */
  private readonly peers = new Map<string, Set<Socket>>();
  /** In the order of their requests; more than one where requests are pipelined. */
  private readonly exchanges = new WeakMap<Socket, Set<Exchange>>();
  private readonly proxies: TrustedProxies;
  private readonly refused;
  private open = 0;

  constructor(
    private readonly limits: Limits,
    metrics: Metrics,
  ) {
    this.proxies = new TrustedProxies(limits.trustedProxies);
    this.refused = metrics.counter('httpRefused');
    metrics.onScrape(() => metrics.gauge('httpConnections').set(this.open));
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.admit(socket));
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      const exchange = { request, response };
      const exchanges = this.exchanges.get(socket) ?? new Set();
      this.exchanges.set(socket, exchanges.add(exchange));
      response.once('close', () => exchanges.delete(exchange));
    });
  }

  /** The last request of a connection that is not answered yet. */
  exchangeOn(socket: Socket): Exchange | undefined {
    return [...(this.exchanges.get(socket) ?? [])].at(-1);
  }

  /**
   * Ends a connection that Node has detached from its HTTP server, when requests on it are not answered yet. Node no longer
   * closes them with the connection.
   * @returns whether there were any
   */
  abortExchanges(socket: Socket): boolean {
    const exchanges = [...(this.exchanges.get(socket) ?? [])];
    if (exchanges.length === 0) return false;
    socket.destroy();
    for (const { request, response } of exchanges) {
      request.destroy();
      response.destroy();
    }
    return true;
  }

  private admit(socket: Socket): void {
    const address = plain(socket.remoteAddress ?? '');
    const isProxy = this.proxies.trusts(address);
    const peer = rateKeyOf(address);
    const ofPeer = isProxy ? 0 : (this.peers.get(peer)?.size ?? 0);
    if (ofPeer >= this.limits.maxConnectionsPerPeer) return this.refuse(socket, 'connections-of-peer');
    if (this.open >= this.limits.maxConnections && !this.makeRoom(ofPeer)) return this.refuse(socket, 'connections');
    this.open++;
    const sockets = isProxy ? undefined : (this.peers.get(peer) ?? new Set());
    if (sockets) this.peers.set(peer, sockets.add(socket));
    socket.once('close', () => {
      this.open--;
      if (sockets?.delete(socket) && sockets.size === 0) this.peers.delete(peer);
    });
  }

  /**
   * Closes a connection of the peer that has most, so that a few peers cannot use up the total for all others. Only one that waits:
   * for a request, or for the rest of one.
   */
  private makeRoom(ofPeer: number): boolean {
    let most = new Set<Socket>();
    for (const sockets of this.peers.values()) if (sockets.size > most.size) most = sockets;
    if (most.size <= ofPeer + 1) return false;
    for (const socket of most) {
      const request = this.exchangeOn(socket)?.request;
      if (request?.complete || socket.destroyed) continue;
      this.refuse(socket, 'connections');
      return true;
    }
    return false;
  }

  private refuse(socket: Socket, reason: 'connections' | 'connections-of-peer'): void {
    this.refused.inc({ reason });
    socket.destroy();
  }
}
