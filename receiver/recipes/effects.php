<?php
/**
 * The effects window, for test environments only: what the receiver stored, by its journal. `php effects.php`
 * Environment: WEBHOOK_EFFECTS_TOKEN (16 characters or more), WEBHOOK_EFFECTS_PORT (3001), WEBHOOK_JOURNAL.
 */

declare(strict_types=1);

const DECIMALS = ['BTC' => 8, 'ETH' => 18, 'USDC' => 6, 'GUSD' => 2, 'NEO' => 0];
/** Where `data` has a value: the first place that is filled. */
const PLACES = [
    'status' => ['metadata.orderStatus', 'metadata.providerTransactionStatus', 'status'],
    'transaction' => ['transactionId', 'partnerTransactionId'],
    'hash' => [
        'metadata.blockchainData.blockchainTransactionId', 'metadata.blockchainTransactionId',
        'metadata.blockchainData.blockchainTransctionId', 'metadata.blockchainTransctionId',
    ],
    'amount' => ['metadata.asset.amount', 'metadata.amount'],
    'currency' => ['metadata.asset.currency', 'metadata.currency', 'metadata.blockchainData.currency'],
    'errorCode' => ['errorData.code', 'errorCode'],
];

$token = (string) getenv('WEBHOOK_EFFECTS_TOKEN');
if (strlen($token) < 16) {
    fwrite(STDERR, "Set WEBHOOK_EFFECTS_TOKEN to 16 characters or more.\n");
    exit(1);
}
if (PHP_SAPI === 'cli') {
    $address = '127.0.0.1:' . (getenv('WEBHOOK_EFFECTS_PORT') ?: '3001');
    echo "effects on http://$address/effects\n";
    passthru(implode(' ', array_map('escapeshellarg', [PHP_BINARY, '-S', $address, __FILE__])), $status);
    exit($status);
}
ini_set('display_errors', '0');
[$status, $answer] = answer($token);
http_response_code($status);
header('Content-Type: application/json');
echo json_encode($answer);

function answer(string $token): array
{
    if (!hash_equals("Bearer $token", $_SERVER['HTTP_AUTHORIZATION'] ?? '')) {
        return [401, ['error' => 'unauthorized']];
    }
    $isQuery = preg_match('~^/effects\?(notification|transaction)=([^&=]+)$~D', $_SERVER['REQUEST_URI'], $query);
    $ids = $isQuery ? array_map('rawurldecode', explode(',', $query[2])) : [];
    if ($_SERVER['REQUEST_METHOD'] !== 'GET' || $ids === [] || count($ids) > 50) {
        return [400, ['error' => 'not a query']];
    }
    $path = getenv('WEBHOOK_JOURNAL') ?: 'journal.ndjson';
    $lines = explode("\n", file_exists($path) ? file_get_contents($path) : '');
    array_pop($lines); // What follows the last line is being written.
    $handled = array_filter(array_map('handling', $lines), fn ($one) => in_array($one[$query[1]] ?? null, $ids, true));
    return [200, ['total' => count($lines), 'handled' => array_values($handled)]];
}

function handling(string $line): array
{
    ['id' => $id, 'type' => $type, 'data' => $data] = json_decode(json_decode($line)->body, true);
    $kind = $type === 'CAAS' && is_string($data['type'] ?? null) ? "CAAS_{$data['type']}" : $type;
    $values = ['notification' => $id, 'kind' => $kind];
    foreach (PLACES as $name => $places) {
        foreach ($places as $place) {
            $values[$name] ??= filled($data, $place);
        }
    }
    if (isset($data['metadata']['asset'])) {
        $values['amount'] = displayAmount($values['amount'], DECIMALS[$values['currency']] ?? null);
    }
    return array_filter($values, fn ($value) => $value !== null);
}

function filled(mixed $value, string $place): ?string
{
    foreach (explode('.', $place) as $key) {
        $value = is_array($value) ? $value[$key] ?? null : null;
    }
    return is_string($value) && $value !== '' ? $value : null;
}

/** Moves the point in the text: a float would lose digits. An unknown asset, or what is no number, has no amount. */
function displayAmount(?string $atomic, ?int $decimals): ?string
{
    if ($decimals === null || !preg_match('/^[0-9]+$/D', (string) $atomic)) {
        return null;
    }
    $digits = str_pad($atomic, $decimals + 1, '0', STR_PAD_LEFT);
    return rtrim(rtrim(substr_replace($digits, '.', strlen($digits) - $decimals, 0), '0'), '.');
}
