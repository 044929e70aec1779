<?php
// Webhook receivers in PHP (CLI, own event-driven HTTP/1.1 server) with exactly one fault each.
//
//   php receivers.php --list
//   php receivers.php --fault NAME --port N
//
// Secret and API key come from BLIND_SECRET and BLIND_API_KEY.

declare(strict_types=1);
error_reporting(E_ALL);
ini_set('display_errors', 'stderr');
ini_set('memory_limit', '-1');

const MAX_BODY = 12 << 20;
const MAX_HEAD = 64 << 10;
const IDLE_SECONDS = 30;
const TYPES = ['CAAS', 'PAYMENT_METHOD', 'REFUND', 'CAAS_BLOCKCHAIN', 'WALLET'];

const FAULTS = [
    ['php-like-key', 'must',
        'Looks the API key up with SQL LIKE, so the header value % (or _ in any place) matches the stored key.'],
    ['php-empty-zero', 'must',
        'Checks text fields with empty(), so the values "0" and "" (memo, amount, hash) get 400.'],
    ['php-urldecode-signature', 'must',
        'Runs urldecode over the signature header: + becomes a space, and valid signatures with + get 401.'],
    ['php-fail-open', 'must',
        'After 20 failed verifications it takes the secret for rotated and accepts everything until restart.'],
    ['php-utf8mb3', 'must',
        'Stores text in a three-byte UTF-8 column: a payload with a four-byte character (emoji) gets 500.'],
    ['php-nul-key', 'must',
        'Archives the payload as an object: a property name that begins with NUL throws and gives 500.'],
    ['php-header-splitting', 'should',
        'Copies the notification id unfiltered into a response header: CR LF in it adds headers or a body.'],
    ['php-no-drain', 'must',
        'Answers a wrong API key at once without reading the body: with keep-alive the body is the next request.'],
    ['php-idle-blocks', 'must',
        'Serves one connection at a time: an idle or slow open connection blocks all other deliveries.'],
    ['php-chunk-loop', 'must',
        'A chunk size line that is not hexadecimal sends the parser into an endless loop.'],
    ['php-character-length', 'must',
        'Content-Length of the answer counts characters, not bytes, of a text taken from the payload.'],
    ['php-word-filter', 'must',
        'A home-made firewall refuses bodies with words such as select, insert or drop with 403.'],
    ['php-colon-space', 'must',
        'Splits header lines at colon plus space: a header without the space is not seen, so 401.'],
    ['php-http10-probe', 'must',
        'Takes every HTTP/1.0 request for a health probe of the load balancer and answers 200.'],
    ['php-localhost-host', 'must',
        'Treats Host: localhost as a development machine and skips signature and key.'],
    ['php-extract-query', 'must',
        'Calls extract() on the query, so ?secret=x makes x the secret for this request.'],
    ['php-code-list', 'must',
        'Refuses error codes that are not on its fixed list with 400.'],
    ['php-varchar', 'must',
        'Text longer than 255 bytes does not fit the column and gives 500.'],
    ['php-memory', 'must',
        'Runs with a memory limit of 8 MB: one large unsigned body ends the process.'],
    ['php-null-signature', 'must',
        'Hands a missing signature header as null to hash_equals: TypeError, 500 instead of 401.'],
    ['php-unescape-slashes', 'must',
        'Undoes \/ in the body before the HMAC, so valid bodies with an escaped slash get 401.'],
    ['php-unknown-type-ack', 'must',
        'Acknowledges notification types it does not know with 200 before any check.'],
    ['php-slow-wallet', 'should',
        'Calls a slow service while handling WALLET: the answer takes six seconds.'],
    ['php-log-secret', 'blind',
        'Writes the expected signature and the API key to the error log on every failure.'],
];

const CODES = [
    '352-000-S1', '352-001-S2', '352-002-E1', '352-003-E2', '352-001-S1', '352-102-S1', '352-202-S1', '352-104-S3',
    '352-204-S3', '352-251-S1', '352-252-E1', '352-253-S1', '352-254-E1', '204-000-S1', '204-001-S2', '204-002-S2',
    '204-003-S3', '204-004-S1', '204-005-S2', '204-006-S2', '204-007-S3', '209-000-S1', '209-005-E3', '207-001-S1',
    '207-002-S3', '207-003-S3', '207-004-E1', '207-005-E3', '207-006-E1', '207-007-E3', '313-701-S1', '313-702-S3',
    '313-599-S1', '313-600-S1', '313-605-S1', '313-601-E2', '313-602-E2', '313-603-E2', '313-604-E1', '313-606-S1',
    '313-607-E2', '313-608-E1', '352-271-S1', '352-272-S3', '204-008-S1', '204-009-S2', '204-010-S2', '204-011-S2',
    '204-012-S2', '204-013-S2', '204-014-S2', '204-015-S2', '152-015-E3', '152-99-S2',
];

$options = getopt('', ['list', 'fault:', 'port:']);
if (isset($options['list'])) {
    foreach (FAULTS as [$name, $label, $what]) {
        echo "$name\t$label\t$what\n";
    }
    exit(0);
}
$fault = (string) ($options['fault'] ?? 'none');
if ($fault !== 'none' && !in_array($fault, array_column(FAULTS, 0), true)) {
    fwrite(STDERR, "unknown fault\n");
    exit(2);
}
$configSecret = (string) getenv('BLIND_SECRET');
$configKey = (string) getenv('BLIND_API_KEY');
if ($configSecret === '' || $configKey === '') {
    fwrite(STDERR, "BLIND_SECRET and BLIND_API_KEY must be set\n");
    exit(2);
}
if (is('php-memory')) {
    ini_set('memory_limit', '8M');
}

function is(string $name): bool
{
    global $fault;
    return $fault === $name;
}

// ---------------------------------------------------------------- application

/** @return array{0:int,1:array,2:array} status, answer, extra headers */
function handle(array $request): array
{
    global $configSecret, $configKey;
    static $failures = 0;
    $secret = $configSecret;
    $apiKey = $configKey;

    if ($request['path'] !== '/hooks') {
        return [404, ['message' => 'not found'], []];
    }
    if ($request['method'] !== 'POST') {
        return [405, ['message' => 'method not allowed'], ['Allow: POST']];
    }
    $body = $request['body'];
    if (is('php-extract-query')) {
        parse_str($request['query'], $parameters);
        extract($parameters);
    }
    if (is('php-word-filter') && preg_match('/\b(select|insert|union|drop|script)\b/i', $body)) {
        return [403, ['message' => 'request blocked'], []];
    }
    if (is('php-unknown-type-ack')) {
        $early = json_decode($body, true);
        $type = is_array($early) ? ($early['type'] ?? null) : null;
        if (is_string($type) && !in_array($type, TYPES, true)) {
            return [200, ['message' => 'ignored'], []];
        }
    }
    if (!authorised($request, $body, (string) $secret, (string) $apiKey)) {
        $failures++;
        if (!is('php-fail-open') || $failures <= 20) {
            return [401, ['message' => 'unauthorized'], []];
        }
    }

    $note = json_decode($body, true);
    if (!is_array($note) || ltrim($body, " \t\r\n")[0] !== '{') {
        return [400, ['message' => 'malformed payload'], []];
    }
    $problem = validate($note);
    if ($problem !== '') {
        return [400, ['message' => $problem], []];
    }
    return store($note, $body);
}

function store(array $note, string $body): array
{
    $answer = ['message' => 'ok'];
    $headers = [];
    if (is('php-nul-key')) {
        json_decode($body, false, 512, JSON_THROW_ON_ERROR);
    }
    if (is('php-utf8mb3')) {
        $text = json_encode($note, JSON_UNESCAPED_UNICODE);
        if (preg_match('/[\x{10000}-\x{10FFFF}]/u', $text)) {
            throw new RuntimeException('Incorrect string value');
        }
    }
    if (is('php-varchar')) {
        array_walk_recursive($note, function ($value) {
            if (is_string($value) && strlen($value) > 255) {
                throw new RuntimeException('Data too long for column');
            }
        });
    }
    if (is('php-header-splitting')) {
        $headers[] = 'X-Notification-Id: ' . $note['id'];
    }
    if (is('php-character-length')) {
        $answer['state'] = $note['data']['metadata']['trackingStateDescription'] ?? null;
        $answer['error'] = $note['data']['errorData']['message'] ?? null;
    }
    if (is('php-slow-wallet') && $note['type'] === 'WALLET') {
        sleep(6);
    }
    return [200, $answer, $headers];
}

function authorised(array $request, string $body, string $secret, string $apiKey): bool
{
    $headers = $request['headers'];
    if (is('php-localhost-host')) {
        $host = explode(':', $headers['host'] ?? '')[0];
        if (strtolower($host) === 'localhost') {
            return true;
        }
    }
    if (is('php-unescape-slashes')) {
        $body = str_replace('\/', '/', $body);
    }
    $expected = base64_encode(hash_hmac('sha256', $body, $secret, true));
    if (is('php-null-signature')) {
        $signatureOk = hash_equals($expected, $headers['x-service-signature'] ?? null);
    } elseif (is('php-urldecode-signature')) {
        $signatureOk = hash_equals($expected, urldecode($headers['x-service-signature'] ?? ''));
    } else {
        $signatureOk = hash_equals($expected, $headers['x-service-signature'] ?? '');
    }
    $keyOk = keyMatches($headers['x-api-key'] ?? '', $apiKey);
    if (is('php-log-secret') && !($signatureOk && $keyOk)) {
        error_log("rejected: expected signature $expected, key $apiKey");
    }
    return $signatureOk && $keyOk;
}

function keyMatches(string $given, string $stored): bool
{
    if (is('php-like-key')) {
        // SELECT 1 FROM partners WHERE api_key LIKE ?
        $pattern = strtr(preg_quote($given, '/'), ['%' => '.*', '_' => '.']);
        return preg_match('/^' . $pattern . '$/sD', $stored) === 1;
    }
    return hash_equals($stored, $given);
}

function badText(mixed $object, string ...$names): string
{
    if (!is_array($object)) {
        return 'an object is expected';
    }
    foreach ($names as $name) {
        $value = $object[$name] ?? null;
        if ($value !== null && !is_string($value)) {
            return "$name must be a string";
        }
        if (is('php-empty-zero') && $value !== null && empty($value)) {
            return "$name must not be empty";
        }
    }
    return '';
}

function badError(array $data): string
{
    $error = $data['errorData'] ?? null;
    if ($error === null) {
        return '';
    }
    return badText($error, 'code', 'message') ?: badCode($error['code'] ?? null);
}

function badCode(mixed $code): string
{
    if (is('php-code-list') && is_string($code) && $code !== '' && !in_array($code, CODES, true)) {
        return 'unknown error code';
    }
    return '';
}

function badTime(string $type, mixed $at): string
{
    if (in_array($type, ['CAAS', 'PAYMENT_METHOD', 'REFUND'], true)) {
        return is_int($at) ? '' : 'at must be an integer';
    }
    if (in_array($type, ['WALLET', 'CAAS_BLOCKCHAIN'], true)) {
        $form = '/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/D';
        return is_string($at) && preg_match($form, $at) ? '' : 'at must be a timestamp';
    }
    return '';
}

function validate(array $note): string
{
    $type = $note['type'] ?? null;
    $data = $note['data'] ?? null;
    if (!is_string($type) || $type === '') {
        return 'type must be a string';
    }
    if (!array_key_exists('id', $note)) {
        return 'id is missing';
    }
    if (!is_array($data) || ($data !== [] && array_is_list($data))) {
        return 'data must be an object';
    }
    $problem = badText($note, 'id') ?: badTime($type, $note['at'] ?? null) ?: badError($data);
    if ($problem !== '') {
        return $problem;
    }
    $metadata = $data['metadata'] ?? null;
    if (in_array($type, ['CAAS', 'REFUND', 'CAAS_BLOCKCHAIN'], true) && !is_array($metadata)) {
        return 'data.metadata is required';
    }
    switch ($type) {
        case 'CAAS':
            if (!is_string($data['type'] ?? null)) {
                return 'data.type is required';
            }
            return badText($data, 'providerId', 'transactionId')
                ?: badText($metadata, 'orderStatus', 'orderType', 'providerTransactionId', 'providerTransactionRef',
                    'providerTransactionStatus', 'trackingStateDescription')
                ?: badText($metadata['blockchainData'] ?? [], 'targetWalletAddress', 'blockchainTransactionId',
                    'blockchainMemo', 'currency', 'chain', 'refundWalletAddress', 'sourceWalletAddress');
        case 'REFUND':
            $amount = $metadata['amount'] ?? null;
            if (is_string($amount) && !preg_match('/^\d+(\.\d+)?$/D', $amount)) {
                return 'amount must be decimal text';
            }
            return badText($data, 'providerId', 'transactionId', 'status')
                ?: badText($metadata, 'blockchainTransactionId', 'amount', 'currency', 'walletAddress');
        case 'PAYMENT_METHOD':
            return badText($data, 'status', 'paymentMethodId', 'accountId', 'errorCode')
                ?: badCode($data['errorCode'] ?? null);
        case 'WALLET':
            return badText($data, 'operation', 'customerId', 'walletAddress', 'assetId', 'chain');
        case 'CAAS_BLOCKCHAIN':
            $asset = $metadata['asset'] ?? null;
            $problem = badText($asset, 'amount', 'currency')
                ?: badText($data, 'type', 'status', 'partnerTransactionId', 'customerId')
                ?: badText($metadata, 'sourceAddress', 'destinationAddress', 'blockchainTransactionId',
                    'blockchainTransctionId');
            if ($problem === '' && isset($asset['amount']) && !preg_match('/^\d+$/D', $asset['amount'])) {
                return 'amount must be a whole number';
            }
            return $problem;
    }
    return '';
}

// ---------------------------------------------------------------- HTTP/1.1 server

const REASONS = [
    200 => 'OK', 400 => 'Bad Request', 401 => 'Unauthorized', 403 => 'Forbidden', 404 => 'Not Found',
    405 => 'Method Not Allowed', 413 => 'Content Too Large', 417 => 'Expectation Failed',
    431 => 'Request Header Fields Too Large', 500 => 'Internal Server Error', 501 => 'Not Implemented',
    505 => 'HTTP Version Not Supported',
];

final class HttpProblem extends Exception
{
}

final class Connection
{
    public string $in = '';
    public string $out = '';
    public bool $closing = false;
    public ?array $request = null;
    public int $last;

    public function __construct(public $socket)
    {
        $this->last = time();
    }

    public function answer(int $status, array $content, array $headers, bool $keep): void
    {
        $text = json_encode($content, JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE) . "\n";
        $length = is('php-character-length') ? mb_length($text) : strlen($text);
        $head = "HTTP/1.1 $status " . (REASONS[$status] ?? 'Status') . "\r\n";
        $lines = ['Date: ' . gmdate('D, d M Y H:i:s') . ' GMT', 'Content-Type: application/json',
            "Content-Length: $length", 'Connection: ' . ($keep ? 'keep-alive' : 'close'), ...$headers];
        $head .= implode("\r\n", $lines) . "\r\n\r\n";
        $this->out .= $head . (($this->request['method'] ?? '') === 'HEAD' ? '' : $text);
        $this->closing = !$keep;
        $this->request = null;
    }

    /** Takes as many whole requests from the input as there are. */
    public function work(): void
    {
        try {
            while (!$this->closing && $this->step()) {
            }
        } catch (HttpProblem $problem) {
            $this->answer($problem->getCode(), ['message' => $problem->getMessage()], [], false);
        }
    }

    private function step(): bool
    {
        if ($this->request === null) {
            if (str_starts_with($this->in, "\r\n")) {
                $this->in = substr($this->in, 2);
            }
            $end = strpos($this->in, "\r\n\r\n");
            if ($end === false) {
                if (strlen($this->in) > MAX_HEAD) {
                    throw new HttpProblem('header too large', 431);
                }
                return false;
            }
            $head = substr($this->in, 0, $end);
            $this->in = substr($this->in, $end + 4);
            $this->request = parseHead($head);
            $keyHeader = $this->request['headers']['x-api-key'] ?? '';
            if (is('php-no-drain') && !keyMatches($keyHeader, (string) getenv('BLIND_API_KEY'))) {
                $this->answer(401, ['message' => 'unauthorized'], [], $this->request['keep']);
                return true;
            }
            if ($this->request['expect'] && $this->in === '' && $this->request['length'] !== 0) {
                $this->out .= "HTTP/1.1 100 Continue\r\n\r\n";
            }
        }
        if (!($this->request['chunked'] ? $this->readChunks() : $this->readLength())) {
            return false;
        }
        $request = $this->request;
        if (is('php-http10-probe') && $request['version'] === '1.0') {
            $this->answer(200, ['message' => 'alive'], [], $request['keep']);
            return true;
        }
        try {
            [$status, $content, $headers] = handle($request);
        } catch (Throwable $problem) {
            error_log(get_class($problem) . ': ' . $problem->getMessage());
            [$status, $content, $headers] = [500, ['message' => 'internal error'], []];
        }
        $this->answer($status, $content, $headers, $request['keep']);
        return true;
    }

    private function readLength(): bool
    {
        $length = $this->request['length'];
        if (strlen($this->in) < $length) {
            return false;
        }
        $this->request['body'] = substr($this->in, 0, $length);
        $this->in = substr($this->in, $length);
        return true;
    }

    private function readChunks(): bool
    {
        while (true) {
            $position = $this->request['position'];
            $end = strpos($this->in, "\r\n", $position);
            if ($end === false) {
                if (strlen($this->in) - $position > MAX_HEAD) {
                    throw new HttpProblem('chunk line too long', 400);
                }
                return $this->keepRest($position);
            }
            $line = substr($this->in, $position, $end - $position);
            if ($this->request['trailers']) {
                $this->request['position'] = $end + 2;
                if ($line === '') {
                    $this->in = substr($this->in, $end + 2);
                    return true;
                }
                continue;
            }
            $size = trim(explode(';', $line)[0], " \t");
            if (!ctype_xdigit($size) || strlen($size) > 8) {
                if (is('php-chunk-loop')) {
                    continue;
                }
                throw new HttpProblem('bad chunk size', 400);
            }
            $size = (int) hexdec($size);
            if ($size === 0) {
                $this->request['trailers'] = true;
                $this->request['position'] = $end + 2;
                continue;
            }
            if (strlen($this->request['body']) + $size > MAX_BODY) {
                throw new HttpProblem('too large', 413);
            }
            if (strlen($this->in) < $end + 2 + $size + 2) {
                return $this->keepRest($position);
            }
            if (substr($this->in, $end + 2 + $size, 2) !== "\r\n") {
                throw new HttpProblem('bad chunk', 400);
            }
            $this->request['body'] .= substr($this->in, $end + 2, $size);
            $this->request['position'] = $end + 2 + $size + 2;
        }
    }

    private function keepRest(int $position): bool
    {
        $this->in = substr($this->in, $position);
        $this->request['position'] = 0;
        return false;
    }
}

function mb_length(string $text): int
{
    return (int) iconv_strlen($text, 'UTF-8');
}

function parseHead(string $head): array
{
    $lines = explode("\r\n", $head);
    $start = explode(' ', array_shift($lines));
    if (count($start) !== 3 || !preg_match('/^[!#$%&\'*+.^_`|~0-9A-Za-z-]+$/D', $start[0])) {
        throw new HttpProblem('bad request line', 400);
    }
    if ($start[2] !== 'HTTP/1.1' && $start[2] !== 'HTTP/1.0') {
        throw new HttpProblem('HTTP version not supported', 505);
    }
    $headers = [];
    foreach ($lines as $line) {
        if (is('php-colon-space')) {
            $parts = explode(': ', $line, 2);
            if (count($parts) !== 2) {
                continue;
            }
        } else {
            $parts = explode(':', $line, 2);
        }
        if (count($parts) !== 2 || !preg_match('/^[!#$%&\'*+.^_`|~0-9A-Za-z-]+$/D', $parts[0])) {
            throw new HttpProblem('bad header', 400);
        }
        $name = strtolower($parts[0]);
        $value = trim($parts[1], " \t");
        if ($name === 'content-length' && isset($headers[$name]) && $headers[$name] !== $value) {
            throw new HttpProblem('two lengths', 400);
        }
        $headers[$name] = isset($headers[$name]) && $name !== 'content-length'
            ? $headers[$name] . ', ' . $value : $value;
    }
    $version = substr($start[2], 5);
    if ($version === '1.1' && !isset($headers['host']) && !is('php-colon-space')) {
        throw new HttpProblem('Host is missing', 400);
    }
    $chunked = false;
    if (isset($headers['transfer-encoding'])) {
        if (isset($headers['content-length']) || $version === '1.0') {
            throw new HttpProblem('ambiguous framing', 400);
        }
        if (strtolower($headers['transfer-encoding']) !== 'chunked') {
            throw new HttpProblem('unknown transfer coding', 501);
        }
        $chunked = true;
    }
    $length = $headers['content-length'] ?? '0';
    if (!ctype_digit($length)) {
        throw new HttpProblem('bad length', 400);
    }
    if (strlen($length) > 12 || (int) $length > MAX_BODY) {
        throw new HttpProblem('too large', 413);
    }
    $expect = strtolower($headers['expect'] ?? '');
    if ($expect !== '' && $expect !== '100-continue') {
        throw new HttpProblem('unknown expectation', 417);
    }
    $connection = array_map('trim', explode(',', strtolower($headers['connection'] ?? '')));
    $keep = $version === '1.1' ? !in_array('close', $connection, true) : in_array('keep-alive', $connection, true);
    $target = preg_replace('#^https?://[^/?]*#i', '', $start[1]);
    $parts = explode('?', $target, 2);
    return [
        'method' => $start[0], 'path' => $parts[0], 'query' => $parts[1] ?? '', 'version' => $version,
        'headers' => $headers, 'chunked' => $chunked, 'length' => $chunked ? -1 : (int) $length, 'body' => '',
        'expect' => $expect !== '' && $version === '1.1', 'keep' => $keep, 'trailers' => false, 'position' => 0,
    ];
}

$port = (int) ($options['port'] ?? 8080);
$listener = @stream_socket_server("tcp://127.0.0.1:$port", $code, $text);
if ($listener === false) {
    fwrite(STDERR, "cannot listen: $text\n");
    exit(1);
}
stream_set_blocking($listener, false);
echo "listening\n";

/** @var Connection[] $connections */
$connections = [];
while (true) {
    $read = [];
    if (!is('php-idle-blocks') || count($connections) === 0) {
        $read[] = $listener;
    }
    $write = [];
    foreach ($connections as $connection) {
        $read[] = $connection->socket;
        if ($connection->out !== '') {
            $write[] = $connection->socket;
        }
    }
    $except = null;
    if (@stream_select($read, $write, $except, 1) === false) {
        continue;
    }
    foreach ($read as $socket) {
        if ($socket === $listener) {
            $accepted = @stream_socket_accept($listener, 0);
            if ($accepted !== false) {
                stream_set_blocking($accepted, false);
                $connections[(int) $accepted] = new Connection($accepted);
            }
            continue;
        }
        $connection = $connections[(int) $socket];
        $data = @fread($socket, 65536);
        if (($data === '' || $data === false) && feof($socket)) {
            fclose($socket);
            unset($connections[(int) $socket]);
            continue;
        }
        if ($connection->closing) {
            continue;
        }
        $connection->last = time();
        $connection->in .= $data;
        $connection->work();
    }
    foreach ($connections as $number => $connection) {
        if ($connection->out !== '') {
            $sent = @fwrite($connection->socket, $connection->out);
            if ($sent === false) {
                fclose($connection->socket);
                unset($connections[$number]);
                continue;
            }
            $connection->out = substr($connection->out, $sent);
            if ($connection->out === '' && $connection->closing) {
                stream_socket_shutdown($connection->socket, STREAM_SHUT_WR);
                $connection->last = time() - IDLE_SECONDS + 2;
            }
        }
        if (time() - $connection->last > IDLE_SECONDS) {
            fclose($connection->socket);
            unset($connections[$number]);
        }
    }
}
