import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git, repository, shallowCommits } from '@attestry/testing';

export interface Release {
  version: string;
  /** The one that adds its folder of fixtures. */
  commit: string;
}

/**
 * The newest release of docs/releases.md before the commit that is checked out.
 * @throws when this clone lacks its commit: a shallow clone proves nothing
 */
export const findPredecessor = async (root = repository): Promise<Release> => {
  const text = await readFile(join(root, 'docs/releases.md'), 'utf8');
  const versions = [...text.matchAll(/^## (\d+\.\d+\.\d+)$/gm)].map(([, version]) => version!);
  if (versions.length === 0) throw new Error('docs/releases.md lists no release');
  const head = await git(['rev-parse', 'HEAD'], root);
  const shallow = await shallowCommits(root);
  for (const version of versions) {
    const added = ['log', '--diff-filter=A', '--format=%H', '--', `apps/e2e/fixtures/${version}`];
    const commit = (await git(added, root)).split('\n').filter(Boolean).at(-1);
    // Files of the oldest commit of a shallow clone seem to be added by it.
    if (commit !== undefined && shallow.has(commit))
      throw new Error(`this clone is too shallow for the commit of release ${version}: git fetch --unshallow`);
    // The release that is being made is its own successor.
    if (commit !== undefined && commit !== head) return { version, commit };
  }
  throw new Error('no release precedes this commit');
};
