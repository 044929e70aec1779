<?php
/**
 * Prints what the receiver stored, from its journal (WEBHOOK_JOURNAL). For test environments only.
 * `php effects.php notification=ID,ID` or `php effects.php transaction=ID`
 */

declare(strict_types=1);

const DECIMALS = ['BTC' => 8, 'ETH' => 18, 'USDC' => 6, 'GUSD' => 2, 'NEO' => 0];

function handling(string $line): array
{
    ['id' => $id, 'type' => $type, 'data' => $data] = json_decode(json_decode($line)->body, true);
    $at = fn (string $path) => array_reduce(
        explode('.', $path),
        fn ($value, $key) => is_array($value) ? $value[$key] ?? null : null,
        $data,
    );
    $isFilled = fn ($value) => is_string($value) && $value !== '';
    $first = fn (string ...$paths) => array_values(array_filter(array_map($at, $paths), $isFilled))[0] ?? null;
    $atomic = $first('metadata.asset.amount');
    $currency = $first(
        'metadata.asset.currency', 'metadata.currency', 'metadata.blockchainData.currency', 'assetId',
    );
    return array_filter([
        'notification' => $id,
        'kind' => $type === 'CAAS' && $first('type') !== null ? "CAAS_{$data['type']}" : $type,
        'status' => $first('metadata.orderStatus', 'metadata.providerTransactionStatus', 'status'),
        'transaction' => $first('transactionId', 'partnerTransactionId'),
        'customer' => $first('customerId', 'accountId'),
        'paymentMethod' => $first('paymentMethodId'),
        'address' => $first('walletAddress'),
        'hash' => $first(
            'metadata.blockchainData.blockchainTransactionId', 'metadata.blockchainTransactionId',
            'metadata.blockchainData.blockchainTransctionId', 'metadata.blockchainTransctionId',
        ),
        'amount' => $atomic === null ? $first('metadata.amount') : displayAmount($atomic, $currency),
        'currency' => $currency,
        'errorCode' => $first('errorData.code', 'errorCode'),
    ], fn ($value) => $value !== null);
}

/**
 * Moves the decimal point in the string, because a float would lose digits. An asset without known decimals has no
 * amount.
 */
function displayAmount(string $atomic, ?string $currency): ?string
{
    $decimals = DECIMALS[$currency] ?? null;
    if ($decimals === null || !preg_match('/^[0-9]+$/D', $atomic)) {
        return null;
    }
    $digits = str_pad($atomic, $decimals + 1, '0', STR_PAD_LEFT);
    return rtrim(rtrim(substr_replace($digits, '.', strlen($digits) - $decimals, 0), '0'), '.');
}

if (!preg_match('/^(notification|transaction)=(.+)$/D', $argv[1] ?? '', $query)) {
    fwrite(STDERR, "Give notification=ID,ID or transaction=ID.\n");
    exit(1);
}
$ids = array_map('rawurldecode', explode(',', $query[2]));
$path = getenv('WEBHOOK_JOURNAL') ?: 'journal.ndjson';
$lines = explode("\n", file_exists($path) ? file_get_contents($path) : '');
array_pop($lines); // An incomplete last line is still being written.
$handled = array_filter(array_map('handling', $lines), fn ($one) => in_array($one[$query[1]] ?? null, $ids, true));
echo json_encode(['total' => count($lines), 'handled' => array_values($handled)]), "\n";
