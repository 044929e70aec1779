import { INSERTED_ONCE } from './code-by-stack.ts';
import { mistakes } from './mistake.ts';

/** How to store amounts without loss, by stack. */
const EXACT_AMOUNTS = {
  node: 'Use BigInt for the atomic amount, and divide it by `10n ** BigInt(decimals)`.',
  python: 'Use `int` for the atomic amount, and insert the point into its text.',
  go: 'Use `big.Int`.',
  spring: 'Use `new BigDecimal(new BigInteger(text), decimals)`.',
  php: 'Use bcmath or GMP.',
  rails: 'Use `Integer` and `BigDecimal(text)`, and never `to_f`.',
  dotnet: 'Use `BigInteger`.',
} as const;

/** Mistakes in what a receiver does with the notifications that it accepts or rejects. */
export const EFFECTS_MISTAKES = mistakes({
  'acknowledged-before-stored': {
    title: 'Answers 200 before the notification is safely stored',
    seen:
      'Answers before the insert, `setImmediate`, `@Async`, queues in memory, ignored errors of handlers, and rows ' +
      'marked as done too early.',
    why:
      'The sender got 200 and does not deliver the notification again, so anything that fails, or is in memory at ' +
      'a crash, is lost.',
    fix: {
      rule:
        'Store each notification before you answer, and handle what is stored, even after a restart, until it ' +
        'succeeds.',
      node: 'Insert into the inbox, answer 200, and let a worker retry each row until its handler succeeds.',
    },
    severity: 'high',
    cwe: 696,
  },
  'kind-not-handled': {
    title: 'Accepts a kind of notification that it does not handle',
    seen:
      'A switch with a default that answers 200, and handlers that return early without `orderStatus` or unless ' +
      'the order succeeded.',
    why:
      'The sender got 200 and does not deliver the notification again. The customer waits for crypto or money, or ' +
      'an order stays open.',
    fix: {
      rule:
        'Handle every type and every status of an order, FAILED like any other. Store each notification before you ' +
        'answer, and handle what is stored until it succeeds.',
      node: 'Insert into the inbox, answer 200, and let a worker retry each row until its handler succeeds.',
    },
    severity: 'high',
    cwe: 670,
    implies: ['mapping-shared-by-kinds', 'acknowledged-before-stored', 'unknown-value-stops-work'],
  },
  'mapping-shared-by-kinds': {
    title: 'Reads all kinds of notifications with the same mapping',
    seen:
      'One handler for orders, refunds and cash steps, one function for all error codes, and a default for the ' +
      'direction of an order.',
    why:
      'A hash, a status, an error code or a direction is missing or wrong in the books, and support cannot explain ' +
      'what happened.',
    fix: {
      rule:
        'Distinguish notifications by `type` and `data.type` before you read a field. The hash of an order is in ' +
        '`metadata.blockchainData`, the status of a cash step in `metadata.providerTransactionStatus`, the amount ' +
        'and the currency of a deposit in `metadata.asset`. The error code is in `errorData.code`, that of a ' +
        'PAYMENT_METHOD in `data.errorCode`.',
      node:
        'Switch on `data.type`, without a default, and use one function for each kind. For the hash of an order, ' +
        'read `data.metadata.blockchainData?.blockchainTransactionId`.',
    },
    severity: 'medium',
    cwe: 670,
  },
  'amount-as-float': {
    title: 'Converts amounts with floating-point numbers',
    seen:
      '`Number(amount) / 10 ** decimals`, `parseFloat(amount).toFixed(8)`, `float(amount) / 1e18`, and JSON ' +
      'mappers with a field of type double.',
    why:
      'A float has 15 to 17 digits, and amounts have more. The receiver books an amount that differs from the one ' +
      'sent, without an error.',
    fix: {
      rule:
        'Keep the atomic amount as text or an integer of any size, and move the point by the decimals of the ' +
        'asset. Keep decimal amounts as decimal text.',
      ...EXACT_AMOUNTS,
    },
    severity: 'critical',
    cwe: 1339,
  },
  'wrong-asset-decimals': {
    title: 'Converts amounts with the wrong number of decimals',
    seen:
      '`formatEther` for every asset, tables in which 18 is the default, and amounts that are not converted at ' +
      'all.',
    why: 'The amount is wrong by powers of ten: a customer is credited nearly nothing, or far too much.',
    fix: {
      rule:
        'Move the point by the decimals of the asset, from a table with an entry for each asset and chain and ' +
        'without a default.',
      ...EXACT_AMOUNTS,
    },
    severity: 'critical',
    cwe: 682,
    implies: ['narrow-amount-type', 'amount-as-float'],
  },
  'exponent-in-amount': {
    title: 'Writes very small and very large amounts with an exponent',
    seen: 'decimal.js, bignumber.js and Java `BigDecimal.toString()` with their default settings.',
    why: 'The code that reads the amount next treats `1e-18` as 1, or fails.',
    fix: {
      rule: 'Write amounts as decimal text without an exponent.',
      node: 'Use `toFixed()` of the library, which prints no exponent.',
      python: 'Use `int` for the atomic amount, and insert the point into its text.',
      go: 'Use `big.Int`.',
      spring: 'Use `BigDecimal.toPlainString()`.',
      php: 'Use bcmath or GMP.',
      rails: 'Use `to_s("F")` of `BigDecimal`, and never `to_f`.',
      dotnet: 'Use `BigInteger`.',
    },
    severity: 'high',
    cwe: 838,
    implies: ['narrow-amount-type', 'amount-as-float'],
  },
  'copy-handled-again': {
    title: 'Handles a notification each time that it is delivered',
    seen: 'Handlers that call the ledger directly, without a table of ids.',
    why:
      'A sender delivers a notification again if it did not get the answer. Each further handling credits, refunds ' +
      'or pays ' +
      'again.',
    fix: {
      rule: 'Record the id with a unique key in the transaction that handles the notification, and skip known ids.',
      ...INSERTED_ONCE,
    },
    severity: 'critical',
    cwe: 837,
    implies: [
      'ids-kept-in-memory',
      'copy-rejected',
      'lookup-before-insert',
      'effect-and-id-apart',
      'copies-by-content',
    ],
  },
  'ids-kept-in-memory': {
    title: 'Keeps the ids of handled notifications in the memory of a process',
    seen: 'A `Set`, an LRU cache, Redis without persistence, and several workers, each with its own cache.',
    why:
      'After a restart, or in another worker, the receiver does not know what it has handled, and credits, refunds ' +
      'or pays it again.',
    fix: {
      rule: 'Keep the ids where the effects are: in the database, with a unique key.',
      ...INSERTED_ONCE,
    },
    severity: 'critical',
    cwe: 837,
  },
  'effect-and-id-apart': {
    title: 'Records the handling of a notification apart from its effect',
    seen:
      'Jobs that fail or are killed after the effect and run again, workers that take a row without a lock, and a ' +
      'call in both the request and the queue.',
    why: 'The effect happens again without a second delivery: each further handling credits, refunds or pays again.',
    fix: {
      rule:
        'Put the effect and the record of the id into one transaction with a unique key, and the rest after it. ' +
        'Pass the id to a ledger or payment service as an idempotency key.',
      ...INSERTED_ONCE,
    },
    severity: 'critical',
    cwe: 837,
    implies: ['acknowledged-before-stored'],
  },
  'handled-before-checks': {
    title: 'Handles a delivery before it has passed every check',
    seen:
      'Events and writes before the verification, checks in a hook after the handler, a missing `return` after the ' +
      '401, and late validation.',
    why:
      'The delivery is rejected and takes effect all the same. An attacker needs no answer, and a sender that ' +
      'corrects and repeats a delivery causes the effect twice.',
    fix: {
      rule: 'Do nothing with a delivery before every check has passed: no insert, no update, no queue, no event.',
      node:
        'Mount the verification before the handler, and call `next()` only if it succeeded. Validate the whole ' +
        'payload before the first write, or write in a transaction; never invent the id of a notification.',
    },
    severity: 'critical',
    cwe: 696,
  },
  'unknown-value-stops-work': {
    title: 'Stops handling at a field, status or type that it does not know',
    seen:
      'A strict schema or a throwing default branch in the worker, and a worker loop that ends with the first ' +
      'exception.',
    why:
      'The endpoint answers 200, but the notification, the rest of its order or everything that follows is never ' +
      'handled.',
    fix: {
      rule:
        'Also ignore unknown fields where notifications are handled. Record an unknown status or type as done or ' +
        'set it aside, and go on with the next notification.',
      node:
        'Remove `.strict()` from the schema of the worker, do not throw in the default branch of the switch, and ' +
        'catch errors inside the loop of the worker, not around it.',
      spring: 'Set `FAIL_ON_UNKNOWN_PROPERTIES` to false for the mapper of the worker.',
    },
    severity: 'high',
    cwe: 755,
  },
  'status-goes-back': {
    title: 'Overwrites the status of an order with an earlier status that arrives later',
    seen: '`UPDATE orders SET status = ... WHERE id = ...` for every notification.',
    why: 'Deliveries can overtake each other. An order that falls back to PENDING is sent, paid or cancelled again.',
    fix: {
      rule: 'Compare the rank of the status and `at` with what is stored, and keep the later one.',
      node: 'Add `AND rank <= $rank` to the update.',
    },
    severity: 'high',
    cwe: 841,
  },
});
