import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OperationContext, retrieveUserInformation, UserInformation } from '@attestry/contracts';
import type { RequestOf } from '@attestry/service-kit';
import { callingUser } from '../management-caller.js';
import { registered } from '../management-user/management-user.decisions.js';
import { People } from '../people/people.js';
import { userInformation } from '../people/user-information.js';

export class RetrieveUserInformation {
  constructor(
    readonly request: RequestOf<typeof retrieveUserInformation>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveUserInformation)
export class RetrieveUserInformationHandler implements IQueryHandler<RetrieveUserInformation> {
  constructor(private readonly people: People) {}

  async execute({ context }: RetrieveUserInformation): Promise<UserInformation> {
    const user = registered(await this.people.user(callingUser(context)));
    return userInformation(user.id, await this.people.open(user));
  }
}
