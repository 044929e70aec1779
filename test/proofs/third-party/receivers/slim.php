<?php
require_once 'Slim/autoload.php';

// The built-in server puts the path here, which Slim would take for its own folder.
$_SERVER['SCRIPT_NAME'] = '/index.php';

$app = new \Slim\App();
$app->post('/hooks', function ($request, $response) {
    $body = (string) $request->getBody();
    $calculated = base64_encode(hash_hmac('sha256', $body, getenv('RECEIVER_SECRET'), true));
    if (!hash_equals($calculated, $request->getHeaderLine('X-Service-Signature'))) {
        return $response->withStatus(401);
    }
    $notification = $request->getParsedBody();
    return $response->withJson(['id' => $notification['id']]);
});
$app->run();
