<?php
declare(strict_types=1);

require_once __DIR__ . '/journal.php';

/**
 * Starts PHP's own server, which runs the script for every request. Ctrl-C stops it and its workers; a signal to one
 * process does not. For local tests only: it holds a body of any size in memory.
 */
function serve(string $script): never
{
    if (!getenv('WEBHOOK_SECRET') && !getenv('WEBHOOK_API_KEY')) {
        stop('Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.');
    }
    $path = getenv('WEBHOOK_JOURNAL') ?: 'journal.ndjson';
    try {
        putenv('WEBHOOK_JOURNAL_FILE=' . (new Journal($path))->prepare());
    } catch (RuntimeException $error) {
        stop($error->getMessage());
    }
    putenv("WEBHOOK_JOURNAL=$path");
    putenv('PHP_CLI_SERVER_WORKERS=8');
    $address = (getenv('HOST') ?: '127.0.0.1') . ':' . (getenv('PORT') ?: '3000');
    echo "listening on http://$address/hooks\n";
    passthru(implode(' ', array_map('escapeshellarg', [PHP_BINARY, '-S', $address, $script])), $status);
    exit($status);
}

function stop(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}
