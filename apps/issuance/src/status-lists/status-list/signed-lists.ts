import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock } from '@attestry/event-store';
import { KeyNotFound, SigningKeys } from '@attestry/keys';
import { Canonicalization } from '@attestry/linked-data';
import { CLOCK, serviceContext } from '@attestry/service-kit';
import { DocumentSigners, IacaEnded } from '../../certificates/document-signers/document-signers.js';
import { IssuerSigners, type IssuingSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
import { ProofMethods } from '../../settings/proof-methods/proof-methods.js';
import {
  DEFAULT_TIMES,
  timesOf,
  type TokenTimes,
} from '../status-list-configurations/status-list-configurations.decisions.js';
import {
  statusListConfigurations,
  statusListConfigurationsStream,
} from '../status-list-configurations/status-list-configurations.state.js';
import { hasEnded } from './list-end.js';
import { revocationListUri, type ListSigner } from './list-series.js';
import type { NewToken } from './published-lists.read-model.js';
import { signRevocationList, signStatusList } from './sign-status-list.js';
import type { StoredList } from './status-lists.read-model.js';

/** The worker that publishes lists; also named in the events that loading a signer may append. */
export const PUBLISHER = 'issuance.status-list-publisher';

/** Why a list has no new token. */
export type Unsigned = 'ended' | 'withoutSigner' | 'withoutKey';

/** Signs the tokens of status lists. */
@Injectable()
export class SignedLists {
  constructor(
    private readonly streams: Streams,
    private readonly issuerSigners: IssuerSigners,
    private readonly documentSigners: DocumentSigners,
    private readonly signingKeys: SigningKeys,
    private readonly canonicalization: Canonicalization,
    private readonly proofMethods: ProofMethods,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async sign(list: StoredList): Promise<NewToken | Unsigned> {
    const now = this.clock.now();
    if (hasEnded(list, now)) return 'ended';
    const times = await this.loadTimes(list);
    let { timeToLive } = times;
    let expiresAt = new Date(now.getTime() + times.lifetime * 1000);
    let token: string;
    let revocationList: string | undefined;
    try {
      const signer = await this.loadSigner(list);
      if (!signer) return 'withoutSigner';
      // The IACA ends with its signers at the earliest.
      const { notAfter = expiresAt } = signer.certificate ?? {};
      if (notAfter < expiresAt) expiresAt = notAfter;
      // Another one must follow before it ends, by another signer if there is one then.
      timeToLive = Math.max(1, Math.min(timeToLive, Math.floor((expiresAt.getTime() - now.getTime()) / 1000)));
      const unsigned = {
        ...list,
        signer: await this.namedSigner(list),
        aggregationUri: `${new URL(list.uri).origin}/v2/credentials/status-lists/aggregation`,
        timeToLive,
        issuedAt: now,
        expiresAt,
      };
      const uri = revocationListUri(list, list.listId);
      [token, revocationList] = await Promise.all([
        signStatusList(unsigned, signer, (documents) => this.canonicalization.hashes(list.tenantId, documents)),
        uri === undefined ? undefined : signRevocationList(unsigned, uri, signer),
      ]);
    } catch (error) {
      if (error instanceof IacaEnded) return 'ended';
      if (!(error instanceof KeyNotFound)) throw error;
      // The DID or the tenant was deleted, or another signer follows.
      return 'withoutKey';
    }
    return {
      ...withEtag(token),
      // The first credential makes the list dirty.
      ...(!list.isUnused && { dueAt: new Date(now.getTime() + (timeToLive / 2) * 1000) }),
      expiresAt,
      ...(revocationList !== undefined && { revocationList: withEtag(revocationList) }),
    };
  }

  /** Name of the key for credentials with Data Integrity proofs; the series has the name of the configuration. */
  private async namedSigner({ tenantId, tokenType, signer }: StoredList): Promise<ListSigner> {
    if (tokenType !== 'bitstring' || signer.kind !== 'pinnedKey') return signer;
    return { ...signer, verificationMethod: await this.proofMethods.find(tenantId, signer.verificationMethod) };
  }

  /** Undefined where the owner of the IACA has uploaded no signer that is active. */
  private loadSigner({ tenantId, signer }: StoredList): Promise<IssuingSigner | undefined> {
    const context = serviceContext(PUBLISHER, tenantId);
    switch (signer.kind) {
      case 'pinnedKey':
        return this.signingKeys.loadSigner(tenantId, signer.keyId);
      case 'issuerSigner':
        return this.issuerSigners.loadSigner(tenantId, signer.issuer, context);
      case 'statusListSigner':
        return this.documentSigners.loadListSigner(tenantId, signer.iacaId, context);
    }
  }

  private async loadTimes({ tenantId, signer }: StoredList): Promise<TokenTimes> {
    if (signer.kind !== 'statusListSigner') return DEFAULT_TIMES;
    const { state } = await this.streams.load(statusListConfigurations, statusListConfigurationsStream(tenantId));
    return timesOf(state, signer.docType);
  }
}

const withEtag = (token: string) => ({ token, etag: `"${hash('sha256', token, 'base64url')}"` });
