import { httpAnswer, notFound, retrieveIssuerCa, type HttpAnswer, type PublicContext } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { IssuerSigners } from '../issuer-certificates/issuer-signers.js';

@Operation(retrieveIssuerCa)
export class RetrieveIssuerCa {
  constructor(private readonly signers: IssuerSigners) {}

  async execute(_request: unknown, { tenant }: PublicContext): Promise<HttpAnswer> {
    const anchors = await this.signers.trustAnchors(tenant.id);
    if (!anchors.length) throw notFound();
    return httpAnswer({
      headers: { 'content-type': 'application/pem-certificate-chain' },
      body: anchors.join(''),
    });
  }
}
