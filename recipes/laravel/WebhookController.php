<?php
/**
 * Receives signed notifications with Laravel: verifies the raw body, appends it to a journal on disk, and answers 200.
 * In an application, put this file and journal.php into app/Http/Controllers, and
 * `Route::post('/hooks', WebhookController::class);` into routes/api.php, where no CSRF token is checked. Laravel reads
 * the body before the controller runs: nginx limits it with `client_max_body_size 1m`. The journal must exist
 * (journal.php), and must not be in the document root. `php receiver.php` serves it alone, for local tests. Variables:
 * WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of them; the other check is off), PORT (3000), HOST (127.0.0.1),
 * WEBHOOK_JOURNAL (journal.ndjson, in an application in storage/). Each delivery reads the journal under a lock; when
 * it has grown beyond a few megabytes, use `insertOrIgnore` into a table with a unique key on the id.
 */

declare(strict_types=1);

namespace App\Http\Controllers;

use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Journal;

require_once __DIR__ . '/journal.php';

final class WebhookController
{
    public const MAX_BODY_BYTES = 1024 * 1024;

    public function __invoke(Request $request): JsonResponse
    {
        $body = stream_get_contents($request->getContent(true), self::MAX_BODY_BYTES + 1);
        if (strlen($body) > self::MAX_BODY_BYTES) {
            return new JsonResponse(['message' => 'body too large'], 413);
        }
        if (!$this->isAuthentic($request, $body)) {
            return new JsonResponse(['message' => 'unauthorized'], 401);
        }
        $id = $this->notificationId($body);
        if ($id === null) {
            return new JsonResponse(['message' => 'not a notification'], 400);
        }
        $journal = new Journal(getenv('WEBHOOK_JOURNAL') ?: storage_path('journal.ndjson'));
        if (!$journal->store($id, $body)) {
            return new JsonResponse(['message' => 'not stored'], 503); // The sender can deliver it again.
        }
        return new JsonResponse(['message' => 'ok']);
    }

    /** Compares in constant time. Repeated headers are joined with a comma, so they never match. */
    private function isAuthentic(Request $request, string $body): bool
    {
        // During a rotation, the previous secret is also valid.
        $secrets = array_diff([(string) getenv('WEBHOOK_SECRET'), (string) getenv('WEBHOOK_PREVIOUS_SECRET')], ['']);
        $apiKey = (string) getenv('WEBHOOK_API_KEY');
        $isSame = fn (string $expected, string $name) =>
            hash_equals($expected, trim($request->header($name, ''), " \t"));
        $isKeyValid = $apiKey === '' || $isSame($apiKey, 'X-API-Key');
        $signature = fn (string $secret) => base64_encode(hash_hmac('sha256', $body, $secret, true));
        $matches = array_map(fn (string $secret) => $isSame($signature($secret), 'X-Service-Signature'), $secrets);
        $isSigned = $secrets === [] || in_array(true, $matches, true);
        return ($secrets !== [] || $apiKey !== '') && $isKeyValid && $isSigned;
    }

    /** Returns the id; null when the body is not a notification. Unknown types and fields are accepted. */
    private function notificationId(string $body): ?string
    {
        $notification = json_decode($body);
        $id = $notification->id ?? null;
        $isNotification = is_string($notification->type ?? null) && is_object($notification->data ?? null);
        return $isNotification && is_string($id) && preg_match('/^\P{Cc}{1,200}$/Du', $id) ? $id : null;
    }
}
