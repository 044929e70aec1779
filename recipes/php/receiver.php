<?php
/**
 * Receives signed notifications with plain PHP: verifies the raw body, appends it to a journal, and answers 200.
 * `php receiver.php` serves it with PHP's own server, for local tests. In production php-fpm serves this file behind
 * nginx with `client_max_body_size 1m`; the journal must exist (journal.php), and must not be in the document root.
 * Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of them; the other check is off), PORT (3000), HOST
 * (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson, for php-fpm in the folder above this one). Each delivery reads the
 * journal under a lock, so several processes may run; when it has grown beyond a few megabytes, use a database with a
 * unique key on the id.
 */

declare(strict_types=1);

const MAX_BODY_BYTES = 1024 * 1024;

if (PHP_SAPI === 'cli') {
    require __DIR__ . '/serve.php';
    serve(__FILE__);
}
require __DIR__ . '/journal.php';
ini_set('display_errors', '0');
[$status, $message] = receive();
http_response_code($status);
header('Content-Type: application/json');
echo json_encode(['message' => $message]);

/** Returns the status and the message of the answer. */
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
    $journal = new Journal(getenv('WEBHOOK_JOURNAL') ?: dirname(__DIR__) . '/journal.ndjson');
    return $journal->store($id, $body) ? [200, 'ok'] : [503, 'not stored']; // The sender can deliver it again.
}

/** Compares in constant time. Repeated headers are joined with a comma, so they never match. */
function isAuthentic(array $headers, string $body): bool
{
    // During a rotation, the previous secret is also valid.
    $secrets = array_diff([(string) getenv('WEBHOOK_SECRET'), (string) getenv('WEBHOOK_PREVIOUS_SECRET')], ['']);
    $apiKey = (string) getenv('WEBHOOK_API_KEY');
    $isSame = fn (string $expected, string $name) => hash_equals($expected, trim($headers[$name] ?? '', " \t"));
    $isKeyValid = $apiKey === '' || $isSame($apiKey, 'x-api-key');
    $signature = fn (string $secret) => base64_encode(hash_hmac('sha256', $body, $secret, true));
    $matches = array_map(fn (string $secret) => $isSame($signature($secret), 'x-service-signature'), $secrets);
    $isSigned = $secrets === [] || in_array(true, $matches, true);
    return ($secrets !== [] || $apiKey !== '') && $isKeyValid && $isSigned;
}

/** Returns the id; null when the body is not a notification. Unknown types and fields are accepted. */
function notificationId(string $body): ?string
{
    $notification = json_decode($body);
    $id = $notification->id ?? null;
    $isNotification = is_string($notification->type ?? null) && is_object($notification->data ?? null);
    return $isNotification && is_string($id) && preg_match('/^\P{Cc}{1,200}$/Du', $id) ? $id : null;
}
