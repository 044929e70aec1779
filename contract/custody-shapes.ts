/** Custodial wallets and deposits. Specification: type = WALLET; type = CAAS_BLOCKCHAIN. */
import * as z from 'zod';
import { timestamp } from './envelope-fields.ts';
import { group, oneOf, requiredOneOf, requiredText, text } from './fields.ts';
import { notification } from './shape-parts.ts';
import { DEPOSIT_STATUSES } from './statuses.ts';
import { groupWithHash } from './transaction-hash.ts';

const DIGITS = z.string().regex(/^[0-9]+$/);

export const wallet = notification(
  'WALLET',
  timestamp,
  group(
    {
      operation: oneOf(['WALLET_CREATED'], 'What happened to the wallet. The list is open.'),
      customerId: requiredText('The customer whose wallet it is.'),
      walletAddress: requiredText('Address of the wallet.'),
      assetId: text('Symbol of the asset or token.'),
      chain: text('Blockchain network.'),
    },
    'A custodial wallet.',
  ),
);

export const deposit = notification(
  'CAAS_BLOCKCHAIN',
  timestamp,
  group(
    {
      type: oneOf(['RECEIVE'], 'The direction: an inbound deposit.'),
      status: requiredOneOf(DEPOSIT_STATUSES, 'Where the deposit stands. The list is open.'),
      partnerTransactionId: requiredText('The deposit, by the identifier at the level of the partner.'),
      customerId: text('The customer whose wallet it is.'),
      metadata: groupWithHash(
        {
          sourceAddress: text('Address that the funds come from, on a blockchain or custodial.'),
          destinationAddress: text('Address of the custodial wallet that received them.'),
          asset: group(
            {
              amount: requiredText('The amount in atomic units.', DIGITS),
              currency: requiredText('Symbol of the asset.'),
            },
            'What was deposited.',
          ),
        },
        'The deposit.',
        'Hash of the transaction on the blockchain; a deposit inside the custodial ledger may lack it.',
      ),
    },
    'A deposit into a custodial wallet.',
  ),
);
