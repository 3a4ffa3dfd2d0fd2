/** Choices of a person on the plan's page: from a form to settings and back. */
import { describe, expect, it } from 'vitest';
import { choiceOf, fieldsOf } from '../../../src/daemon/inbox/plan-upload.js';

const fields = (text: string) => choiceOf(new URLSearchParams(text));

describe('a choice', () => {
  it.each([
    ['', {}],
    ['pick=&kind=&sheet=&skipLines=', {}],
    ['pick=position%3A3&kind=crypto', { column: ['position:3'], kind: 'crypto' }],
    ['column=website&pick=position%3A3', { column: ['position:3'] }],
    ['column=website&pick=', { column: ['website'] }],
    ['column=website&pick=any&kind=domain', { kind: 'domain' }],
    ['column=a%3Adomain&column=b%3Adomain', { column: ['a:domain', 'b:domain'] }],
    ['column=symbol%3Aticker', { column: ['symbol'], kind: 'ticker' }],
    ['kind=crypto&column=symbol%3Aticker', { column: ['symbol'], kind: 'crypto' }],
    ['column=A%2C+B', { column: ['A, B'] }],
    ['header=false&sheet=Kunden+1%2C2', { header: 'false', sheet: 'Kunden 1,2' }],
    ['encoding=windows-1252', { encoding: 'windows-1252' }],
  ])('%s: %j', (text, choice) => {
    expect(fields(text)).toEqual(choice);
  });

  it.each([
    'token=x',
    'back=%2F',
    'baseUrl=https%3A%2F%2Fevil.example',
    'tokenFile=%2Fetc%2Fpasswd',
    'output=%2Ftmp%2Fx',
    'quota=9',
    'engine=x',
    'state=x',
    '__proto__=x',
    'sample=true',
    'errors=x',
    'report=x',
  ])('takes no %s', (text) => {
    expect(fields(text)).toEqual({});
  });

  it('is written alike wherever it comes from', () => {
    const choice = fields('sheet=B&pick=position%3A2&header=false&kind=isin');
    expect(JSON.stringify(choiceOf(new URLSearchParams(fieldsOf(choice))))).toBe(JSON.stringify(choice));
    expect(JSON.stringify(fields('kind=isin&header=false&column=position%3A2&sheet=B'))).toBe(
      JSON.stringify(choice),
    );
  });
});
