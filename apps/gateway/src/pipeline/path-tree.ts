import { nearestName } from '@attestry/service-kit';

interface Node {
  /** Child of each literal segment. */
  readonly literals: Map<string, Node>;
  /** Names of {@link literals}. */
  names: readonly string[];
  /** Child of a parameter. */
  parameter?: Node;
  /** The declared path that ends here, as the interface definitions spell it: `/v1/users/{id}`. */
  path?: string;
}

/** A declared path, and how many segments of the request differ from it. */
export interface FoundPath {
  path: string;
  differing: number;
}

const nodeOf = (): Node => ({ literals: new Map(), names: [] });

/** Not empty: slashes at the end and in a row do not count. */
export const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

/** Paths of operations, made at boot, in which the nearest one to a path without operation is found. */
export class PathTree {
  private readonly root = nodeOf();
  /** The only path that ends in a literal segment, by that segment. */
  private readonly byEnding = new Map<string, string | undefined>();
  /** First segments that are versions, such as `v1`. */
  readonly versions: readonly string[];

  /** @param paths as declared, with parameters as `:id`; those that begin with `*` are left out */
  constructor(paths: readonly string[]) {
    for (const path of paths) if (path.startsWith('/')) this.add(path);
    this.versions = this.root.names.filter((name) => /^v\d+$/.test(name)).sort();
  }

  private add(declared: string): void {
    const path = declared.replace(/:(\w+)/g, '{$1}');
    let node = this.root;
    const segments = segmentsOf(declared);
    for (const segment of segments) {
      if (segment.startsWith(':')) {
        node = node.parameter ??= nodeOf();
        continue;
      }
      const next: Node = node.literals.get(segment) ?? nodeOf();
      node.literals.set(segment, next);
      node.names = [...node.literals.keys()];
      node = next;
    }
    if (node.path !== undefined) return;
    node.path = path;
    const last = segments.at(-1);
    if (last !== undefined && !last.startsWith(':'))
      this.byEnding.set(last, this.byEnding.has(last) ? undefined : path);
  }

  /** The path with as many segments of which the fewest differ. Visits each node at most once, and compares one name with its children. */
  nearest(segments: readonly string[], node = this.root, at = 0): FoundPath | undefined {
    const segment = segments[at];
    if (segment === undefined) return node.path === undefined ? undefined : { path: node.path, differing: 0 };
    const name = node.literals.has(segment) ? segment : nearestName(segment, node.names);
    const literal = name === undefined ? undefined : this.nearest(segments, node.literals.get(name), at + 1);
    if (literal) return { ...literal, differing: literal.differing + (name === segment ? 0 : 1) };
    return node.parameter && this.nearest(segments, node.parameter, at + 1);
  }

  /** The path that is the only one with this last segment. */
  endingIn(segment: string): string | undefined {
    return this.byEnding.get(segment);
  }
}
