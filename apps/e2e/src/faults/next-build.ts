import { cp, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { repository } from '@attestry/testing';

/** Event of the next build only: a user's stream ends with it. */
export const NEW_EVENT = 'UserFarewellNoted';
/** Subject on which the next build publishes the resulting event. */
export const NEW_SUBJECT = 'event.issuance.user-farewell-noted';

/** Changes in the compiled files of a build: the text to replace, and its replacement in the next build. */
const CHANGES: Record<string, [string, string][]> = {
  // Subjects that a service may publish follow from its declared events.
  'libs/contracts/dist/issuance/issuance.integration-events.js': [
    [
      'export const userDeleted',
      `export const newUserEvent = defineIntegrationEvent('issuance.user-farewell-noted');\nexport const userDeleted`,
    ],
  ],
  'apps/issuance/dist/users/user/user.state.js': [
    ['UserDeleted: 1', `UserDeleted: 1, ${NEW_EVENT}: 1`],
    [`        case 'UserDeleted':`, `        case '${NEW_EVENT}': return state;\n        case 'UserDeleted':`],
  ],
  'apps/issuance/dist/users/user/user.decisions.js': [
    [
      `                destroyedKeys: command.destroyedKeys
            }
        }`,
      `                destroyedKeys: command.destroyedKeys
            }
        },
        { type: '${NEW_EVENT}', data: { userId: known.id } }`,
    ],
  ],
  'apps/issuance/dist/issuance.reactions.js': [
    [
      `        case 'UserDeleted':`,
      `        case '${NEW_EVENT}':
            return [fact({ subject: '${NEW_SUBJECT}' }, { tenantId, userId: stored.data.userId })];
        case 'UserDeleted':`,
    ],
  ],
  // A declared list names each event of its aggregates.
  ...Object.fromEntries(
    [
      'users/user/users.read-model',
      'offers/pre-authorized-offers/pre-authorized-offers.read-model',
      'token/token-family/family-sweep',
      'credential/deferred-issuance/deferred-issuances.read-model',
    ].map((file) => [
      `apps/issuance/dist/${file}.js`,
      [[`        UserDeleted:`, `        ${NEW_EVENT}: () => [],\n        UserDeleted:`]],
    ]),
  ),
};

/**
 * Makes the next build of the platform in a folder: this one's compiled files, with one new event type that its decisions
 * append and its reactions publish.
 */
export const makeNextBuild = async (folder: string): Promise<string> => {
  const packages = join(folder, 'node_modules', '@attestry');
  await mkdir(packages, { recursive: true });
  // Everything that is installed is taken from where it is, but for the workspaces, which are copied.
  for (const name of await readdir(join(repository, 'node_modules')))
    if (name !== '@attestry' && !name.startsWith('.'))
      await symlink(join(repository, 'node_modules', name), join(folder, 'node_modules', name));
  for (const kind of ['apps', 'libs'])
    for (const name of await readdir(join(repository, kind))) {
      const from = join(repository, kind, name);
      if (!(await isBuilt(from))) continue;
      const to = join(folder, kind, name);
      await mkdir(to, { recursive: true });
      await cp(join(from, 'dist'), join(to, 'dist'), { recursive: true });
      await cp(join(from, 'package.json'), join(to, 'package.json'));
      await symlink(to, join(packages, name));
    }
  await cp(join(repository, 'package.json'), join(folder, 'package.json'));
  for (const [file, changes] of Object.entries(CHANGES)) {
    const path = join(folder, file);
    let text = await readFile(path, 'utf8');
    for (const [before, after] of changes) {
      if (!text.includes(before)) throw new Error(`${file} has no ${before}`);
      text = text.replace(before, () => after);
    }
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return folder;
};

const isBuilt = (folder: string): Promise<boolean> =>
  lstat(join(folder, 'dist')).then(
    () => true,
    () => false,
  );
