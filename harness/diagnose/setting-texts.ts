/** How fixes name settings: on the command line, and as options of the library, which replaces the former. */
import { explainMistake, SAMPLES_PLACE } from '../../contract/mistakes/index.ts';

export const SETTING_TEXTS = {
  both: {
    flag:
      'Set HOOKPROOF_SECRET and HOOKPROOF_API_KEY (exported, in a shell), or name files with `--secret-file` and ' +
      '`--api-key-file`.',
    option: 'Pass the `secret` and `apiKey` with which the app is configured, instead of `open: true`.',
  },
  secret: {
    flag: 'set HOOKPROOF_SECRET or use `--secret-file`',
    option: 'pass `secret` (`partner.signing.secret` of run)',
  },
  apiKey: {
    flag: 'set HOOKPROOF_API_KEY or use `--api-key-file`',
    option: 'pass `apiKey` (`partner.apiKey` of run)',
  },
  credentials: {
    flag: explainMistake({ mistake: 'credentials-differ' }).fix,
    option:
      "`secret` differs from the app's, or the app reads another header than `signatureHeader` " +
      '(`partner.signing.header` of run): give those of the app. If they are the same, log the signature that the ' +
      'app computes and the body that it reads.',
  },
  path: {
    flag: 'Register the handler for POST at exactly the path of the URL, including the prefix of a reverse proxy.',
    option: 'Pass the `path` at which the app serves POST, including the prefixes of its routers.',
  },
  samples: { flag: SAMPLES_PLACE, option: '`partner.samples` of run' },
} as const;
