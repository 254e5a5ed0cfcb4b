import { Injectable } from '@nestjs/common';
import type { CredentialFormat } from '@attestry/contracts';
import type { Format } from './format.js';
import { JwtVcJson } from './jwt-vc-json.js';
import { LdpVc } from './ldp-vc.js';

@Injectable()
export class Formats {
  readonly byName: Readonly<Record<CredentialFormat, Format>>;

  constructor(ldpVc: LdpVc, jwtVcJson: JwtVcJson) {
    this.byName = { ldp_vc: ldpVc, jwt_vc_json: jwtVcJson };
  }
}
