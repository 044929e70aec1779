<?php
// Twenty webhook receivers with one fault each, and the correct one (none). Started by receivers-php.sh.
// Router script of the built-in server; the fault is named in BLIND_FAULT.
declare(strict_types=1);

const HOOK_PATH = '/hooks';
const MAX_BODY = 12 * 1024 * 1024;
const QUOTA = 30;

const FAULTS = [
    'php-warning-sends-200' => ['must',
        'Reads missing headers without a default while warnings are displayed: the warning '
        . 'goes out with status 200 before 401 is set.'],
    'php-missing-header-500' => ['must',
        'Gives a missing signature header as null to hash_equals, which throws: 500.'],
    'php-multipart-empty' => ['must',
        'Takes an empty php://input for a ping and skips the signature; it is also empty '
        . 'for multipart/form-data.'],
    'php-session-trust' => ['must',
        'Marks the PHP session as verified after a valid delivery and then trusts the cookie.'],
    'php-utf8-decode' => ['must',
        'Signs utf8_decode of the body, so deliveries with non-ASCII text are refused.'],
    'php-stripslashes' => ['must',
        'Applies stripslashes to the raw body first, so deliveries with JSON escapes are refused.'],
    'php-header-case' => ['must',
        'Looks up the headers in getallheaders() with one exact spelling.'],
    'php-key-error-200' => ['must',
        'Reports a wrong or missing API key as an error text with status 200.'],
    'php-key-strncmp' => ['must',
        'Compares only the first eight characters of the API key.'],
    'php-original-url' => ['must',
        'The guard takes the path from X-Original-URL and protects only /hooks, the route does not.'],
    'php-env-served' => ['must',
        'The document root contains the .env file, and it is served with the secrets in it.'],
    'php-forwarded-for' => ['must',
        'Trusts a request whose X-Forwarded-For names a private or loopback address.'],
    'php-redirect-login' => ['must',
        'Redirects a request without an API key to the login page (302).'],
    'php-id-as-filename' => ['must',
        'Uses the notification id as a file name, so an id with a slash or a long id gives 500.'],
    'php-challenge-echo' => ['must',
        'Echoes a challenge field with 200 before any check, as another platform wants it.'],
    'php-expected-in-401' => ['must',
        'The 401 answer to a wrong signature contains the expected signature.'],
    'php-unknown-status-422' => ['should',
        'Refuses an order status that is not in its enumeration with 422.'],
    'php-quota-forever' => ['must',
        'After thirty accepted deliveries answers 429, and never resets the counter.'],
    'php-sql-quote' => ['must',
        'Builds an SQL statement by concatenation, so an apostrophe in a text gives 500.'],
    'php-log-key' => ['blind',
        'Writes the received API key and signature to the error log.'],
];

const REQUIRED = [
    'CAAS' => ['type',
        'transactionId'],
    'REFUND' => ['status',
        'transactionId'],
    'PAYMENT_METHOD' => ['status',
        'paymentMethodId'],
    'WALLET' => ['operation',
        'customerId', 'walletAddress'],
    'CAAS_BLOCKCHAIN' => ['type',
        'partnerTransactionId', 'customerId'],
];
const DATA_STRINGS = ['type', 'providerId', 'transactionId', 'status', 'paymentMethodId', 'accountId', 'errorCode',
    'operation', 'customerId', 'walletAddress', 'assetId', 'chain', 'partnerTransactionId'];
const METADATA_STRINGS = ['orderStatus', 'orderType', 'providerTransactionId', 'providerTransactionRef',
    'providerTransactionStatus', 'trackingStateDescription', 'blockchainTransactionId', 'blockchainTransctionId',
    'amount', 'currency', 'walletAddress', 'sourceAddress', 'destinationAddress'];
const CHAIN_STRINGS = ['targetWalletAddress', 'blockchainTransactionId', 'blockchainMemo', 'currency', 'chain',
    'refundWalletAddress', 'sourceWalletAddress'];
const ORDER_STATUSES = ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED', 'COMPLETED', 'FAILED'];

function fault(string $name): bool
{
    return getenv('BLIND_FAULT') === $name;
}

function answer(int $status, string $text, array $more = []): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode(['result' => $text] + $more), "\n";
}

// ---- credentials -----------------------------------------------------------------------------------

function keyHeader(): string
{
    if (fault('php-warning-sends-200')) {
        return (string) $_SERVER['HTTP_X_API_KEY'];
    }
    if (fault('php-header-case')) {
        return getallheaders()['X-API-KEY'] ?? '';
    }
    return $_SERVER['HTTP_X_API_KEY'] ?? '';
}

function signatureHeader(): ?string
{
    if (fault('php-warning-sends-200')) {
        return (string) $_SERVER['HTTP_X_SERVICE_SIGNATURE'];
    }
    if (fault('php-header-case')) {
        return getallheaders()['X-Service-Signature'] ?? '';
    }
    if (fault('php-missing-header-500')) {
        return $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null;
    }
    return $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '';
}

function keyMatches(): bool
{
    if (fault('php-key-strncmp')) {
        return strncmp(keyHeader(), getenv('BLIND_API_KEY'), 8) === 0;
    }
    return hash_equals(getenv('BLIND_API_KEY'), keyHeader());
}

function signature(string $raw): string
{
    if (fault('php-utf8-decode')) {
        $raw = @utf8_decode($raw);
    }
    return base64_encode(hash_hmac('sha256', $raw, getenv('BLIND_SECRET'), true));
}

/** Says whether the checks are skipped; the correct receiver skips none. */
function trusted(): bool
{
    if (fault('php-session-trust')) {
        return !empty($_SESSION['verified']);
    }
    if (fault('php-original-url')) {
        $path = $_SERVER['HTTP_X_ORIGINAL_URL'] ?? HOOK_PATH;
        return $path !== HOOK_PATH;
    }
    if (fault('php-forwarded-for')) {
        $address = trim(explode(',', $_SERVER['HTTP_X_FORWARDED_FOR'] ?? '')[0]);
        $public = FILTER_FLAG_NO_PRIV_RANGE | FILTER_FLAG_NO_RES_RANGE;
        return filter_var($address, FILTER_VALIDATE_IP) !== false
            && filter_var($address, FILTER_VALIDATE_IP, $public) === false;
    }
    return false;
}

/** Checks both credentials; answers itself and returns false if one is wrong. */
function authorised(string $raw): bool
{
    if (fault('php-redirect-login') && keyHeader() === '') {
        http_response_code(302);
        header('Location: /login');
        return false;
    }
    $keyOk = keyMatches();
    if (!$keyOk && fault('php-key-error-200')) {
        header('Content-Type: application/json');
        echo json_encode(['success' => false, 'error' => 'invalid API key']), "\n";
        return false;
    }
    if ($keyOk && $raw === '' && fault('php-multipart-empty')) {
        answer(200, 'pong');
        return false;
    }
    $expected = signature($raw);
    $signOk = hash_equals($expected, signatureHeader());
    if ($keyOk && $signOk) {
        return true;
    }
    if ($keyOk && fault('php-expected-in-401')) {
        answer(401, 'unauthorized', ['expected' => $expected]);
        return false;
    }
    answer(401, 'unauthorized');
    return false;
}

// ---- validation ------------------------------------------------------------------------------------

function isObject(mixed $value): bool
{
    return is_array($value) && ($value === [] || !array_is_list($value));
}

function textsOk(array $object, array $names): bool
{
    foreach ($names as $name) {
        if (isset($object[$name]) && !is_string($object[$name])) {
            return false;
        }
    }
    return true;
}

function dataOk(array $data): bool
{
    $metadata = $data['metadata'] ?? [];
    $problem = $data['errorData'] ?? [];
    if (!isObject($metadata) || !isObject($problem)) {
        return false;
    }
    $chain = $metadata['blockchainData'] ?? [];
    $asset = $metadata['asset'] ?? [];
    return isObject($chain) && isObject($asset) && textsOk($data, DATA_STRINGS)
        && textsOk($metadata, METADATA_STRINGS) && textsOk($problem, ['code', 'message'])
        && textsOk($chain, CHAIN_STRINGS) && textsOk($asset, ['amount', 'currency']);
}

function envelopeOk(mixed $envelope): bool
{
    if (!is_array($envelope) || array_is_list($envelope)) {
        return false;
    }
    foreach (['id', 'type', 'at', 'data'] as $name) {
        if (!array_key_exists($name, $envelope)) {
            return false;
        }
    }
    ['id' => $id, 'type' => $type, 'at' => $at, 'data' => $data] = $envelope;
    if (!textsOk($envelope, ['id', 'type']) || $id === '' || $type === '' || !isObject($data)) {
        return false;
    }
    if ($at !== null && !is_string($at) && !is_int($at) && !is_float($at)) {
        return false;
    }
    foreach (REQUIRED[$type] ?? [] as $name) {
        if (!array_key_exists($name, $data)) {
            return false;
        }
    }
    return !isset(REQUIRED[$type]) || dataOk($data);
}

// ---- processing ------------------------------------------------------------------------------------

/** Counts accepted deliveries in a file that all workers share. */
function countDelivery(): int
{
    $file = fopen(getenv('BLIND_STATE') . '/count', 'c+');
    flock($file, LOCK_EX);
    $count = (int) stream_get_contents($file) + 1;
    ftruncate($file, 0);
    rewind($file);
    fwrite($file, (string) $count);
    fclose($file);
    return $count;
}

/** Stands for a file store: a name with a slash or one that is too long cannot be opened. */
function storeAsFile(string $id): void
{
    if (strpbrk($id, "/\0") !== false || strlen($id) > 250) {
        throw new RuntimeException('cannot open file');
    }
}

/** Stands for a database: a statement whose text constant ends too early is a syntax error. */
function storeAsRow(string $id, string $text): void
{
    $sql = "INSERT INTO hooks VALUES ('$id', '$text')";
    if (substr_count($sql, "'") !== 4) {
        throw new RuntimeException('You have an error in your SQL syntax');
    }
}

function process(string $raw): void
{
    $envelope = json_decode($raw, true);
    if (json_last_error() !== JSON_ERROR_NONE || !envelopeOk($envelope)) {
        answer(400, 'malformed payload');
        return;
    }
    $data = $envelope['data'];
    if (fault('php-unknown-status-422') && $envelope['type'] === 'CAAS' && isset($data['metadata']['orderStatus'])
        && !in_array($data['metadata']['orderStatus'], ORDER_STATUSES, true)) {
        answer(422, 'unknown order status');
        return;
    }
    if (fault('php-id-as-filename')) {
        storeAsFile((string) $envelope['id']);
    }
    if (fault('php-sql-quote')) {
        $text = $data['metadata']['trackingStateDescription'] ?? $data['errorData']['message'] ?? '';
        storeAsRow((string) $envelope['id'], (string) (is_scalar($text) ? $text : ''));
    }
    if (fault('php-quota-forever') && countDelivery() > QUOTA) {
        answer(429, 'quota exhausted');
        return;
    }
    answer(200, 'ok');
}

function handle(): void
{
    $path = explode('?', $_SERVER['REQUEST_URI'], 2)[0];
    if (fault('php-env-served') && $path === '/.env') {
        header('Content-Type: text/plain');
        echo 'WEBHOOK_SECRET=', getenv('BLIND_SECRET'), "\nWEBHOOK_API_KEY=", getenv('BLIND_API_KEY'), "\n";
        return;
    }
    if ($path !== HOOK_PATH) {
        answer(404, 'not found');
        return;
    }
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        header('Allow: POST');
        answer(405, 'method not allowed');
        return;
    }
    $raw = file_get_contents('php://input', false, null, 0, MAX_BODY + 1);
    if (strlen($raw) > MAX_BODY) {
        answer(413, 'too large');
        return;
    }
    if (fault('php-stripslashes')) {
        $raw = stripslashes($raw);
    }
    if (fault('php-warning-sends-200')) {
        ini_set('display_errors', '1');
    }
    if (fault('php-session-trust')) {
        session_start();
    }
    if (fault('php-log-key')) {
        error_log('key ' . keyHeader() . ' signature ' . signatureHeader());
    }
    if (fault('php-challenge-echo')) {
        $posted = json_decode($raw, true);
        $challenge = is_array($posted) ? $posted['challenge'] ?? null : null;
        if (is_string($challenge)) {
            header('Content-Type: text/plain');
            echo $challenge;
            return;
        }
    }
    if (!trusted() && !authorised($raw)) {
        return;
    }
    if (fault('php-session-trust')) {
        $_SESSION['verified'] = true;
    }
    process($raw);
}

if (PHP_SAPI === 'cli') {
    if (($argv[1] ?? '') === '--known') {
        exit(($argv[2] ?? '') === 'none' || isset(FAULTS[$argv[2] ?? '']) ? 0 : 1);
    }
    foreach (FAULTS as $name => [$label, $what]) {
        echo "$name\t$label\t$what\n";
    }
    exit(0);
}
handle();
return true;
