<?php
// A right receiver on PHP's built-in server: this file is its router, and starts it when it is run by itself.
// HOOKPROOF_SECRET and HOOKPROOF_API_KEY are in the environment; prints its port.
if (PHP_SAPI === 'cli') {
    $free = stream_socket_server('tcp://127.0.0.1:0');
    $address = stream_socket_get_name($free, false);
    fclose($free);
    // The bytes of a form or of an upload have to stay where they are; an answer may contain nothing of an error.
    $settings = ['enable_post_data_reading=0', 'display_errors=0', 'expose_php=0', 'post_max_size=8M'];
    $options = array_map(fn ($setting) => "-d$setting", $settings);
    $pipes = [];
    $server = proc_open([PHP_BINARY, '-q', ...$options, '-S', $address, __FILE__], [2 => ['pipe', 'w']], $pipes);
    while (($line = fgets($pipes[2])) !== false) {
        if (str_contains($line, ' started')) echo parse_url("tcp://$address", PHP_URL_PORT), "\n";
    }
    exit(proc_close($server));
}

function status(): int
{
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') return 405;
    // HTTP tells servers to refuse such names, and this one does not.
    foreach (array_keys(getallheaders()) as $name) if (trim($name) !== $name) return 400;
    $body = file_get_contents('php://input');
    // The server leaves blanks at the end of a value.
    $header = fn ($name) => trim($_SERVER[$name] ?? '');
    [$given, $key] = [$header('HTTP_X_SERVICE_SIGNATURE'), $header('HTTP_X_API_KEY')];
    $due = base64_encode(hash_hmac('sha256', $body, getenv('HOOKPROOF_SECRET'), true));
    $signed = hash_equals($due, $given);
    $keyed = hash_equals(getenv('HOOKPROOF_API_KEY'), $key);
    if (!$signed || !$keyed) return 401;
    $notification = json_decode($body, true);
    return is_array($notification) && is_string($notification['id'] ?? null) ? 200 : 400;
}

http_response_code(status());
header('Content-Type: application/json');
echo '{}';
