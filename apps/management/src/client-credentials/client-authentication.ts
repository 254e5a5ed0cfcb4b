import { Injectable } from '@nestjs/common';
import { Macs, randomSecret, type SecretMac } from '@attestry/keys';

/** A secret as it is presented, and as it is kept. */
export interface PresentedSecret {
  presented: string;
  /** `undefined` where there is no such client, or no second secret. */
  mac: SecretMac | undefined;
}

/** Compares the secret that a client presents with those that are kept of it. */
@Injectable()
export class ClientAuthentication {
  /** Compared with where there is none, so that the answer takes as long. */
  private readonly noSecret: SecretMac;

  constructor(private readonly macs: Macs) {
    this.noSecret = macs.mac(randomSecret());
  }

  /** The first MAC that fits. Each is compared, whatever the one before it came to: the time does not tell which fits. */
  fitting(clientId: string, secrets: readonly PresentedSecret[]): SecretMac | undefined {
    const fits = secrets.map(({ presented, mac }) => this.macs.verifyMac(presented, mac ?? this.noSecret, clientId));
    return secrets.find(({ mac }, index) => mac !== undefined && fits[index])?.mac;
  }
}
