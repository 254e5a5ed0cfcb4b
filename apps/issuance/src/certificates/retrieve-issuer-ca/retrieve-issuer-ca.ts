import { notFound, retrieveIssuerCa, type IssuerCa, type PublicContext } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { IssuerSigners } from '../issuer-certificates/issuer-signers.js';

@Operation(retrieveIssuerCa)
export class RetrieveIssuerCa {
  constructor(private readonly signers: IssuerSigners) {}

  async execute(_request: unknown, { tenant }: PublicContext): Promise<IssuerCa> {
    const certificates = await this.signers.trustAnchors(tenant.id);
    if (!certificates.length) throw notFound();
    return { certificates };
  }
}
