// node deploy/image/healthcheck.mjs [live|ready]: ends with 0 when this container's process answers that it is.
const [which = 'live'] = process.argv.slice(2);
const { ADMIN_PORT, PORT = '8080' } = process.env;
try {
  const answer = await fetch(`http://127.0.0.1:${ADMIN_PORT || PORT}/health/${which}`, {
    signal: AbortSignal.timeout(2500),
  });
  if (!answer.ok) console.error(`${which}: ${answer.status} ${await answer.text()}`);
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  console.error(`${which}: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
