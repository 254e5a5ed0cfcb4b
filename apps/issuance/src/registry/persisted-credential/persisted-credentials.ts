import { Injectable } from '@nestjs/common';
import { EventStore, readEvent, Streams, type EventContext, type FurtherDecision } from '@attestry/event-store';
import { isErased, Sealing, type NewKey } from '@attestry/keys';
import { erasePersistedCredential, persistCredential } from './persisted-credential.decisions.js';
import { persistedCredential, persistedCredentialStream } from './persisted-credential.state.js';

export interface ToPersist {
  credentialId: string;
  userId: string;
  /** JSON. */
  text: string;
}

/** Documents of issued credentials, sealed under the key of their user and a key of their own (ADR 0058). */
@Injectable()
export class PersistedCredentials {
  constructor(
    private readonly streams: Streams,
    private readonly store: EventStore,
    private readonly sealing: Sealing,
  ) {}

  /**
   * Part of the unit of work that issues the credential. A user without claims gets a key, which is durable before it.
   * @throws KeyNotFound when the user is being deleted
   */
  async persist(
    tenantId: string,
    { credentialId, userId, text }: ToPersist,
    context: EventContext,
  ): Promise<{ newKey: NewKey; decision: FurtherDecision }> {
    await this.sealing.createDataKey(tenantId, 'user', userId);
    const underUser = await this.sealing.sealText(tenantId, 'user', userId, text);
    const { sealed, newKey } = this.sealing.sealWithNewKey(tenantId, 'user', credentialId, underUser);
    const decision = this.streams.further(
      persistedCredential,
      persistedCredentialStream(tenantId, credentialId),
      this.streams.initial(persistedCredential),
      (state) => persistCredential(state, { credentialId, userId, sealed }),
      context,
    );
    return { newKey, decision };
  }

  /** The credential; `undefined` if it was not kept, or if a key was destroyed. */
  async load(tenantId: string, credentialId: string): Promise<Record<string, unknown> | undefined> {
    const [stored] = await this.store.readStream(persistedCredentialStream(tenantId, credentialId), { limit: 1 });
    const event = stored && readEvent(persistedCredential, stored);
    if (event?.type !== 'CredentialPersisted') return undefined;
    const underUser = await this.sealing.openSealed(tenantId, 'user', event.data.sealed);
    if (isErased(underUser)) return undefined;
    const text = await this.sealing.openSealed(tenantId, 'user', underUser);
    return isErased(text) ? undefined : (JSON.parse(text) as Record<string, unknown>);
  }

  /** Destroys the key of the document, if there is one; the event that names it belongs to the deletion of the credential. */
  async erase(tenantId: string, credentialId: string, context: EventContext): Promise<FurtherDecision> {
    const stream = persistedCredentialStream(tenantId, credentialId);
    const { state } = await this.streams.load(persistedCredential, stream);
    if (state.status === 'kept') await this.sealing.destroyDataKeys(tenantId, [credentialId]);
    return this.streams.further(
      persistedCredential,
      stream,
      () => this.streams.load(persistedCredential, stream),
      erasePersistedCredential,
      context,
    );
  }
}
