import { Inject } from '@nestjs/common';
import { createUser, type ContextOf, type User } from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { Sealing } from '@attestry/keys';
import { CLOCK, eventContext, idFor, IDS, Operation, sealForNew, type RequestOf } from '@attestry/service-kit';
import { checkUser, createUser as decide } from '../user/user.decisions.js';
import { user, userStream } from '../user/user.state.js';
import { UsersReadModel } from '../user/users.read-model.js';

@Operation(createUser)
export class CreateUser {
  constructor(
    private readonly streams: Streams,
    private readonly sealing: Sealing,
    private readonly users: UsersReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute({ body }: RequestOf<typeof createUser>, context: ContextOf<typeof createUser>): Promise<User> {
    const claims = body.claims ?? {};
    const text = JSON.stringify(claims);
    checkUser(body, Buffer.byteLength(text));
    const tenantId = context.tenant.id;
    const userId = idFor(context, 'user', this.ids);
    const hasClaims = Object.keys(claims).length > 0;
    const seal = hasClaims
      ? await sealForNew(this.sealing, context, { tenantId, purpose: 'user', id: userId, text })
      : undefined;
    const created = await this.streams.runDecision(
      user,
      userStream(tenantId, userId),
      (state) => decide(state, { userId, sealedClaims: seal?.sealed, createdAt: this.clock.now() }),
      eventContext(context),
      { once: true, unit: { writes: seal?.newKey ? [seal.newKey] : [] } },
    );
    await this.users.running.ownWrite(created.position);
    return { id: userId, claims };
  }
}
