import { checkHost } from './check-host.js';

const check = (hosts: string[], target = '/v1/dids', { httpVersion = '1.1', forwarded = [] as string[] } = {}) => {
  const rawHeaders = [
    ...hosts.flatMap((host) => ['Host', host]),
    ...forwarded.flatMap((host) => ['X-Forwarded-Host', host]),
  ];
  return () => checkHost({ rawHeaders, httpVersion }, target, true);
};
const detail = (msg: string, param = 'Host') =>
  expect.objectContaining({ kind: 'invalid', details: [{ msg, param, location: 'headers' }] }) as Error;

describe('the host of a request', () => {
  it.each([
    [['a.example'], '/'],
    [['a.example:8080'], '/'],
    [['A.example.'], '/'],
    [['[::1]:8080'], '/'],
    [['a_b.example'], '/'],
    [['A.example:80'], 'http://a.EXAMPLE/v1/dids'],
    [['a.example'], 'https://a.example:443/'],
    [['a.example'], 'http://a.example'],
    [['a.example'], '*'],
  ])('%j with the target %s is accepted', (hosts, target) => {
    expect(check(hosts, target)).not.toThrow();
  });

  it('may be missing only in HTTP/1.0', () => {
    expect(check([], '/', { httpVersion: '1.0' })).not.toThrow();
    expect(check([])).toThrow(detail('is required'));
  });

  it.each([
    [['a.example', 'b.example'], '/', 'must be sent once'],
    [['a.example', 'a.example'], '/', 'must be sent once'],
    [[''], '/', 'must be a host name with an optional port'],
    [['a.example/x'], '/', 'must be a host name with an optional port'],
    [['u@a.example'], '/', 'must be a host name with an optional port'],
    [['a example'], '/', 'must be a host name with an optional port'],
    [['a.example:80x'], '/', 'must be a host name with an optional port'],
    [['a.example'], 'http://b.example/', 'must be the host of the request target'],
    [['a.example'], 'http://a.example:81/', 'must be the host of the request target'],
    [['a.example'], 'http://u@a.example/', 'must be the host of the request target'],
    [['a.example'], 'HTTPS://a.example:80/', 'must be the host of the request target'],
  ])('%j with the target %s is a 400', (hosts, target, msg) => {
    expect(check(hosts, target)).toThrow(detail(msg));
  });

  it.each([[['a.example', 'b.example']], [['a.example, b.example']]])('forwarded as %j is a 400', (forwarded) => {
    const msg = 'must be sent once, with one host';
    expect(check(['a'], '/', { forwarded })).toThrow(detail(msg, 'X-Forwarded-Host'));
  });
});
