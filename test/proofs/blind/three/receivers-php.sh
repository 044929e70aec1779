#!/bin/sh
# Starts receivers.php: receivers-php.sh --list | receivers-php.sh --fault NAME --port N
exec php "$(dirname "$0")/receivers.php" "$@"
