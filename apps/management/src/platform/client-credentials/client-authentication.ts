import { Injectable } from '@nestjs/common';
import { Macs, randomSecret, type SecretMac } from '@attestry/keys';

/** A presented secret, and the stored one. */
export interface PresentedSecret {
  presented: string;
  /** `undefined` where the client or its second secret does not exist. */
  mac: SecretMac | undefined;
}

/** Compares the secret that a client presents with its stored ones. */
@Injectable()
export class ClientAuthentication {
  /** Compared where no secret exists, so that the response takes as long. */
  private readonly noSecret: SecretMac;

  constructor(private readonly macs: Macs) {
    this.noSecret = macs.mac(randomSecret());
  }

  /** The first matching MAC. All are compared, whatever the previous results, so that the time does not reveal which one matches. */
  fitting(clientId: string, secrets: readonly PresentedSecret[]): SecretMac | undefined {
    const fits = secrets.map(({ presented, mac }) => this.macs.verifyMac(presented, mac ?? this.noSecret, clientId));
    return secrets.find(({ mac }, index) => mac !== undefined && fits[index])?.mac;
  }
}
