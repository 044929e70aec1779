<?php
function verify_webhook($data, $hmac_header)
{
    $calculated = base64_encode(hash_hmac('sha256', $data, getenv('RECEIVER_SECRET'), true));
    return hash_equals($calculated, $hmac_header);
}

$hmac_header = $_SERVER['HTTP_X_SERVICE_SIGNATURE'];
$data = file_get_contents('php://input');
$verified = verify_webhook($data, $hmac_header);
error_log('Webhook verified: ' . var_export($verified, true));
if ($verified) {
    http_response_code(200);
} else {
    http_response_code(401);
}
