import { Inject, Injectable } from '@nestjs/common';
import { AppError, type CredentialResponse } from '@attestry/contracts';
import { EventStoreUnavailable, Streams, type FurtherDecision, type Ids, type Loaded } from '@attestry/event-store';
import { KeyNotFound, Sealing, type NewKey } from '@attestry/keys';
import { IDS } from '@attestry/service-kit';
import { claimsGone } from '../../claims/credential-claims/credential-claims.js';
import { PersistedCredentials } from '../../registry/persisted-credential/persisted-credentials.js';
import { completeDeferral } from '../../sessions/issuance-session/deferred-issuance.decisions.js';
import { issuanceSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { recordCredential } from '../../sessions/issued-credential/issued-credential.decisions.js';
import {
  issuedCredential,
  issuedCredentialStream,
  type IssuedCredentialState,
} from '../../sessions/issued-credential/issued-credential.state.js';
import { checkIssuanceLimit } from './check-issuance-limit.js';
import type { CredentialOrder } from './credential-order.js';
import { credentialTexts } from './credential-texts.js';
import { planIssuance } from './plan-issuance.decisions.js';
import { SignedCredentials } from './signed-credentials.js';

interface KeptKey {
  keyId: string;
  newKey: NewKey;
}

/** Signs and records credentials: all events of one answer, with what must be stored before them, are one unit of work (ADR 0074). */
@Injectable()
export class CredentialIssuer {
  private readonly newCredential: Loaded<IssuedCredentialState>;

  constructor(
    private readonly signed: SignedCredentials,
    private readonly sealing: Sealing,
    private readonly persisted: PersistedCredentials,
    private readonly streams: Streams,
    @Inject(IDS) private readonly ids: Ids,
  ) {
    this.newCredential = streams.initial(issuedCredential);
  }

  /** Nothing is stored or spent where the claims are not ready. @throws AppError */
  async issue(order: CredentialOrder): Promise<CredentialResponse | 'claimsNotReady'> {
    const { tenant, configuration, holders, now, deferralId, spending, record } = order;
    const signed = await this.signed.sign(order);
    if (signed === 'claimsNotReady') return signed;
    const { credentials, delivered, statuses } = signed;
    /** Indexes that no stream can have: none once the events were decided (ADR 0074). */
    const unused = [...statuses];
    const keys: KeptKey[] = [];
    try {
      const persists = configuration.content.persist === true;
      const texts = delivered || persists ? credentialTexts(credentials) : [];
      const documents = delivered ? texts.map((text) => this.sealForDelivery(tenant.id, text)) : [];
      keys.push(...documents);
      const answerId = this.ids.uuid();
      const { credentialIds, issued, recorded } = planIssuance({ ...signed, order, answerId, documents });
      const further: FurtherDecision[] = [];
      for (const data of recorded) {
        const stream = issuedCredentialStream(tenant.id, data.credentialId);
        const decide = (state: IssuedCredentialState) => recordCredential(state, data);
        further.push(this.streams.further(issuedCredential, stream, this.newCredential, decide, record.events));
      }
      if (persists) further.push(...(await this.persist(order, credentialIds, texts, keys)));
      record.addMetadata({ credentialIds });
      const newKeys = keys.map(({ newKey }) => newKey);
      await this.streams.decideOn(
        issuanceSession,
        order.stream,
        order.loaded,
        (state) => {
          // The offer may have been deleted, the limit reached.
          checkIssuanceLimit(order.requireSession(state), configuration, holders.length, now, deferralId);
          const ofDeferral = deferralId === undefined ? [] : completeDeferral(state, { deferralId, answerId }, now);
          unused.length = 0;
          return [...issued, ...ofDeferral];
        },
        record.events,
        { unit: { writes: spending ? [spending, ...newKeys] : newKeys, further } },
      );
      const response: CredentialResponse = { credentials: [], notification_id: answerId };
      for (const credential of credentials) response.credentials.push({ credential });
      return response;
    } catch (error) {
      // Refused by the session: nothing will destroy the keys of these documents. After a failed store the session may have counted them.
      const left = keys.filter(({ newKey }) => newKey.isStored).map(({ keyId }) => keyId);
      if (left.length && !(error instanceof EventStoreUnavailable)) await this.sealing.destroyDataKeys(tenant.id, left);
      // Nonces are spent before the streams of the credentials are appended to.
      const isNonceRefused = error instanceof AppError && error.code === 'invalid_nonce';
      this.signed.giveBack(isNonceRefused ? statuses : unused, error);
      throw error;
    }
  }

  /** Keeps the credentials for their user. @param keys to which those of the documents are added */
  private async persist(
    { tenant, session: { userId }, record }: CredentialOrder,
    credentialIds: readonly string[],
    texts: readonly string[],
    keys: KeptKey[],
  ): Promise<FurtherDecision[]> {
    try {
      const persisted = await Promise.all(
        credentialIds.map((credentialId, index) =>
          this.persisted.persist(tenant.id, { credentialId, userId, text: texts[index]! }, record.events),
        ),
      );
      keys.push(...persisted.map(({ newKey }, index) => ({ keyId: credentialIds[index]!, newKey })));
      return persisted.map(({ decision }) => decision);
    } catch (error) {
      // The user is being deleted: the key is destroyed first.
      if (error instanceof KeyNotFound) throw claimsGone();
      throw error;
    }
  }

  private sealForDelivery(tenantId: string, text: string) {
    const keyId = this.ids.uuid();
    return { keyId, ...this.sealing.sealWithNewKey(tenantId, 'delivery', keyId, text) };
  }
}
