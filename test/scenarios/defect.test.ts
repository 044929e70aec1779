import { describe, expect, it } from 'vitest';
import { defectOf } from '../../scenarios/index.ts';

describe('the defect of a failed scenario', () => {
  it.each([
    ['Rejects an empty key', '200', 'Accepts an empty key'],
    ['Rejects an empty key', '403', 'Rejects an empty key with status 403'],
    ['Rejects an empty key', '302', 'Redirects an empty key'],
    ['Rejects an empty key', '500', 'Fails on an empty key'],
    ['Rejects an empty key', 'silence', 'Fails on an empty key'],
    ['Rejects TLS 1.0', 'granted', 'Accepts TLS 1.0'],
    ['Accepts a BUY order', '400', 'Rejects a BUY order'],
    ['Accepts a BUY order', '202', 'Accepts a BUY order with status 202'],
    ['Accepts a BUY order', '503', 'Fails on a BUY order'],
    ['Accepts a client certificate', 'bad_certificate', 'Rejects a client certificate'],
    ['Handles an empty body', 'closed', 'Fails on an empty body'],
    ['Handles an empty body', '401', 'Rejects an empty body'],
    ['Does not reveal a credential', '401', 'Reveals a credential'],
  ])('%s, with the outcome %s: %s', (title, outcome, expected) => {
    expect(defectOf({ title }, outcome)).toBe(expected);
  });

  it('is taken from the scenario where it has one', () => {
    const scenario = { title: 'Sends each certificate once', defect: 'Sends a certificate twice' };
    expect(defectOf(scenario, 'duplicate')).toBe('Sends a certificate twice');
  });
});
