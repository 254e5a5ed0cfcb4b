import { given } from '@attestry/event-store';
import { publishVersion } from './published-type.decisions.js';
import type { TypePublishedEvent } from './published-type.events.js';
import { publishedType } from './published-type.state.js';
import { typeAddress, typeAddressFault, typesAddress } from './type-address.js';

const address = (version: number) => `https://acme.example/v1/openid/types/Course/${version}`;
const describeAs = (name: string) => (vct: string) => ({
  document: JSON.stringify({ vct, name }),
  integrity: `sha256-of ${vct} ${name}`,
});
const published = (version: number, name: string): TypePublishedEvent => ({
  type: 'TypePublished',
  data: { vct: address(version), ...describeAs(name)(address(version)) },
});

describe('a published type', () => {
  it('has a further version, at another address, whenever its document changes', () => {
    given(publishedType, [])
      .when((state) => publishVersion(state, address, describeAs('Course')))
      .then([published(1, 'Course')]);
    given(publishedType, [published(1, 'Course')])
      .when((state) => publishVersion(state, address, describeAs('Course')))
      .then([]);
    given(publishedType, [published(1, 'Course')])
      .when((state) => publishVersion(state, address, describeAs('Another')))
      .then([published(2, 'Another')]);
    given(publishedType, [published(1, 'Course'), published(2, 'Another')])
      .when((state) => publishVersion(state, address, describeAs('Course')))
      .then([published(3, 'Course')]);
  });
});

describe('the address of a type', () => {
  it('is made from the type, also where it has characters of its own meaning in an address', () => {
    expect(typeAddress('https://acme.example', 'Course')).toBe('https://acme.example/v1/openid/types/Course/');
    const hostile = 'a/../b?c#d%2e;=&+:@';
    const url = new URL(`${typeAddress('https://acme.example', hostile)}1`);
    expect(url.href.startsWith(typesAddress('https://acme.example'))).toBe(true);
    const [segment, version, ...more] = url.pathname.slice('/v1/openid/types/'.length).split('/');
    expect([decodeURIComponent(segment!), version, more]).toEqual([hostile, '1', []]);
  });

  it.each([
    ['Course', undefined],
    ['...', undefined],
    ['.', 'must not be . or .. where no vct is given'],
    ['..', 'must not be . or .. where no vct is given'],
    ['a'.repeat(1024), undefined],
    [`${'a'.repeat(1022)}/`, 'must have at most 1024 characters in percent-encoding where no vct is given'],
  ])('is possible for %s: %s', (type, fault) => expect(typeAddressFault(type)).toBe(fault));
});
