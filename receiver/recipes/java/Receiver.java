import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.*;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.file.*;
import java.security.*;
import java.time.Instant;
import java.util.*;
import java.util.concurrent.Executors;
import java.util.regex.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Receives signed notifications with the JDK alone: verifies the raw body, appends it to a journal on disk, answers
 * 200. Start it with `java Receiver.java` (Java 17 or later). Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least
 * one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
 * One process only: the known ids are in memory. For several, use a database with a unique key on the id.
 */
public class Receiver {
    private static final int MAX_BODY_BYTES = 1024 * 1024;
    private static final String SECRET = env("WEBHOOK_SECRET", ""), API_KEY = env("WEBHOOK_API_KEY", "");

    public static void main(String[] args) throws IOException {
        if (SECRET.isEmpty() && API_KEY.isEmpty()) {
            System.err.println("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post.");
            System.exit(1);
        }
        System.setProperty("sun.net.httpserver.maxReqTime", "30"); // seconds
        System.setProperty("sun.net.httpserver.nodelay", "true");
        var address = new InetSocketAddress(env("HOST", "127.0.0.1"), Integer.parseInt(env("PORT", "3000")));
        var journal = new Journal(Path.of(env("WEBHOOK_JOURNAL", "journal.ndjson")));
        var server = HttpServer.create(address, 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(receive(exchange, journal), -1); // -1: without a body
            }
        });
        server.start();
        System.out.printf("listening on http://%s:%d/hooks%n", address.getHostString(), address.getPort());
    }

    /** The status for a delivery. */
    private static int receive(HttpExchange exchange, Journal journal) throws IOException {
        if (!exchange.getRequestURI().getPath().equals("/hooks")) return 404;
        if (!exchange.getRequestMethod().equals("POST")) {
            exchange.getResponseHeaders().set("Allow", "POST");
            return 405;
        }
        byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY_BYTES + 1);
        if (body.length > MAX_BODY_BYTES) {
            // The server closes the connection of an unread body, and the sender would not see the answer.
            exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
            return 413;
        }
        if (!isAuthentic(exchange.getRequestHeaders(), body)) return 401;
        try {
            String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString(); // strict
            journal.store(notificationId(text), text);
            return 200;
        } catch (CharacterCodingException | IllegalArgumentException | IndexOutOfBoundsException e) {
            return 400;
        } catch (IOException e) {
            System.err.println("not stored: " + e);
            return 503; // The sender may deliver it again.
        }
    }

    private static boolean isAuthentic(Headers headers, byte[] body) {
        boolean isSigned = SECRET.isEmpty() || isSame(headers.get("X-Service-Signature"), sign(body));
        return isSigned && (API_KEY.isEmpty() || isSame(headers.get("X-API-Key"), API_KEY));
    }

    private static String sign(byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(SECRET.getBytes(UTF_8), "HmacSHA256"));
            return Base64.getEncoder().encodeToString(mac.doFinal(body));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // Every JDK has HmacSHA256.
        }
    }

    /** Exactly one line of the header, compared in constant time. */
    private static boolean isSame(List<String> received, String expected) {
        return received != null && received.size() == 1
                && MessageDigest.isEqual(received.get(0).getBytes(UTF_8), expected.getBytes(UTF_8));
    }

    /** The id of a notification. Throws when the text is not one; unknown types and fields are accepted. */
    private static String notificationId(String text) {
        if (Json.parse(text) instanceof Map<?, ?> notification
                && notification.get("id") instanceof String id && id.matches("[^\\p{Cc}\\p{Cs}]{1,200}")
                && notification.get("type") instanceof String && notification.get("data") instanceof Map) return id;
        throw new IllegalArgumentException("not a notification");
    }

    private static String env(String name, String fallback) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? fallback : value;
    }

    /** A file with one line of JSON per notification, each of them on disk before `store` returns. */
    private static final class Journal {
        private final Set<String> ids = new HashSet<>();
        private final FileChannel file;
        private long size;

        Journal(Path path) throws IOException {
            file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            String content = new String(Files.readAllBytes(path), UTF_8);
            // What follows the last line was being written when the process was killed.
            String lines = content.substring(0, content.lastIndexOf('\n') + 1);
            size = lines.getBytes(UTF_8).length;
            file.truncate(size).force(true);
            lines.lines().forEach(line -> ids.add((String) ((Map<?, ?>) Json.parse(line)).get("id")));
        }

        /** A copy adds no line. */
        synchronized void store(String id, String body) throws IOException {
            if (ids.contains(id)) return;
            ByteBuffer line = UTF_8.encode("{\"id\":\"%s\",\"receivedAt\":\"%s\",\"body\":\"%s\"}\n"
                    .formatted(escaped(id), Instant.now(), escaped(body)));
            try {
                while (line.hasRemaining()) file.write(line, size + line.position());
                file.force(true);
            } catch (IOException e) {
                file.truncate(size);
                throw e;
            }
            size += line.limit();
            ids.add(id);
        }
    }

    /** Of verified JSON: it has no other control characters. */
    private static String escaped(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"")
                .replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t");
    }

    /** A strict parser, because the JDK has none: an object is a map, a string a string, and everything else null. */
    static final class Json {
        private static final Pattern SCALAR =
                Pattern.compile("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?|true|false|null");
        private final String text;
        private int at;

        private Json(String text) {
            this.text = text;
        }

        static Object parse(String text) {
            Json json = new Json(text);
            Object value = json.value(64);
            json.skipSpace();
            json.check(json.at == text.length());
            return value;
        }

        private Object value(int levels) {
            check(levels > 0);
            if (take('"')) return string();
            if (take('[')) {
                if (take(']')) return null;
                do value(levels - 1); while (take(','));
                check(take(']'));
                return null;
            }
            if (take('{')) {
                Map<String, Object> members = new HashMap<>();
                if (take('}')) return members;
                do {
                    check(take('"'));
                    String name = string();
                    check(take(':'));
                    members.put(name, value(levels - 1));
                } while (take(','));
                check(take('}'));
                return members;
            }
            Matcher scalar = SCALAR.matcher(text).region(at, text.length());
            check(scalar.lookingAt());
            at = scalar.end();
            return null;
        }

        /** What follows an opening quote. */
        private String string() {
            var result = new StringBuilder();
            for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
                check(c >= ' ');
                result.append(c == '\\' ? unescaped(text.charAt(at++)) : c);
            }
            return result.toString();
        }

        private char unescaped(char c) {
            if (c == 'u') return (char) HexFormat.fromHexDigits(text, at, at += 4);
            int index = "\"\\/bfnrt".indexOf(c);
            check(index >= 0);
            return "\"\\/\b\f\n\r\t".charAt(index);
        }

        private boolean take(char expected) {
            skipSpace();
            if (at == text.length() || text.charAt(at) != expected) return false;
            at++;
            return true;
        }

        private void skipSpace() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
        }

        private void check(boolean isJson) {
            if (!isJson) throw new IllegalArgumentException("not JSON at character " + at);
        }
    }
}
