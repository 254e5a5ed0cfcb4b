import { Injectable, Inject } from '@nestjs/common';
import { AppError, type CredentialResponse } from '@attestry/contracts';
import { EventStoreUnavailable, Streams, type FurtherDecision, type Ids, type Loaded } from '@attestry/event-store';
import { KeyNotFound, pooledBytes, Sealing, type NewKey } from '@attestry/keys';
import { IDS } from '@attestry/service-kit';
import { claimsGone } from '../../claims/credential-claims/credential-claims.js';
import type { UnsignedCredential } from '../../formats/format.js';
import { Formats } from '../../formats/formats.js';
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
import { IssuanceInputs } from './issuance-inputs.js';
import { planIssuance, type IssuancePlan } from './plan-issuance.decisions.js';

/** Documents of an answer that are kept for the holder, or delivered, under keys of their own. */
interface KeptDocuments {
  keys: { keyId: string; newKey: NewKey }[];
  further: FurtherDecision[];
}

/** Makes, signs and records credentials: all events of one answer, with what must be stored before them, are one unit of work (ADR 0074). */
@Injectable()
export class CredentialIssuer {
  private readonly newCredential: Loaded<IssuedCredentialState>;

  constructor(
    private readonly inputs: IssuanceInputs,
    private readonly formats: Formats,
    private readonly sealing: Sealing,
    private readonly persisted: PersistedCredentials,
    private readonly streams: Streams,
    @Inject(IDS) private readonly ids: Ids,
  ) {
    this.newCredential = streams.initial(issuedCredential);
  }

  /** Nothing is stored or spent where the claims are not ready. @throws AppError */
  async issue(order: CredentialOrder): Promise<CredentialResponse | 'claimsNotReady'> {
    const { session, configuration, holders, now } = order;
    const tenantId = order.tenant.id;
    const format = this.formats.byName[configuration.format];
    const inputs = await this.inputs.load(order, format);
    if (inputs === 'claimsNotReady') return inputs;
    const { issuedClaims, signer, delivered, statuses } = inputs;
    /** Those that no stream can have: none once the events were decided (ADR 0074). */
    const unused = [...statuses];
    try {
      const shared = { configuration, ...issuedClaims, issuer: session.issuer, signer, time: now, random: pooledBytes };
      const unsigned: UnsignedCredential[] = [];
      for (const [index, holder] of holders.entries()) {
        const status = statuses[index];
        unsigned.push(format.prepare({ ...shared, holder, credentialId: this.ids.uuid(), ...(status && { status }) }));
      }
      const credentials = await format.sign(tenantId, unsigned, signer);
      const persists = configuration.content.persist === true;
      const texts = delivered || persists ? credentialTexts(credentials) : [];
      const documents = delivered ? texts.map((text) => this.sealForDelivery(tenantId, text)) : [];
      const answerId = this.ids.uuid();
      const signerCertificate = signer.certificate?.fingerprint;
      const { profile } = format;
      const plan = planIssuance({ order, answerId, profile, signerCertificate, unsigned, statuses, documents });
      const kept: KeptDocuments = { keys: [...documents], further: [] };
      if (persists) await this.persist(order, plan, texts, kept);
      await this.commit(order, plan, answerId, kept, unused);
      const response: CredentialResponse = { credentials: [], notification_id: answerId };
      for (const credential of credentials) response.credentials.push({ credential });
      return response;
    } catch (error) {
      // Nonces are spent before the streams of the credentials are appended to.
      if (error instanceof AppError && error.kind !== 'unavailable')
        this.inputs.giveBack(error.code === 'invalid_nonce' ? statuses : unused);
      throw error;
    }
  }

  /** @throws AppError */
  private async commit(
    { tenant, stream, loaded, holders, now, ...order }: CredentialOrder,
    { credentialIds, issued, recorded }: IssuancePlan,
    answerId: string,
    { keys, further }: KeptDocuments,
    unused: unknown[],
  ): Promise<void> {
    const { configuration, requireSession, deferralId, spending, record } = order;
    record.addMetadata({ credentialIds });
    const ofCredentials: FurtherDecision[] = [];
    for (const data of recorded) {
      const name = issuedCredentialStream(tenant.id, data.credentialId);
      const decide = (state: IssuedCredentialState) => recordCredential(state, data);
      ofCredentials.push(this.streams.further(issuedCredential, name, this.newCredential, decide, record.events));
    }
    const newKeys = keys.map(({ newKey }) => newKey);
    const writes = spending ? [spending, ...newKeys] : newKeys;
    try {
      await this.streams.decideOn(
        issuanceSession,
        stream,
        loaded,
        (state) => {
          // The offer may have been deleted, the limit reached.
          checkIssuanceLimit(requireSession(state), configuration, holders.length, now, deferralId);
          const ofDeferral = deferralId === undefined ? [] : completeDeferral(state, { deferralId, answerId }, now);
          unused.length = 0;
          return [...issued, ...ofDeferral];
        },
        record.events,
        { unit: { writes, further: [...ofCredentials, ...further] } },
      );
    } catch (error) {
      // Refused by the session: nothing will destroy the keys of these documents. After a failed store the session may have counted them.
      const left = keys.filter(({ newKey }) => newKey.isStored).map(({ keyId }) => keyId);
      if (left.length && !(error instanceof EventStoreUnavailable)) await this.sealing.destroyDataKeys(tenant.id, left);
      throw error;
    }
  }

  private async persist(
    { tenant, session: { userId }, record }: CredentialOrder,
    { credentialIds }: IssuancePlan,
    texts: readonly string[],
    { keys, further }: KeptDocuments,
  ): Promise<void> {
    try {
      const persisted = await Promise.all(
        credentialIds.map((credentialId, index) =>
          this.persisted.persist(tenant.id, { credentialId, userId, text: texts[index]! }, record.events),
        ),
      );
      for (const [index, { newKey, decision }] of persisted.entries()) {
        keys.push({ keyId: credentialIds[index]!, newKey });
        further.push(decision);
      }
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
