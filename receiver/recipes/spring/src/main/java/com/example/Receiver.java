package com.example;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.file.*;
import java.security.*;
import java.time.Instant;
import java.util.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Receives signed notifications with Spring Boot: verifies the raw body, appends it to a journal on disk, answers 200.
 * Start it with `mvn spring-boot:run` (Java 17 or later). Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one
 * of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
 * One process only: the known ids are in memory. For several, use a database with a unique key on the id.
 */
@SpringBootApplication(proxyBeanMethods = false)
@RestController
public class Receiver {
    private static final int MAX_BODY_BYTES = 1024 * 1024;
    private static final String SECRET = env("WEBHOOK_SECRET", ""), API_KEY = env("WEBHOOK_API_KEY", "");
    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

    private final Journal journal = new Journal(Path.of(env("WEBHOOK_JOURNAL", "journal.ndjson")));

    public Receiver() throws IOException {}

    public static void main(String[] args) {
        if (SECRET.isEmpty() && API_KEY.isEmpty()) {
            System.err.println("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post.");
            System.exit(1);
        }
        String host = env("HOST", "127.0.0.1"), port = env("PORT", "3000");
        var application = new SpringApplication(Receiver.class);
        // Form and multipart bodies stay unread: parsing them would take the bytes that are signed.
        application.setDefaultProperties(Map.of("server.address", host, "server.port", port,
                "spring.servlet.multipart.enabled", "false"));
        application.run(args);
        System.out.printf("listening on http://%s:%s/hooks%n", host, port);
    }

    /** Takes the request and not `@RequestBody`, which rebuilds the body of a form from its parameters. */
    @PostMapping("/hooks")
    public ResponseEntity<Void> receive(HttpServletRequest request) {
        byte[] body;
        try {
            body = request.getInputStream().readNBytes(MAX_BODY_BYTES + 1);
        } catch (IOException e) {
            return answer(400); // The body is incomplete, or not well framed.
        }
        if (body.length > MAX_BODY_BYTES) return answer(413);
        if (!isAuthentic(request, body)) return answer(401);
        try {
            String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString(); // strict
            journal.store(notificationId(text), text);
            return answer(200);
        } catch (CharacterCodingException | JacksonException | IllegalArgumentException e) {
            return answer(400);
        } catch (IOException e) {
            System.err.println("not stored: " + e);
            return answer(503); // The sender may deliver it again.
        }
    }

    private static ResponseEntity<Void> answer(int status) {
        return ResponseEntity.status(status).build();
    }

    private static boolean isAuthentic(HttpServletRequest request, byte[] body) {
        boolean isSigned = SECRET.isEmpty() || isSame(request.getHeaders("X-Service-Signature"), sign(body));
        return isSigned && (API_KEY.isEmpty() || isSame(request.getHeaders("X-API-Key"), API_KEY));
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
    private static boolean isSame(Enumeration<String> lines, String expected) {
        List<String> received = Collections.list(lines);
        return received.size() == 1
                && MessageDigest.isEqual(received.get(0).getBytes(UTF_8), expected.getBytes(UTF_8));
    }

    /** The id of a notification. Throws when the text is not one; unknown types and fields are accepted. */
    private static String notificationId(String text) throws JacksonException {
        JsonNode notification = JSON.readTree(text);
        String id = notification.path("id").isTextual() ? notification.path("id").textValue() : "";
        boolean isNotification = notification.path("type").isTextual() && notification.path("data").isObject();
        if (isNotification && id.matches("[^\\p{Cc}\\p{Cs}]{1,200}")) return id;
        throw new IllegalArgumentException("not a notification");
    }

    private static String env(String name, String fallback) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? fallback : value;
    }

    private record Entry(String id, String receivedAt, String body) {}

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
            for (String line : lines.split("\n")) {
                if (!line.isEmpty()) ids.add(JSON.readValue(line, Entry.class).id());
            }
        }

        /** A copy adds no line. */
        synchronized void store(String id, String body) throws IOException {
            if (ids.contains(id)) return;
            String entry = JSON.writeValueAsString(new Entry(id, Instant.now().toString(), body));
            ByteBuffer line = UTF_8.encode(entry + "\n");
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
}
