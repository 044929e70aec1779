import { describe, expect, it } from 'vitest';
import { loggedIn } from '../../../harness/diagnose/logged.ts';
import type { LogFinding, LogLeak } from '../../../scenarios/index.ts';

function finding(leak: LogLeak, first: Partial<LogFinding['first']> = {}, isEcho = false): LogFinding {
  const line = { line: 1, text: `key: [${leak}]`, name: null, source: null, ...first };
  return { leak, file: 'app.log', lines: 2, first: line, isEcho };
}

describe('the credentials in a log', () => {
  it('are one cause, whose fix names what printed them', () => {
    const log = [
      finding('secret', { name: 'WEBHOOK_AUTHORIZATION' }),
      finding('signature', { source: 'app/verify.py:12' }),
      finding('sent-signature'),
    ];
    const found = loggedIn(log);
    expect(found?.checks).toEqual(['effects/log-secret', 'effects/log-signature', 'effects/log-sent-signature']);
    expect(found?.finding).toMatchObject({
      mistake: 'secret-in-log',
      title: 'Logs the signature secret and the valid signature of a delivery that was sent without it',
      fix: expect.stringMatching(
        /^Mask `WEBHOOK_AUTHORIZATION`\. Remove what logs the line `key: \[signature\]` \(app\/verify\.py:12\)\. Log /,
      ),
    });
  });

  it('are headers of deliveries when these are all that is there', () => {
    expect(loggedIn([finding('api-key', { name: 'x-api-key' })])?.finding).toMatchObject({
      mistake: 'request-headers-in-log',
      title: 'Logs the API key',
    });
  });

  it('are neither echoes nor bodies', () => {
    expect(loggedIn([finding('secret', {}, true), finding('body'), finding('personal')])).toBeNull();
  });
});
