<?php
/**
 * Receives signed notifications with plain PHP: verifies the raw body, appends it to a journal on disk, answers 200.
 * `php receiver.php` serves it with PHP's own server; in production php-fpm serves this file behind nginx. Environment:
 * WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of them; the other check is off), PORT (3000), HOST (127.0.0.1),
 * WEBHOOK_JOURNAL (journal.ndjson). Each delivery reads the journal under a lock, so several processes may run; when it
 * has grown beyond some megabytes, use a database with a unique key on the id.
 */

declare(strict_types=1);

const MAX_BODY_BYTES = 1024 * 1024;

if (PHP_SAPI === 'cli') {
    serve();
}
ini_set('display_errors', '0');
[$status, $message] = receive();
http_response_code($status);
header('Content-Type: application/json');
echo json_encode(['message' => $message]);

/** The status and the message of the answer. */
function receive(): array
{
    if (explode('?', $_SERVER['REQUEST_URI'], 2)[0] !== '/hooks') {
        return [404, 'not found'];
    }
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        return [405, 'method not allowed'];
    }
    $body = file_get_contents('php://input', length: MAX_BODY_BYTES + 1);
    if (strlen($body) > MAX_BODY_BYTES) {
        return [413, 'body too large'];
    }
    if (!isAuthentic(array_change_key_case(getallheaders()), $body)) {
        return [401, 'unauthorized'];
    }
    $id = notificationId($body);
    if ($id === null) {
        return [400, 'not a notification'];
    }
    return store($id, $body) ? [200, 'ok'] : [503, 'not stored']; // The sender may deliver it again.
}

/** Compares in constant time. Repeated headers are joined with a comma, so they never match. */
function isAuthentic(array $headers, string $body): bool
{
    $secret = (string) getenv('WEBHOOK_SECRET');
    $apiKey = (string) getenv('WEBHOOK_API_KEY');
    $signature = base64_encode(hash_hmac('sha256', $body, $secret, true));
    $isSame = fn (string $expected, string $name) => hash_equals($expected, trim($headers[$name] ?? '', " \t"));
    $isKeyValid = $apiKey === '' || $isSame($apiKey, 'x-api-key');
    $isSigned = $secret === '' || $isSame($signature, 'x-service-signature');
    return $secret . $apiKey !== '' && $isKeyValid && $isSigned;
}

/** The id of a notification; null when the body is not one. Unknown types and fields are accepted. */
function notificationId(string $body): ?string
{
    $notification = json_decode($body);
    $id = $notification->id ?? null;
    $isNotification = is_string($notification->type ?? null) && is_object($notification->data ?? null);
    return $isNotification && is_string($id) && preg_match('/^\P{Cc}{1,200}$/Du', $id) ? $id : null;
}

/** Appends a line of JSON unless the journal has the id, and flushes it to disk. False when that fails. */
function store(string $id, string $body): bool
{
    $journal = fopen(getenv('WEBHOOK_JOURNAL') ?: 'journal.ndjson', 'c+b');
    if ($journal === false || !flock($journal, LOCK_EX)) {
        return false;
    }
    $start = '{"id":' . json_encode($id) . ',';
    $size = 0;
    // A last line without its end was being written when the process was killed.
    while (($line = fgets($journal)) !== false && str_ends_with($line, "\n")) {
        if (str_starts_with($line, $start)) {
            return true;
        }
        $size += strlen($line);
    }
    ftruncate($journal, $size);
    fseek($journal, $size);
    $line = json_encode(['id' => $id, 'receivedAt' => gmdate(DATE_ATOM), 'body' => $body]) . "\n";
    if (fwrite($journal, $line) === strlen($line) && fsync($journal)) {
        return true;
    }
    ftruncate($journal, $size);
    return false;
}

/** Starts PHP's own server with this file. Ctrl-C ends it and its workers; a signal to one process does not. */
function serve(): never
{
    if (!getenv('WEBHOOK_SECRET') && !getenv('WEBHOOK_API_KEY')) {
        fwrite(STDERR, "Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.\n");
        exit(1);
    }
    $address = (getenv('HOST') ?: '127.0.0.1') . ':' . (getenv('PORT') ?: '3000');
    putenv('PHP_CLI_SERVER_WORKERS=8');
    echo "listening on http://$address/hooks\n";
    passthru(implode(' ', array_map('escapeshellarg', [PHP_BINARY, '-S', $address, __FILE__])), $status);
    exit($status);
}
