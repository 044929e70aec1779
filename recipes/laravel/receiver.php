<?php
/** Serves only WebhookController.php, with Laravel's router and PHP's own server: `php receiver.php`. */

declare(strict_types=1);

use App\Http\Controllers\WebhookController;
use Illuminate\Container\Container;
use Illuminate\Events\Dispatcher;
use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Routing\Router;
use Symfony\Component\HttpKernel\Exception\HttpExceptionInterface;

if (PHP_SAPI === 'cli') {
    require __DIR__ . '/serve.php';
    serve(__FILE__);
}
ini_set('display_errors', '0');
require __DIR__ . '/vendor/autoload.php';
require __DIR__ . '/WebhookController.php';

// Laravel parses a body while it captures the request, so a larger one must be rejected before.
$start = file_get_contents('php://input', length: WebhookController::MAX_BODY_BYTES + 1);
if (strlen($start) > WebhookController::MAX_BODY_BYTES) {
    (new JsonResponse(['message' => 'body too large'], 413))->send();
    return;
}
$container = new Container();
$router = new Router(new Dispatcher($container), $container);
$router->post('/hooks', WebhookController::class);
try {
    $router->dispatch($container->instance(Request::class, Request::capture()))->send();
} catch (HttpExceptionInterface $error) {
    (new JsonResponse(['message' => 'not accepted'], $error->getStatusCode()))->send();
}
