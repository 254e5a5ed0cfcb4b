import { httpAnswer, notFound, retrieveTypeMetadata, type HttpAnswer, type PublicContext } from '@attestry/contracts';
import { EventStore, readEvent } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { publishedType, publishedTypeStream } from '../published-type/published-type.state.js';

@Operation(retrieveTypeMetadata)
export class RetrieveTypeMetadata {
  constructor(private readonly store: EventStore) {}

  async execute({ params }: RequestOf<typeof retrieveTypeMetadata>, { tenant }: PublicContext): Promise<HttpAnswer> {
    const [stored] = await this.store.readStream(publishedTypeStream(tenant.id, params.type), {
      from: Number(params.version) - 1,
      limit: 1,
    });
    if (!stored) throw notFound();
    // The stored text: `vct#integrity` is the digest of these bytes.
    return httpAnswer({
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: readEvent(publishedType, stored).data.document,
    });
  }
}
