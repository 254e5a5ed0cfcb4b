import {
  createDid,
  deleteDid,
  issueCredential,
  issueToken,
  listTenants,
  lookUpTenant,
  reserveIssuerKey,
  retrieveOfferContent,
  type CallContext,
  type ClientContext,
  type ContextOf,
  type HolderContext,
  type ManagementContext,
  type PlatformContext,
  type PublicContext,
  type ServiceContext,
  type TenantServiceContext,
} from '@attestry/contracts';
import type { ServiceClient } from './service-client.js';
import { Operation, OperationsOfClass } from './use-case.js';

/** A use case that reads this context. The compiler checks the lines below: the build of the tests fails without the errors they expect. */
const handles = <Context>() =>
  class {
    async execute(_request: unknown, _context: Context): Promise<never> {
      throw new Error('not called');
    }
  };
type IsSame<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;
const isSame = <One, Other>(same: IsSame<One, Other>) => same;

describe('the context of a use case', () => {
  it('is that of the kind of access that the operation declares', () => {
    expect([
      isSame<ContextOf<typeof deleteDid>, ClientContext>(true),
      isSame<ContextOf<typeof listTenants>, ManagementContext>(true),
      isSame<ContextOf<typeof issueCredential>, HolderContext>(true),
      isSame<ContextOf<typeof retrieveOfferContent>, PublicContext>(true),
      isSame<ContextOf<typeof issueToken>, PlatformContext & { publicUrl: string }>(true),
      isSame<ContextOf<typeof reserveIssuerKey>, TenantServiceContext>(true),
      isSame<ContextOf<typeof lookUpTenant>, ServiceContext>(true),
      isSame<keyof ContextOf<typeof listTenants>, keyof CallContext | 'caller'>(true),
      isSame<keyof ContextOf<typeof createDid>, keyof ClientContext | 'idempotencyKey' | 'idempotentCall'>(true),
    ]).not.toContain(false);
  });

  it('may have fewer members, so that one class can serve several operations', () => {
    const UseCase = handles<CallContext>();
    Operation(deleteDid, listTenants, issueCredential)(UseCase);
    expect(Reflect.getMetadata(OperationsOfClass.KEY, UseCase)).toHaveLength(3);
  });

  it('of another kind does not compile', () => {
    Operation(deleteDid)(handles<ClientContext>());
    // @ts-expect-error -- a client of a tenant has no caller of the management API
    Operation(deleteDid)(handles<ManagementContext>());
    // @ts-expect-error -- the management API has no tenant
    Operation(listTenants)(handles<ClientContext>());
    // @ts-expect-error -- a wallet is no client
    Operation(issueCredential)(handles<ClientContext>());
    // @ts-expect-error -- a public operation has no caller with a name
    Operation(retrieveOfferContent)(handles<HolderContext>());
    // @ts-expect-error -- the hosts of the platform have no tenant
    Operation(issueToken)(handles<PublicContext>());
    // @ts-expect-error -- it declares no `publicUrl`
    Operation(retrieveOfferContent)(handles<PublicContext & { publicUrl: string }>());
    // @ts-expect-error -- it is called for no tenant
    Operation(lookUpTenant)(handles<TenantServiceContext>());
    // @ts-expect-error -- one of the two operations has no tenant
    Operation(deleteDid, listTenants)(handles<CallContext & Pick<ClientContext, 'tenant'>>());
    expect(() => Operation(deleteDid)(handles<ClientContext>())).not.toThrow();
  });

  it('must be passed when another service is called', () => {
    const call = (client: ServiceClient, context: CallContext, own: ClientContext) => [
      client.call(lookUpTenant, {}, context),
      client.call(reserveIssuerKey, {}, own),
      // @ts-expect-error -- it is called for a tenant
      client.call(reserveIssuerKey, {}, context),
      // @ts-expect-error -- it is for clients
      client.call(deleteDid, {}, context),
    ];
    expect(call).toHaveLength(3);
  });
});
