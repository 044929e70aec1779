<?php
/** Serves WebhookController.php alone, with Laravel's router and PHP's own server: `php receiver.php`. */

declare(strict_types=1);

use App\Http\Controllers\WebhookController;
use Illuminate\Container\Container;
use Illuminate\Events\Dispatcher;
use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Routing\Router;
use Symfony\Component\HttpKernel\Exception\HttpExceptionInterface;

if (PHP_SAPI === 'cli') {
    serve();
}
ini_set('display_errors', '0');
require __DIR__ . '/vendor/autoload.php';
require __DIR__ . '/WebhookController.php';

$container = new Container();
$router = new Router(new Dispatcher($container), $container);
$router->post('/hooks', WebhookController::class);
try {
    $router->dispatch($container->instance(Request::class, Request::capture()))->send();
} catch (HttpExceptionInterface $error) {
    (new JsonResponse(['message' => 'not accepted'], $error->getStatusCode()))->send();
}

/** Starts PHP's own server with this file, and ends with it. */
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
