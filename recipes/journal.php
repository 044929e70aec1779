<?php
declare(strict_types=1);

/**
 * A file with one line of JSON per notification, which is on disk before `store` returns true. PHP has a process per
 * request, and each locks the file and searches it for the id, so that several processes can share it. No request
 * creates the file, because one that was removed, or whose disk is not mounted, must not be replaced by an empty one.
 * Run `install -m 600 -o www-data /dev/null PATH` once, with the user of php-fpm.
 */
final class Journal
{
    /** Enough for a body of 1 MiB in which JSON escapes each byte as six bytes. */
    private const MAX_LINE_BYTES = 8 * 1024 * 1024;
    private const LINE_START = '{"id":';

    public function __construct(private string $path)
    {
    }

    /**
     * Appends a line and flushes it to disk. A duplicate adds no line. Returns false and writes a log line on failure.
     */
    public function store(string $id, string $body): bool
    {
        try {
            $this->append($id, $body);
            return true;
        } catch (RuntimeException $error) {
            error_log("not stored: {$error->getMessage()}");
            return false;
        }
    }

    /**
     * Creates the file, or checks each of its lines. It changes nothing, so that a wrong path is harmless. Returns its
     * identity, which `serve` passes to the processes of the requests in WEBHOOK_JOURNAL_FILE.
     */
    public function prepare(): string
    {
        $previous = umask(0077);
        $file = @fopen($this->path, 'a+b') ?: throw new RuntimeException("$this->path cannot be opened");
        umask($previous);
        flock($file, LOCK_SH);
        rewind($file);
        for ($number = 1; ($line = $this->nextLine($file)) !== false; $number++) {
            $isLine = str_ends_with($line, "\n") && is_string(json_decode($line)->id ?? null);
            if (!$isLine && !$this->isTorn($file, $line)) {
                throw new RuntimeException("$this->path line $number is not a line of a journal");
            }
        }
        return $this->identity(fstat($file));
    }

    private function append(string $id, string $body): void
    {
        if (getenv('WEBHOOK_JOURNAL_FILE') === false && $this->isPublic()) {
            throw new RuntimeException("$this->path is in the document root, where anyone can read it");
        }
        $file = is_file($this->path) ? @fopen($this->path, 'a+b') : false;
        if ($file === false || !flock($file, LOCK_EX)) {
            throw new RuntimeException("$this->path does not exist or cannot be opened");
        }
        clearstatcache();
        $identity = $this->identity(fstat($file));
        $found = @stat($this->path);
        if ($found === false || $identity !== $this->identity($found)
            || $identity !== (getenv('WEBHOOK_JOURNAL_FILE') ?: $identity)) {
            throw new RuntimeException("$this->path was removed or replaced");
        }
        $size = $this->sizeWithout($id, $file);
        if ($size === null) {
            return;
        }
        $line = json_encode(['id' => $id, 'receivedAt' => gmdate(DATE_ATOM), 'body' => $body]) . "\n";
        if (@fwrite($file, $line) !== strlen($line) || !fsync($file)) {
            ftruncate($file, $size);
            throw new RuntimeException("$this->path cannot be written");
        }
    }

    /** Returns the size of the lines; null when one of them has the id. Cuts off an incomplete last line. */
    private function sizeWithout(string $id, $file): ?int
    {
        $start = self::LINE_START . json_encode($id) . ',';
        $size = 0;
        rewind($file);
        while (($line = $this->nextLine($file)) !== false) {
            if ($this->isTorn($file, $line)) {
                ftruncate($file, $size);
                return $size;
            }
            if (!str_starts_with($line, self::LINE_START) || !str_ends_with($line, "\n")) {
                throw new RuntimeException("$this->path has a line that is not a line of a journal");
            }
            if (str_starts_with($line, $start)) {
                return null;
            }
            $size += strlen($line);
        }
        return $size;
    }

    /** Returns the next line; false at the end. `fgets` with a limit would allocate all of it for each line. */
    private function nextLine($file): string|false
    {
        $start = ftell($file);
        $line = stream_get_line($file, self::MAX_LINE_BYTES, "\n");
        return $line === false || ftell($file) === $start + strlen($line) ? $line : "$line\n";
    }

    /** Returns true when the process was killed while it wrote this line. */
    private function isTorn($file, string $line): bool
    {
        return !str_ends_with($line, "\n") && feof($file) && str_starts_with($line, self::LINE_START);
    }

    /** Returns true when a web server would serve the file: it, or a link to it, is in the document root. */
    private function isPublic(): bool
    {
        $root = realpath(($_SERVER['DOCUMENT_ROOT'] ?? '') ?: dirname($_SERVER['SCRIPT_FILENAME']));
        $isInside = fn (string|false $path) => str_starts_with("$path/", rtrim((string) $root, '/') . '/');
        return $isInside(realpath(dirname($this->path))) || $isInside(realpath($this->path));
    }

    private function identity(array $stat): string
    {
        return "{$stat['dev']}:{$stat['ino']}";
    }
}
