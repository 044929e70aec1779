import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.*;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Path;
import java.security.*;
import java.util.*;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Receives signed notifications with the JDK alone: verifies the raw body, appends it to a journal, and answers
 * 200. Start it with `javac -d build *.java && java -XX:+UseSerialGC -Xms32m -cp build Receiver` (Java 17 or later;
 * these options make the JVM free the memory of requests before it grows the heap). Environment: WEBHOOK_SECRET
 * and WEBHOOK_API_KEY (at least one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL
 * (journal.ndjson).
 * Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
 */
public class Receiver {
    private static final int MAX_BODY_BYTES = 1024 * 1024;
    private static final String SECRET = env("WEBHOOK_SECRET", ""), API_KEY = env("WEBHOOK_API_KEY", "");
    /** During a rotation, the previous secret is also valid. */
    private static final List<String> SECRETS =
            Stream.of(SECRET, env("WEBHOOK_PREVIOUS_SECRET", "")).filter(one -> !one.isEmpty()).toList();
    /** Limits of the JDK's server, as `java -D` sets them. Times are in seconds; a connection can occupy a thread. */
    private static final Map<String, String> LIMITS = Map.of(
            "sun.net.httpserver.maxReqTime", "30",
            "sun.net.httpserver.maxRspTime", "30",
            "sun.net.httpserver.maxReqHeaderSize", "16384",
            "jdk.httpserver.maxConnections", "512", // since JDK 21, and in later updates of JDK 17
            "sun.net.httpserver.nodelay", "true");

    public static void main(String[] args) throws IOException {
        if (SECRET.isEmpty() && API_KEY.isEmpty()) {
            throw exit("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.");
        }
        LIMITS.forEach(System::setProperty);
        Journal journal = openJournal(Path.of(env("WEBHOOK_JOURNAL", "journal.ndjson")));
        var address = new InetSocketAddress(env("HOST", "127.0.0.1"), Integer.parseInt(env("PORT", "3000")));
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

    private static Journal openJournal(Path path) {
        try {
            return new Journal(path);
        } catch (IOException e) {
            throw exit(e.getMessage());
        }
    }

    private static Error exit(String message) {
        System.err.println(message);
        System.exit(1);
        return new Error(message); // unreachable, but the compiler does not know that
    }

    /** Returns the status for a delivery. */
    private static int receive(HttpExchange exchange, Journal journal) throws IOException {
        if (!exchange.getRequestURI().getPath().equals("/hooks")) return 404;
        if (!exchange.getRequestMethod().equals("POST")) {
            exchange.getResponseHeaders().set("Allow", "POST");
            return 405;
        }
        byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY_BYTES + 1);
        if (body.length > MAX_BODY_BYTES) {
            // The server would close the connection of an unread body, and the sender would not see the answer.
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
            return 503; // The sender can deliver it again.
        }
    }

    private static boolean isAuthentic(Headers headers, byte[] body) {
        boolean isSigned = SECRETS.isEmpty();
        for (String secret : SECRETS) isSigned |= isSame(headers.get("X-Service-Signature"), sign(secret, body));
        return isSigned && (API_KEY.isEmpty() || isSame(headers.get("X-API-Key"), API_KEY));
    }

    private static String sign(String secret, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
            return Base64.getEncoder().encodeToString(mac.doFinal(body));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // Every JDK has HmacSHA256.
        }
    }

    /** Requires exactly one line of the header, and compares it in constant time. */
    private static boolean isSame(List<String> received, String expected) {
        return received != null && received.size() == 1
                && MessageDigest.isEqual(received.get(0).getBytes(UTF_8), expected.getBytes(UTF_8));
    }

    /** Returns the id. Throws when the text is not a notification; unknown types and fields are accepted. */
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
}
