import { OperationNodeTransformer } from 'kysely';
import type {
  CreateIndexNode,
  DropIndexNode,
  IdentifierNode,
  KyselyPlugin,
  OnConflictNode,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  PrimaryKeyConstraintNode,
  QueryId,
  QueryResult,
  RootOperationNode,
  SchemableIdentifierNode,
  UniqueConstraintNode,
  UnknownRow,
} from 'kysely';

/** `_v<version>`, from the second generation on `_v<version>_g<generation>`. */
export const tableSuffix = (version: number, generation: number): string =>
  generation === 1 ? `_v${version}` : `_v${version}_g${generation}`;

/**
 * Maps the logical tables of a projection to those of one generation. Names of indexes and of unique and primary key constraints get the
 * same suffix, as they are unique per schema too. Aliases and common table expressions must not be named like a logical table. {@link use}
 * switches at once for queries compiled from then on.
 */
export class TableNames implements KyselyPlugin {
  private transformer: SuffixTransformer;
  private readonly tables: ReadonlySet<string>;

  constructor(tables: readonly string[], suffix: string) {
    this.tables = new Set(tables);
    this.transformer = new SuffixTransformer(this.tables, suffix);
  }

  use(suffix: string): void {
    this.transformer = new SuffixTransformer(this.tables, suffix);
  }

  transformQuery(args: PluginTransformQueryArgs): RootOperationNode {
    return this.transformer.transformNode(args.node, args.queryId);
  }

  async transformResult(args: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return args.result;
  }
}

class SuffixTransformer extends OperationNodeTransformer {
  private readonly identifiers: ReadonlyMap<string, IdentifierNode>;

  constructor(
    tables: ReadonlySet<string>,
    private readonly suffix: string,
  ) {
    super();
    this.identifiers = new Map([...tables].map((name) => [name, this.identifier(name)]));
  }

  private identifier(name: string): IdentifierNode {
    return { kind: 'IdentifierNode', name: name + this.suffix };
  }

  protected override transformSchemableIdentifier(node: SchemableIdentifierNode): SchemableIdentifierNode {
    const identifier = node.schema ? undefined : this.identifiers.get(node.identifier.name);
    return identifier ? { ...node, identifier } : node;
  }

  protected override transformCreateIndex(node: CreateIndexNode, queryId?: QueryId): CreateIndexNode {
    return { ...super.transformCreateIndex(node, queryId), name: this.identifier(node.name.name) };
  }

  protected override transformDropIndex(node: DropIndexNode, queryId?: QueryId): DropIndexNode {
    const name = { ...node.name, identifier: this.identifier(node.name.identifier.name) };
    return { ...super.transformDropIndex(node, queryId), name };
  }

  protected override transformPrimaryKeyConstraint(
    node: PrimaryKeyConstraintNode,
    queryId?: QueryId,
  ): PrimaryKeyConstraintNode {
    return {
      ...super.transformPrimaryKeyConstraint(node, queryId),
      name: node.name && this.identifier(node.name.name),
    };
  }

  protected override transformUniqueConstraint(node: UniqueConstraintNode, queryId?: QueryId): UniqueConstraintNode {
    return { ...super.transformUniqueConstraint(node, queryId), name: node.name && this.identifier(node.name.name) };
  }

  protected override transformOnConflict(node: OnConflictNode, queryId?: QueryId): OnConflictNode {
    const constraint = node.constraint && this.identifier(node.constraint.name);
    return { ...super.transformOnConflict(node, queryId), constraint };
  }
}
