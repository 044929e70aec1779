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
import java.nio.charset.CharacterCodingException;
import java.nio.file.Path;
import java.security.*;
import java.util.*;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Receives signed notifications with Spring Boot: verifies the raw body, appends it to a journal, and answers 200.
 * Start it with `mvn spring-boot:run` (Java 17 or later). Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one
 * of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
 * Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
 */
@SpringBootApplication(proxyBeanMethods = false)
@RestController
public class Receiver {
    private static final int MAX_BODY_BYTES = 1024 * 1024;
    private static final String SECRET = env("WEBHOOK_SECRET", ""), API_KEY = env("WEBHOOK_API_KEY", "");
    /** During a rotation, the previous secret is also valid. */
    private static final List<String> SECRETS =
            Stream.of(SECRET, env("WEBHOOK_PREVIOUS_SECRET", "")).filter(one -> !one.isEmpty()).toList();
    static final ObjectMapper JSON =
            JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

    /** Limits of Tomcat. A slow body occupies a thread: let nginx read it first (`proxy_request_buffering on`). */
    private static final Map<String, Object> LIMITS = Map.of(
            "server.max-http-request-header-size", "16KB",
            "server.tomcat.connection-timeout", "10s",
            "server.tomcat.max-connections", "512",
            "server.tomcat.threads.max", "256");

    private static Journal journal;

    public static void main(String[] args) {
        if (SECRET.isEmpty() && API_KEY.isEmpty()) {
            exit("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.");
        }
        try {
            journal = new Journal(Path.of(env("WEBHOOK_JOURNAL", "journal.ndjson")));
        } catch (IOException e) {
            exit(e.getMessage());
        }
        String host = env("HOST", "127.0.0.1"), port = env("PORT", "3000");
        var application = new SpringApplication(Receiver.class);
        // Form and multipart bodies are not parsed, because that would consume the signed bytes.
        var properties = new HashMap<>(LIMITS);
        properties.putAll(Map.of("server.address", host, "server.port", port));
        properties.put("spring.servlet.multipart.enabled", "false");
        application.setDefaultProperties(properties);
        application.run(args);
        System.out.printf("listening on http://%s:%s/hooks%n", host, port);
    }

    /** Takes the request instead of `@RequestBody`, which rebuilds the body of a form from its parameters. */
    @PostMapping("/hooks")
    public ResponseEntity<Void> receive(HttpServletRequest request) {
        byte[] body;
        try {
            body = request.getInputStream().readNBytes(MAX_BODY_BYTES + 1);
        } catch (IOException e) {
            return answer(400); // The body is incomplete, or its framing is invalid.
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
            return answer(503); // The sender can deliver it again.
        }
    }

    private static ResponseEntity<Void> answer(int status) {
        return ResponseEntity.status(status).build();
    }

    private static boolean isAuthentic(HttpServletRequest request, byte[] body) {
        boolean isSigned = SECRETS.isEmpty();
        for (String secret : SECRETS) isSigned |= isSame(request.getHeaders("X-Service-Signature"), sign(secret, body));
        return isSigned && (API_KEY.isEmpty() || isSame(request.getHeaders("X-API-Key"), API_KEY));
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
    private static boolean isSame(Enumeration<String> lines, String expected) {
        List<String> received = Collections.list(lines);
        return received.size() == 1
                && MessageDigest.isEqual(received.get(0).getBytes(UTF_8), expected.getBytes(UTF_8));
    }

    /** Returns the id. Throws when the text is not a notification; unknown types and fields are accepted. */
    private static String notificationId(String text) throws JacksonException {
        JsonNode notification = JSON.readTree(text);
        String id = notification.path("id").isTextual() ? notification.path("id").textValue() : "";
        boolean isNotification = notification.path("type").isTextual() && notification.path("data").isObject();
        if (isNotification && id.matches("[^\\p{Cc}\\p{Cs}]{1,200}")) return id;
        throw new IllegalArgumentException("not a notification");
    }

    private static void exit(String message) {
        System.err.println(message);
        System.exit(1);
    }

    private static String env(String name, String fallback) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? fallback : value;
    }
}
