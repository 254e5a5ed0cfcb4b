import type {
  ClaimSourceAuthorizationType,
  ClaimSourceMethod,
  ParameterMapping,
  TokenEndpointAuthMethod,
} from '@attestry/contracts';

/** The credentials beside `type` and those of the token endpoint are sealed under a data key with the id of the source. */
export type SourceAuthorization =
  | { type: Extract<ClaimSourceAuthorizationType, 'api-key'>; sealedSecret: string }
  | {
      type: Extract<ClaimSourceAuthorizationType, 'oauth-client-credentials'>;
      tokenEndpoint: string;
      clientId: string;
      scope?: string;
      audience?: string;
      tokenEndpointAuthMethod: TokenEndpointAuthMethod;
      sealedSecret: string;
    };

export interface ConfiguredSource {
  /** uuid */
  id: string;
  name: string;
  url: string;
  requestMethod: ClaimSourceMethod;
  requestParameters: Record<string, ParameterMapping>;
  authorization?: SourceAuthorization;
}

export type ClaimSourcesEvent =
  | { type: 'ClaimSourceCreated'; data: ConfiguredSource }
  /** All members, in place of the earlier ones. */
  | { type: 'ClaimSourceUpdated'; data: ConfiguredSource }
  | { type: 'ClaimSourceDeleted'; data: { id: string } };
