import { Injectable } from '@nestjs/common';
import { AppError } from '@attestry/contracts';
import { Metrics, PlatformConfig } from '@attestry/service-kit';
import { ADDRESSES_OF_NETWORK, networkKeyOf } from './client-address.js';

interface Held {
  key: string;
  /** Factor on an address's limits. */
  addresses: number;
  requests: number;
  bytes: number;
}

/** A request's part of its address's share. */
export interface InFlight {
  /** Bytes of its body that have arrived. @throws AppError 429 when the address has too many in flight */
  add(bytes: number): void;
  /** Releases the share; further calls do nothing. */
  release(): void;
}

/** Requests, and bytes of their bodies, between the head of a request and the end of its answer: how much one address, and one IPv6 /48, may have. */
@Injectable()
export class RequestsInFlight {
  private readonly held = new Map<string, Held>();
  private readonly refused;

  constructor(
    private readonly config: PlatformConfig,
    metrics: Metrics,
  ) {
    this.refused = metrics.counter('httpRefused');
  }

  /**
   * @param address key of the rate limits
   * @param bytes of the body as far as its length is known, reserved at once, so that no body is read in vain
   * @throws AppError 429, and nothing is reserved
   */
  reserve(address: string, bytes: number): InFlight {
    const network = networkKeyOf(address);
    const all: Held[] = [this.held.get(address) ?? { key: address, addresses: 1, requests: 0, bytes: 0 }];
    if (network !== undefined)
      all.push(this.held.get(network) ?? { key: network, addresses: ADDRESSES_OF_NETWORK, requests: 0, bytes: 0 });
    for (const held of all)
      if (held.requests >= held.addresses * this.config.maxRequestsInFlight) throw this.tooMany('requests-in-flight');
    let own = 0;
    let released = false;
    const add = (more: number): void => {
      if (released) return;
      for (const held of all)
        if (held.bytes + more > held.addresses * this.config.maxBodyBytesInFlight)
          throw this.tooMany('body-bytes-in-flight');
      for (const held of all) held.bytes += more;
      own += more;
    };
    add(bytes);
    for (const held of all) {
      held.requests++;
      this.held.set(held.key, held);
    }
    return {
      add,
      release: () => {
        if (released) return;
        released = true;
        for (const held of all) {
          held.bytes -= own;
          if (--held.requests === 0) this.held.delete(held.key);
        }
      },
    };
  }

  private tooMany(reason: 'requests-in-flight' | 'body-bytes-in-flight'): AppError {
    this.refused.inc({ reason });
    const what = reason === 'requests-in-flight' ? 'requests' : 'bytes of request bodies';
    return new AppError('tooManyRequests', `Too many ${what} in flight from this address`, {
      headers: { 'retry-after': '1' },
    });
  }
}
