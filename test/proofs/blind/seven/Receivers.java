// A receiver of signed notifications, correct with --fault none, with exactly one fault otherwise.

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receivers {
    static final int MAX_BODY = 12 << 20;
    static final int MAX_DEPTH = 200;

    static final String[][] FAULTS = {
        {"thread-context", "must", "The result of the check is kept in a ThreadLocal that is never cleared, so a pool"
            + " thread that served a valid delivery lets everything pass."},
        {"text-round-trip", "must", "The HMAC is computed over the body decoded to a String and encoded again, so every"
            + " broken UTF-8 byte equals U+FFFD."},
        {"raw-path-guard", "must", "The guard compares the raw path and the routing compares the decoded path, so"
            + " /%68ooks is served without any check."},
        {"shared-mac", "must", "One Mac object of the whole process is fed while the body is read, so overlapping or"
            + " broken-off requests spoil other signatures."},
        {"one-read", "must", "The body is taken with a single read() call, so a body that arrives in pieces is cut and"
            + " refused."},
        {"length-in-chars", "must", "The answer to ORDER_TRACKING echoes the description with Content-Length counted in"
            + " characters, so non-ASCII text breaks the answer."},
        {"memo-template", "must", "The memo is put in a text with replaceAll, which gives a meaning to $ and"
            + " backslash: such memos end in a 500."},
        {"query-split", "must", "The query is split by = and index 1 is taken unchecked before any check, so a query"
            + " parameter without value ends in a 500."},
        {"uuid-versions", "must", "The id must match a UUID pattern of versions 1 to 5 in small letters, so version 7"
            + " ids get 400."},
        {"settings-in-answer", "must", "When the signature header is no Base64, the 401 carries the text of the"
            + " settings record, secret and API key included."},
        {"lock-kept", "must", "The id is locked before the check and the 401 path keeps the lock: after a forgery with"
            + " its id the valid notification gets 409."},
        {"no-depth-limit", "must", "The JSON parser recurses without a limit; deep nesting is a StackOverflowError that"
            + " is not caught, and no answer comes."},
        {"slow-refusal", "should", "Each refusal of a signature waits 6 seconds."},
        {"hash-spelling", "blind", "Only the correct spelling of the hash key is read; the misspelt one is accepted and"
            + " its value is lost."},
    };

    record Settings(String fault, String secret, String apiKey) { }

    static class Malformed extends Exception {
        private static final long serialVersionUID = 1;

        Malformed(String message) {
            super(message);
        }
    }

    final Settings settings;
    final Set<String> seen = ConcurrentHashMap.newKeySet();
    final Set<String> locked = ConcurrentHashMap.newKeySet();
    final Map<String, String> hashes = new ConcurrentHashMap<>();
    final ThreadLocal<Boolean> trusted = ThreadLocal.withInitial(() -> false);
    final Mac sharedMac;

    Receivers(Settings settings) throws GeneralSecurityException {
        this.settings = settings;
        this.sharedMac = newMac();
    }

    boolean fault(String name) {
        return settings.fault().equals(name);
    }

    Mac newMac() throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(settings.secret().getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        return mac;
    }

    static boolean equal(String a, String b) {
        return MessageDigest.isEqual(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
    }

    // ---- reading and checking

    byte[] readBody(HttpExchange exchange) throws IOException {
        InputStream in = exchange.getRequestBody();
        if (fault("one-read")) {
            byte[] buffer = new byte[65536];
            int count = in.read(buffer);
            return java.util.Arrays.copyOf(buffer, Math.max(count, 0));
        }
        if (fault("shared-mac")) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            byte[] part = new byte[4096];
            for (int n = in.read(part); n >= 0; n = in.read(part)) {
                sharedMac.update(part, 0, n);
                all.write(part, 0, n);
                if (all.size() > MAX_BODY) {
                    sharedMac.reset();
                    return null;
                }
            }
            return all.toByteArray();
        }
        byte[] body = in.readNBytes(MAX_BODY + 1);
        return body.length > MAX_BODY ? null : body;
    }

    boolean signatureValid(String got, byte[] body) throws GeneralSecurityException {
        byte[] expected;
        if (fault("shared-mac")) {
            expected = sharedMac.doFinal();
        } else if (fault("text-round-trip")) {
            String text = new String(body, StandardCharsets.UTF_8);
            expected = newMac().doFinal(text.getBytes(StandardCharsets.UTF_8));
        } else {
            expected = newMac().doFinal(body);
        }
        return equal(got == null ? "" : got, Base64.getEncoder().encodeToString(expected));
    }

    void handle(HttpExchange exchange) throws IOException {
        try {
            serve(exchange);
        } catch (IOException e) {
            exchange.close();
        } catch (Exception e) {
            System.err.println("failed: " + e);
            answer(exchange, 500, "internal error");
        }
    }

    void serve(HttpExchange exchange) throws Exception {
        if (!"/hooks".equals(exchange.getRequestURI().getPath())) {
            answer(exchange, 404, "not found");
            return;
        }
        if (!exchange.getRequestMethod().equals("POST")) {
            exchange.getResponseHeaders().set("Allow", "POST");
            answer(exchange, 405, "method not allowed");
            return;
        }
        if (fault("query-split")) {
            queryParameters(exchange.getRequestURI().getRawQuery());
        }
        byte[] body = readBody(exchange);
        if (body == null) {
            answer(exchange, 413, "body is too large");
            return;
        }
        String lock = fault("lock-kept") ? idOf(body) : null;
        if (lock != null && !locked.add(lock)) {
            answer(exchange, 409, "is being processed");
            return;
        }
        if (!authentic(exchange, body)) {
            refuse(exchange);
            return;
        }
        int status = 200;
        String text = "accepted";
        try {
            text = process(decode(body));
        } catch (Malformed e) {
            status = 400;
            text = "malformed";
        }
        if (lock != null) {
            locked.remove(lock);
        }
        answer(exchange, status, text);
    }

    boolean authentic(HttpExchange exchange, byte[] body) throws GeneralSecurityException {
        if (fault("raw-path-guard") && !exchange.getRequestURI().getRawPath().startsWith("/hooks")) {
            return true;
        }
        String key = exchange.getRequestHeaders().getFirst("X-API-KEY");
        boolean keyOk = equal(key == null ? "" : key, settings.apiKey());
        boolean signatureOk = signatureValid(exchange.getRequestHeaders().getFirst("X-Service-Signature"), body);
        if (fault("thread-context")) {
            if (keyOk && signatureOk) {
                trusted.set(true);
            }
            return trusted.get();
        }
        if (fault("slow-refusal") && !signatureOk) {
            pause(6000);
        }
        return keyOk && signatureOk;
    }

    static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void refuse(HttpExchange exchange) throws IOException {
        if (fault("settings-in-answer")) {
            String got = exchange.getRequestHeaders().getFirst("X-Service-Signature");
            try {
                Base64.getDecoder().decode(got == null ? "" : got);
            } catch (IllegalArgumentException e) {
                answer(exchange, 401, e.getMessage() + " with " + settings);
                return;
            }
        }
        answer(exchange, 401, "unauthorized");
    }

    static Map<String, String> queryParameters(String query) {
        Map<String, String> result = new HashMap<>();
        if (query != null) {
            for (String pair : query.split("&")) {
                String[] parts = pair.split("=");
                result.put(parts[0], parts[1]);
            }
        }
        return result;
    }

    static String idOf(byte[] body) {
        String text = new String(body, StandardCharsets.UTF_8);
        Matcher matcher = Pattern.compile("\"id\"\\s*:\\s*\"([^\"]+)\"").matcher(text);
        return matcher.find() ? matcher.group(1) : null;
    }

    void answer(HttpExchange exchange, int status, String text) throws IOException {
        String json = "{\"result\":" + quote(text) + "}";
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
            return;
        }
        exchange.sendResponseHeaders(status, fault("length-in-chars") ? json.length() : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    static String quote(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }

    // ---- the notification

    String decode(byte[] body) throws Malformed {
        if (fault("text-round-trip")) {
            return new String(body, StandardCharsets.UTF_8);
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
        } catch (CharacterCodingException e) {
            throw new Malformed("not UTF-8");
        }
    }

    String process(String text) throws Malformed {
        Object root = new Parser(text, fault("no-depth-limit") ? Integer.MAX_VALUE : MAX_DEPTH).document();
        if (!(root instanceof Map)) {
            throw new Malformed("no object");
        }
        Map<?, ?> envelope = (Map<?, ?>) root;
        for (String name : List.of("id", "type", "at", "data")) {
            check(envelope.containsKey(name));
        }
        texts(envelope, "id", "type");
        check(!"".equals(envelope.get("id")) && !"".equals(envelope.get("type")));
        check(envelope.get("data") instanceof Map);
        Map<?, ?> data = (Map<?, ?>) envelope.get("data");
        validate(envelope, data);
        String id = (String) envelope.get("id");
        if (id != null && fault("uuid-versions")) {
            check(id.matches("[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
        }
        if (id != null && !seen.add(id)) {
            return "duplicate";
        }
        return effect(id, envelope, data);
    }

    String effect(String id, Map<?, ?> envelope, Map<?, ?> data) throws Malformed {
        Map<?, ?> metadata = data.get("metadata") instanceof Map ? (Map<?, ?>) data.get("metadata") : Map.of();
        if ("CAAS_BLOCKCHAIN".equals(envelope.get("type")) && id != null) {
            Object hash = metadata.get("blockchainTransactionId");
            if (hash == null && !fault("hash-spelling")) {
                hash = metadata.get("blockchainTransctionId");
            }
            hashes.put(id, hash == null ? "" : hash.toString());
        }
        if (fault("memo-template") && metadata.get("blockchainData") instanceof Map) {
            Object memo = ((Map<?, ?>) metadata.get("blockchainData")).get("blockchainMemo");
            if (memo != null) {
                System.err.println("Transfer with memo {memo}".replaceAll("\\{memo\\}", memo.toString()));
            }
        }
        if (fault("length-in-chars") && metadata.get("trackingStateDescription") != null) {
            return "accepted: " + metadata.get("trackingStateDescription");
        }
        return "accepted";
    }

    static void validate(Map<?, ?> envelope, Map<?, ?> data) throws Malformed {
        Object type = envelope.get("type");
        if ("CAAS".equals(type) || "REFUND".equals(type)) {
            wholeNumber(envelope.get("at"));
            texts(data, "type", "providerId", "transactionId", "status");
            child(data, "errorData");
            Map<?, ?> metadata = child(data, "metadata");
            texts(metadata, "orderStatus", "orderType", "amount", "currency", "walletAddress",
                "blockchainTransactionId", "trackingStateDescription");
            texts(child(metadata, "blockchainData"), "targetWalletAddress", "blockchainTransactionId",
                "blockchainMemo", "currency", "chain");
        } else if ("PAYMENT_METHOD".equals(type)) {
            wholeNumber(envelope.get("at"));
            texts(data, "status", "paymentMethodId", "accountId", "errorCode");
        } else if ("WALLET".equals(type)) {
            texts(envelope, "at");
            texts(data, "operation", "customerId", "walletAddress", "assetId", "chain");
        } else if ("CAAS_BLOCKCHAIN".equals(type)) {
            texts(envelope, "at");
            texts(data, "type", "status", "partnerTransactionId", "customerId");
            Map<?, ?> metadata = child(data, "metadata");
            texts(metadata, "sourceAddress", "destinationAddress", "blockchainTransactionId", "blockchainTransctionId");
            texts(child(metadata, "asset"), "amount", "currency");
        }
    }

    static void check(boolean condition) throws Malformed {
        if (!condition) {
            throw new Malformed("validation");
        }
    }

    static void texts(Map<?, ?> object, String... names) throws Malformed {
        for (String name : names) {
            check(object.get(name) == null || object.get(name) instanceof String);
        }
    }

    static Map<?, ?> child(Map<?, ?> object, String name) throws Malformed {
        Object value = object.get(name);
        check(value == null || value instanceof Map);
        return value == null ? Map.of() : (Map<?, ?>) value;
    }

    static void wholeNumber(Object value) throws Malformed {
        check(value == null || value instanceof BigDecimal && ((BigDecimal) value).scale() <= 0);
    }

    // ---- a small JSON parser

    static class Parser {
        final String text;
        final int maxDepth;
        int at;

        Parser(String text, int maxDepth) {
            this.text = text;
            this.maxDepth = maxDepth;
        }

        Object document() throws Malformed {
            Object value = value(0);
            space();
            check(at == text.length());
            return value;
        }

        void space() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
        }

        char next() throws Malformed {
            check(at < text.length());
            return text.charAt(at++);
        }

        char peek() throws Malformed {
            space();
            check(at < text.length());
            return text.charAt(at);
        }

        Object value(int depth) throws Malformed {
            check(depth <= maxDepth);
            char c = peek();
            if (c == '{') {
                return object(depth);
            } else if (c == '[') {
                return array(depth);
            } else if (c == '"') {
                return string();
            } else if (c == '-' || c >= '0' && c <= '9') {
                return number();
            }
            for (Map.Entry<String, Object> word : WORDS.entrySet()) {
                if (text.startsWith(word.getKey(), at)) {
                    at += word.getKey().length();
                    return word.getValue();
                }
            }
            throw new Malformed("value");
        }

        Map<String, Object> object(int depth) throws Malformed {
            Map<String, Object> result = new LinkedHashMap<>();
            at++;
            if (peek() == '}') {
                at++;
                return result;
            }
            while (true) {
                check(peek() == '"');
                String name = string();
                check(peek() == ':');
                at++;
                result.put(name, value(depth + 1));
                char c = peek();
                at++;
                if (c == '}') {
                    return result;
                }
                check(c == ',');
            }
        }

        List<Object> array(int depth) throws Malformed {
            List<Object> result = new ArrayList<>();
            at++;
            if (peek() == ']') {
                at++;
                return result;
            }
            while (true) {
                result.add(value(depth + 1));
                char c = peek();
                at++;
                if (c == ']') {
                    return result;
                }
                check(c == ',');
            }
        }

        String string() throws Malformed {
            StringBuilder out = new StringBuilder();
            at++;
            for (char c = next(); c != '"'; c = next()) {
                check(c >= ' ');
                if (c != '\\') {
                    out.append(c);
                    continue;
                }
                char escape = next();
                int index = "\"\\/bfnrt".indexOf(escape);
                if (index >= 0) {
                    out.append("\"\\/\b\f\n\r\t".charAt(index));
                } else {
                    check(escape == 'u' && at + 4 <= text.length());
                    String hex = text.substring(at, at + 4);
                    check(hex.matches("[0-9a-fA-F]{4}"));
                    out.append((char) Integer.parseInt(hex, 16));
                    at += 4;
                }
            }
            return out.toString();
        }

        BigDecimal number() throws Malformed {
            Matcher matcher = NUMBER.matcher(text).region(at, text.length());
            check(matcher.lookingAt());
            at = matcher.end();
            try {
                return new BigDecimal(matcher.group());
            } catch (NumberFormatException e) {
                throw new Malformed("number");
            }
        }
    }

    static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*+)(\\.[0-9]++)?([eE][+-]?[0-9]++)?");
    static final Map<String, Object> WORDS = words();

    static Map<String, Object> words() {
        Map<String, Object> result = new HashMap<>();
        result.put("true", true);
        result.put("false", false);
        result.put("null", null);
        return result;
    }

    // ---- start

    public static void main(String[] arguments) throws Exception {
        String fault = "none";
        int port = 8080;
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i].equals("--list")) {
                for (String[] row : FAULTS) {
                    System.out.println(String.join("\t", row));
                }
                return;
            } else if (arguments[i].equals("--fault")) {
                fault = arguments[++i];
            } else if (arguments[i].equals("--port")) {
                port = Integer.parseInt(arguments[++i]);
            }
        }
        boolean known = fault.equals("none");
        for (String[] row : FAULTS) {
            known |= row[0].equals(fault);
        }
        String secret = System.getenv("BLIND_SECRET");
        String apiKey = System.getenv("BLIND_API_KEY");
        if (!known || secret == null || secret.isEmpty() || apiKey == null || apiKey.isEmpty()) {
            System.err.println("a known fault, BLIND_SECRET and BLIND_API_KEY are required");
            System.exit(2);
        }
        Receivers receiver = new Receivers(new Settings(fault, secret, apiKey));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 50);
        server.createContext("/", receiver::handle);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
        System.out.println("listening");
    }
}
