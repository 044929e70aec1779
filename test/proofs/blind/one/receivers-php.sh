#!/bin/sh
# Starts receivers.php: receivers-php.sh --list | receivers-php.sh --fault NAME --port N
# Needs php 8.2 on the path; the secret and the API key come from BLIND_SECRET and BLIND_API_KEY.
here=$(cd "$(dirname "$0")" && pwd)
fault=none
port=8080
while [ $# -gt 0 ]; do
    case "$1" in
        --list) exec php "$here/receivers.php" --list ;;
        --fault) fault=$2; shift 2 ;;
        --port) port=$2; shift 2 ;;
        *) echo "unknown argument $1" >&2; exit 2 ;;
    esac
done
php "$here/receivers.php" --known "$fault" || { echo "unknown fault $fault" >&2; exit 2; }
[ -n "$BLIND_SECRET" ] && [ -n "$BLIND_API_KEY" ] || { echo "BLIND_SECRET and BLIND_API_KEY must be set" >&2; exit 2; }
BLIND_FAULT=$fault
BLIND_STATE=$(mktemp -d) || exit 1
PHP_CLI_SERVER_WORKERS=4
export BLIND_FAULT BLIND_STATE PHP_CLI_SERVER_WORKERS
php -d display_errors=0 -d log_errors=0 -d output_buffering=0 -d post_max_size=64M -d memory_limit=512M \
    -d session.save_path="$BLIND_STATE" -S "127.0.0.1:$port" "$here/receivers.php" &
server=$!
main=$$
# Waits until the port accepts connections.
if ! php -r '
    for ($i = 0; $i < 100; $i++) {
        if ($c = @fsockopen("127.0.0.1", (int) $argv[1])) { fclose($c); exit(0); }
        usleep(50000);
    }
    exit(1);' "$port" || ! kill -0 "$server" 2>/dev/null; then
    echo "the server did not start" >&2
    rm -rf "$BLIND_STATE"
    exit 1
fi
# The built-in server does not end its workers when it is ended, so their numbers are kept.
all="$server $(ps -o pid= --ppid "$server")"
end() {
    trap - TERM INT HUP
    kill $all 2>/dev/null
    rm -rf "$BLIND_STATE"
    exit 0
}
trap end TERM INT HUP
# Does the same if this script was killed without a chance to do it.
(
    trap - TERM INT HUP
    while kill -0 "$main"; do sleep 0.3; done
    kill $all
    rm -rf "$BLIND_STATE"
) >/dev/null 2>&1 &
echo listening
wait "$server"
end
