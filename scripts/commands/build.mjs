/** nx has the target `build` with a cache, but starting nx alone takes longer than this command. */
export default {
  group: 'Develop',
  description: 'compile what has changed',
  usage: [{ name: 'package', about: 'folders of packages, for example apps/dids (default: all)', variadic: true }],
  examples: ['npm run build', 'npm run build -- apps/dids libs/keys'],
  run: async ({ args: [packages] }, cli) => {
    const { build } = await import('../build.mjs');
    const start = performance.now();
    const { compiled, removed, files, errors } = await cli.step('build', () => build(packages));
    const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
    for (const error of errors) cli.note(error);
    cli.say(`build: ${compiled} of ${files} files compiled, ${removed} stale outputs removed, ${seconds} s`);
    const failed = errors.length > 0;
    return { exitCode: failed ? 1 : 0, document: { ok: !failed, compiled, files, removed, errors, seconds } };
  },
};
