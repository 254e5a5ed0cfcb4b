// Flags every platform process runs with. The young generation is large enough that most garbage of a request dies where
// it was made; the limit on the old one makes V8 collect early instead of growing (docs/performance.md). The embedded
// platform keeps nothing by size of its history, so the limit is out of reach in operation.
export const nodeFlags = ['--no-warnings', '--max-semi-space-size=32', '--max-old-space-size=1024'];
