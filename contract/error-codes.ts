/** The error codes that the specification lists as examples. Others may be received. Specification: Errors. */

/** Titles of the groups of error codes. */
export const ERROR_CODE_GROUPS = {
  system: 'General system',
  custody: 'Custody wallet',
  'external-sell': 'External sell, call to the partner',
  blockchain: 'Blockchain processing',
  'digital-payments': 'Digital payments',
  'crypto-send': 'Crypto send',
  'risk-screening': 'Risk screening',
} as const;
export type ErrorCodeGroup = keyof typeof ERROR_CODE_GROUPS;

export interface ErrorCode {
  readonly code: string;
  readonly group: ErrorCodeGroup;
  readonly meaning: string;
}

const MEANINGS: Readonly<Record<ErrorCodeGroup, Readonly<Record<string, string>>>> = {
  system: {
    '352-000-S1': 'An unexpected internal error of the service; severity high.',
    '352-001-S2': 'An unexpected internal error of the service; severity medium.',
    '352-002-E1': 'An unexpected external error; severity high.',
    '352-003-E2': 'An unexpected external error; severity medium.',
    '352-001-S1': 'Parts of the service could not communicate with each other.',
    '352-102-S1': 'The deadline of a buy order passed because the system did not act.',
    '352-202-S1': 'The deadline of a sell order passed because the system did not act.',
  },
  custody: {
    '352-104-S3': 'The custody wallet system rejected a buy order.',
    '352-204-S3': 'The custody wallet system rejected a sell order.',
  },
  'external-sell': {
    '352-251-S1': 'The call to the partner failed for an unexpected technical reason.',
    '352-252-E1': 'The partner rejected the external sell order.',
    '352-253-S1': 'An external sell was started without a wallet address.',
    '352-254-E1': 'The partner returned neither an answer nor an error.',
  },
  blockchain: {
    '204-000-S1': 'A buy failed because of an unexpected internal error; severity high.',
    '204-001-S2': 'A buy failed because the wallet was not created.',
    '204-002-S2': 'A buy failed because the blockchain network is not valid.',
    '204-003-S3': 'A buy failed because it took too long.',
    '204-004-S1': 'A sell failed because of an unexpected internal error; severity high.',
    '204-005-S2': 'A sell failed because the wallet was not created.',
    '204-006-S2': 'A sell failed because the blockchain network is not valid.',
    '204-007-S3': 'A sell failed because it took too long.',
    '209-000-S1': 'A buy failed because of an internal error: a resource was not available.',
    '209-005-E3': 'The ledger rejected an external buy.',
    '207-001-S1': 'A sell failed because of an internal error: a resource was not available.',
    '207-002-S3': 'A buy failed because of an internal error: a time limit passed.',
    '207-003-S3': 'A sell failed because of an internal error: a time limit passed.',
    '207-004-E1': 'The REST interface of the blockchain failed on its side.',
    '207-005-E3': 'The REST interface of the blockchain rejected the request.',
    '207-006-E1': 'The security check of the transaction could not be performed, for a technical reason.',
    '207-007-E3': 'The security check of the transaction rejected it.',
  },
  'digital-payments': {
    '313-701-S1': 'Adding the payment method took too long because of a system error.',
    '313-702-S3': 'The user tried to verify too often; only where trial microtransactions are enabled.',
    '313-599-S1': 'Internal error of the payment system (599).',
    '313-600-S1': 'Internal error of the payment system (600).',
    '313-605-S1': 'Internal error of the payment system (605).',
    '313-601-E2': 'The payment provider failed to process the transaction (601).',
    '313-602-E2': 'The payment provider failed to process the transaction (602).',
    '313-603-E2': 'The payment provider failed to process the transaction (603).',
    '313-604-E1': 'The payment provider failed to process the transaction (604).',
    '313-606-S1':
      'A payment method was used before it was verified; a second check, in addition to that of the request.',
    '313-607-E2': 'The payment provider rejected the request.',
    '313-608-E1': 'The payment provider failed on its side.',
  },
  'crypto-send': {
    '352-271-S1': 'The send order timed out.',
    '352-272-S3': 'The custody wallet system rejected a send order.',
    '204-008-S1': 'A send failed because of an unexpected internal error in a web call.',
    '204-009-S2': 'A send failed because the wallet does not exist.',
    '204-010-S2': 'A send failed because the blockchain network is not valid.',
    '204-011-S2': 'The ledger rejected a send.',
    '204-012-S2': 'The wallet provider rejected a send.',
    '204-013-S2': 'Risk screening rejected a send.',
    '204-014-S2': 'A send failed because source and destination are the same address.',
    '204-015-S2': 'Risk screening rejected a deposit.',
  },
  'risk-screening': {
    '152-015-E3': 'The blockchain security check failed, with a severe risk.',
    '152-99-S2': 'An error without a specific code.',
  },
};

/** Every listed code, sorted by group. Receivers may get others. */
export const ERROR_CODES: readonly ErrorCode[] = (Object.keys(ERROR_CODE_GROUPS) as ErrorCodeGroup[]).flatMap((group) =>
  Object.entries(MEANINGS[group]).map(([code, meaning]) => ({ code, group, meaning })),
);

const BY_CODE: ReadonlyMap<string, ErrorCode> = new Map(ERROR_CODES.map((entry) => [entry.code, entry]));

/** Finds a listed code. Returns undefined for other codes, which may still be valid. */
export function findErrorCode(code: string): ErrorCode | undefined {
  return BY_CODE.get(code);
}

/**
 * Form of an error code: three groups joined by hyphens. The middle group has three digits, or two in one listed code.
 */
export const ERROR_CODE_FORM = /^[0-9]{3}-[0-9]{2,3}-[A-Z][0-9]$/;

/** Returns true for text that has the form of an error code, listed or not. */
export function isErrorCodeShaped(text: string): boolean {
  return ERROR_CODE_FORM.test(text);
}
