package com.example;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.*;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.core.JacksonException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.nio.file.attribute.*;
import java.time.Instant;
import java.util.*;

/**
 * A file with one line of JSON per notification, which is on disk before {@code store} returns. It is locked while the
 * process lives, because the known ids are in its memory.
 */
final class Journal {
    /** Enough for a body of 1 MiB in which JSON escapes each byte as at most six bytes. */
    private static final int MAX_LINE_BYTES = 8 * 1024 * 1024;

    @JsonPropertyOrder({"id", "receivedAt", "body"})
    private record Entry(String id, String receivedAt, String body) {}

    private final Set<String> ids = new HashSet<>();
    private final Path path;
    /** Holds the lock. Never closed: closing any channel of a file releases the locks that the process has on it. */
    private final FileChannel lockedFile;
    private final FileChannel file;
    private final Object fileKey;
    private long size;

    Journal(Path path) throws IOException {
        this.path = path;
        boolean isPosix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
        var ownerOnly = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        FileAttribute<?>[] attributes = isPosix ? new FileAttribute<?>[] {ownerOnly} : new FileAttribute<?>[0];
        lockedFile = FileChannel.open(path, Set.of(CREATE, READ, WRITE), attributes);
        if (lockedFile.tryLock() == null) throw new IOException(path + " is in use by another process");
        file = FileChannel.open(path, APPEND);
        fileKey = attributes().fileKey();
        readLines();
        // An incomplete last line was being written when the process was killed.
        file.truncate(size).force(true);
    }

    /** Reads the ids of the lines. It changes nothing, so that a wrong path in WEBHOOK_JOURNAL is harmless. */
    private void readLines() throws IOException {
        byte[] block = new byte[64 * 1024];
        var line = new ByteArrayOutputStream();
        int number = 1;
        for (int length; (length = lockedFile.read(ByteBuffer.wrap(block))) >= 0; ) {
            int start = 0;
            for (int at = 0; at < length; at++) {
                if (block[at] != '\n') continue;
                line.write(block, start, at + 1 - start);
                ids.add(idOf(line.toString(UTF_8), number++));
                size += line.size();
                line.reset();
                start = at + 1;
            }
            line.write(block, start, length - start);
            if (line.size() > MAX_LINE_BYTES) throw notALine(number);
        }
        if (line.size() > 0 && !line.toString(UTF_8).startsWith("{\"id\":")) throw notALine(number);
    }

    private String idOf(String line, int number) throws IOException {
        try {
            String id = Receiver.JSON.readTree(line).path("id").textValue(); // null when it is not a string
            if (id != null) return id;
        } catch (JacksonException e) {
            // Not JSON.
        }
        throw notALine(number);
    }

    private IOException notALine(int number) {
        return new IOException("%s line %d is not a line of a journal".formatted(path, number));
    }

    /** Appends a line and flushes it to disk. A duplicate adds no line. Throws when that fails. */
    synchronized void store(String id, String body) throws IOException {
        check();
        if (ids.contains(id)) return;
        String entry = Receiver.JSON.writeValueAsString(new Entry(id, Instant.now().toString(), body));
        ByteBuffer line = UTF_8.encode(entry + "\n");
        try {
            file.write(line);
            if (line.hasRemaining()) throw new IOException("no space for the line");
            file.force(true);
        } catch (IOException e) {
            file.truncate(size);
            throw e;
        }
        size += line.limit();
        ids.add(id);
    }

    /**
     * A file that was removed or replaced would be missing at the next start. One of another size has part of a line
     * that could not be cut off, or lines of another program.
     */
    private void check() throws IOException {
        BasicFileAttributes found = attributes();
        if (!Objects.equals(found.fileKey(), fileKey) || found.size() != size) {
            throw new IOException(path + " is not the file that this process has written");
        }
    }

    private BasicFileAttributes attributes() throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class);
    }
}
